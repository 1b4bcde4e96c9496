"""The editor of interventions: the row in which the next one is filled in, the list of those in
force, and the experiment with them."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from explorer.app import experiment_cache
from explorer.app.comparisons import ComparisonError
from explorer.app.state import heads as heads_state
from explorer.app.state import session
from explorer.app.state import visit as visit_state
from explorer.app.widgets import head_tables
from explorer.app.widgets.messages import literal, report, show_error
from explorer.core.address_fields import MOST_INTERVENTIONS
from explorer.core.errors import ExplorerError, InterventionError, MaskError
from explorer.core.i18n import isolated, say
from explorer.core.interventions import (
    Ablation,
    CellEdit,
    Drawing,
    Intervention,
    Interventions,
    Omission,
    OnAttention,
    RowOverride,
    Verb,
)
from explorer.core.look import NO_INTERVENTIONS
from explorer.core.sites import Head
from explorer.core.trace import Trace
from explorer.core.vocabulary import LONGEST_LINKED_TEXT, shown_label
from explorer.heads.comparison.trace_comparison import TraceComparison
from explorer.model.catalog import CatalogModel

_VERBS = tuple(verb for verb in Verb if verb not in (Verb.OMIT, Verb.DRAW))
"""What can be drafted here; parts of the whole model are left out on Explore."""


def computed_experiment(
    model: CatalogModel, language: str, messages: DeltaGenerator
) -> TraceComparison | None:
    """The text without and with the proposed interventions, which are then in force, or else with
    those in force. None if there are none or they cannot be computed.

    `messages` shows why some cannot be computed.
    """
    proposed = heads_state.take_proposed()
    for interventions in filter(None, (proposed, visit_state.current().request.interventions)):
        try:
            compared = experiment_cache.experiment(
                model, heads_state.shown_request(), interventions
            )
        except ExplorerError as error:
            show_error(named_as_here(error, language), language, messages)
        else:
            if interventions is proposed:
                heads_state.keep_head()
                visit_state.set_interventions(interventions)
            return compared
    return None


def typed_line(member: CatalogModel, trace: Trace, language: str) -> None:
    """Draw the field in which changes are typed, as the command line and links write them.

    trace: of the same model.
    """
    site = trace.sites[-1]
    st.text_input(
        say("heads.typed", language),
        key=session.TYPED,
        on_change=partial(_add_typed, member, language),
        placeholder=f"ablate {site}.0.1 mean",
        help=literal(say("heads.typed_title", language, site=site)),
        max_chars=LONGEST_LINKED_TEXT,
        autocomplete="off",
    )


def _add_typed(member: CatalogModel, language: str) -> None:
    """Add the typed changes to those in force and empty the field; if they cannot be read or
    computed, report why, and what was typed stays."""
    typed = str(session.widget_value(session.TYPED) or "")
    if not (lines := [line for line in map(str.strip, typed.split(";")) if line]):
        return
    try:
        in_force = visit_state.current().request.interventions
        both = Interventions.of((*in_force, *Interventions.parse(lines)))
        if len(both) > MOST_INTERVENTIONS:
            raise ComparisonError("too_many_chips", limit=MOST_INTERVENTIONS)
        experiment_cache.experiment(member, heads_state.shown_request(), both)
    except ExplorerError as error:
        report(named_as_here(error, language))
    else:
        visit_state.set_interventions(both)
        session.set_widget(session.TYPED, "")


def draft_row(trace: Trace, language: str) -> None:
    """The fields of the next intervention, and the button that applies it."""
    with st.container(
        key="intervention-draft", horizontal=True, vertical_alignment="bottom", gap="small"
    ):
        verb = _choose_word("verb", _VERBS, language, 140)
        site = _choose_word("site", trace.sites, language, 130, default=trace.sites[-1])
        heads = trace.attention(site).shape[1]
        is_cell = verb in (Verb.MASK, Verb.UNMASK)
        numbers = trace.layer_numbers(site)
        _choose_index("layer", "L", numbers, is_cell, language)
        _choose_index("head", "H", range(heads), verb != Verb.ROW, language)
        if verb == Verb.ABLATE:
            _choose_word("how", ("zero", "mean"), language, 170)
        if is_cell or verb == Verb.ROW:
            _choose_position("query", trace.queries(site), language)
        if is_cell:
            _choose_position("key", trace.keys(site), language)
        if verb == Verb.ROW:
            st.text_input(
                say("heads.weights", language),
                key=session.WEIGHTS,
                placeholder=say("heads.weights_hint", language),
                width=260,
                autocomplete="off",
            )
        st.button(
            say("heads.add", language),
            key="heads-add",
            type="primary",
            on_click=partial(_propose_draft, len(trace.keys(site)), language),
            help=say("heads.cell_hint", language) if is_cell else None,
        )


def intervention_list(trace: Trace, language: str, changed: Head | None = None) -> None:
    """Draw the interventions in force, each a button that undoes it; without any, say how to make
    one.

    changed: head that they change most; a button moves the picture to it. None = no button.
    """
    interventions = visit_state.current().request.interventions
    if not interventions:
        st.caption(say("heads.no_changes", language))
    for one in interventions:
        name = intervention_text(one, trace, language)
        st.button(
            literal(name),
            key=f"undo-{one}",
            icon=":material/close:",
            help=literal(say("player.undo", language, chip=name)),
            on_click=partial(visit_state.set_interventions, interventions.without(one)),
        )
    if len(interventions) > 1:
        st.button(
            say("player.undo_all", language),
            key="undo-all",
            on_click=partial(visit_state.set_interventions, NO_INTERVENTIONS),
        )
    if changed is not None:
        _changed_head_button(changed, trace, language)


def intervention_text(one: Intervention, trace: Trace, language: str) -> str:
    """An intervention as its button names it. trace: of the same model."""
    if isinstance(one, Omission):
        return say(f"player.chip_omit_{one.part}", language)
    if isinstance(one, Drawing):
        shown = say("player.chip_draw", language, temperature=one.temperature, seed=one.seed)
        for name, number in (("k", one.k), ("p", one.p)):
            if number is not None:
                shown = say(
                    "player.chip_draw_top", language, drawing=shown, name=name, number=number
                )
        return shown
    head = _head_text(one, trace, language)
    match one:
        case Ablation():
            return say(f"player.chip_ablate_{one.how}", language, head=head)
        case CellEdit():
            key = "player.chip_open" if one.open else "player.chip_close"
            return say(key, language, head=head, query=one.query + 1, column=one.key + 1)
        case RowOverride():
            return say("player.chip_row", language, head=head, query=one.query + 1)
    return say("player.chip_keep", language, head=head)


def named_as_here(error: ExplorerError, language: str) -> ExplorerError:
    """`error` with its query counted from 1 and its head named as on the page; the library counts
    from 0, and calls a head "cross.1.7"."""
    if not isinstance(error, InterventionError | MaskError):
        return error
    facts = dict(error.facts)
    query = facts.get("query")
    if isinstance(query, int):
        facts["query"] = query + 1
    if error.key == "kept_and_removed":
        site, layer, head = str(facts["head"]).split(".")
        name = f"L{layer}" if head == "*" else f"L{layer} H{head}"
        facts["head"] = f"{head_tables.site_name(site, language)} {name}"
    return type(error)(error.key, **facts)


def _changed_head_button(changed: Head, trace: Trace, language: str) -> None:
    number = trace.layer_numbers(changed.site)[changed.layer]
    name = head_tables.head_name(number, changed.head)
    st.button(
        say(
            "heads.show_changed",
            language,
            head=f"{head_tables.site_name(changed.site, language)} {name}",
        ),
        key="show-changed",
        on_click=partial(heads_state.show_head, changed),
    )


def _propose_draft(keys: int, language: str) -> None:
    """Propose the drafted intervention, or report why it is not valid. keys: number of keys of the
    drafted site."""
    try:
        heads_state.propose(heads_state.with_draft(keys))
    except ExplorerError as error:
        report(named_as_here(error, language))


def _head_text(one: OnAttention, trace: Trace, language: str) -> str:
    site = head_tables.site_name(one.site, language)
    layer = say("player.every_layer", language)
    if one.layer is not None:
        numbers = trace.layer_numbers(one.site) if one.site in trace.sites else ()
        layer = f"L{numbers[one.layer] if one.layer < len(numbers) else one.layer}"
    head = say("player.every_head", language) if one.head is None else f"H{one.head}"
    return f"{site} {layer} {head}"


def _choose_word(
    field: str, options: tuple[str, ...], language: str, width: int, default: str = ""
) -> str:
    """A select of one of several words."""
    section = "glossary.site" if field == "site" else f"heads.{field}"
    index = options.index(default) if default else 0

    def name(option: str) -> str:
        return say(f"{section}_{option}", language)

    return str(_select(field, options, language, width, name, index))


def _choose_index(
    field: str, letter: str, numbers: Sequence[int], offer_all: bool, language: str
) -> None:
    """A select of a layer or a head by its number, or of all of them if `offer_all`."""
    options = (*range(len(numbers)), *([heads_state.ALL] if offer_all else []))
    names = {index: f"{letter}{number}" for index, number in enumerate(numbers)}
    names[heads_state.ALL] = say("heads.all", language)
    _select(field, options, language, 90, names.__getitem__)


def _choose_position(field: str, tokens: tuple[str, ...], language: str) -> None:
    """A select of a query or a key: its position, which counts from 1 on screen, and its token."""
    options = tuple(range(len(tokens)))
    shown = [isolated(shown_label(token)) for token in tokens]
    names = [f"{number} · {token}" for number, token in enumerate(shown, start=1)]
    _select(field, options, language, 130, names.__getitem__)


def _select(
    field: str,
    options: Sequence[Any],
    language: str,
    width: int,
    label_of: Callable[[Any], str],
    default: int = 0,
) -> Any:
    """A select for a field of the draft, which keeps its value while it is not drawn. Choosing
    another head moves the picture to it."""
    if getattr(heads_state.draft(), field) not in options:
        heads_state.fill_in(**{field: options[default]})
    key = session.shown_as(f"heads-{field}", language, getattr(heads_state.draft(), field))

    def take(chosen: Any) -> None:
        if chosen not in options:  # a connection may report any text, and Streamlit keeps it
            return
        heads_state.fill_in(**{field: chosen})
        if field in ("site", "layer", "head"):
            heads_state.show_drafted_head()

    return st.selectbox(
        say(f"heads.{field}", language),
        options,
        format_func=label_of,
        key=key,
        on_change=partial(session.read_choice, key, take),
        width=width,
    )
