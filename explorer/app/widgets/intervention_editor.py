"""The editor of interventions: the field in which they are typed, and the list of those in
force."""

from functools import partial

import streamlit as st

from explorer.app import experiment_cache
from explorer.app.comparisons import ComparisonError
from explorer.app.state import heads as heads_state
from explorer.app.state import session
from explorer.app.state import visit as visit_state
from explorer.app.widgets import head_tables
from explorer.app.widgets.messages import literal, report
from explorer.core.address_fields import MOST_INTERVENTIONS
from explorer.core.errors import ExplorerError, InterventionError, MaskError
from explorer.core.i18n import say
from explorer.core.interventions import Interventions
from explorer.core.look import NO_INTERVENTIONS
from explorer.core.sites import Head
from explorer.core.trace import Trace
from explorer.core.verbs import Intervention, OnAttention, RowOverride, chip, line
from explorer.core.vocabulary import LONGEST_LINKED_TEXT
from explorer.model.catalog import CatalogModel


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
    typed = str(session.widget_value(session.TYPED) or "").lower()  # phones begin with a capital
    if not (lines := [line for line in map(str.strip, typed.split(";")) if line]):
        return
    try:
        in_force, added = visit_state.current().request.interventions, Interventions.parse(lines)
        both = Interventions.of((*(one for one in in_force if not _replaced(one, added)), *added))
        if len(both) > MOST_INTERVENTIONS:
            raise ComparisonError("too_many_chips", limit=MOST_INTERVENTIONS)
        experiment_cache.experiment(member, heads_state.shown_request(), both)
    except ExplorerError as error:
        report(named_as_here(error, language))
    else:
        visit_state.set_interventions(both)
        session.set_widget(session.TYPED, "")
        if (head := changed_head(added)) is not None:
            heads_state.show_head(head)


def _replaced(one: Intervention, added: Interventions) -> bool:
    """Whether `one` sets the weights of a row that `added` sets, too."""
    return isinstance(one, RowOverride) and any(
        isinstance(other, RowOverride) and other[:-1] == one[:-1] for other in added
    )


def changed_head(interventions: Interventions) -> Head | None:
    """The last head that one of the interventions names alone; None = none does."""
    for one in reversed(tuple(interventions)):
        if isinstance(one, OnAttention) and one.layer is not None and one.head is not None:
            return Head(one.site, one.layer, one.head)
    return None


def intervention_list(trace: Trace, language: str) -> None:
    """Draw the interventions in force, each a button that undoes it; without any, say how to make
    one."""
    interventions = visit_state.current().request.interventions
    if not interventions:
        st.caption(say("heads.no_changes", language))
    for one in interventions:
        name = intervention_text(one, trace, language)
        st.button(
            literal(name),
            key=f"undo-{line(one)}",
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


def intervention_text(one: Intervention, trace: Trace, language: str) -> str:
    """An intervention as its button names it. trace: of the same model."""
    key, facts, more = chip(one)
    if isinstance(one, OnAttention):
        facts["head"] = _head_text(one, trace, language)
    shown = say(f"player.{key}", language, **facts)
    for name, number in more:
        shown = say(f"player.{key}_more", language, chip=shown, name=name, number=number)
    return shown


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


def _head_text(one: OnAttention, trace: Trace, language: str) -> str:
    site = head_tables.site_name(one.site, language)
    layer = say("player.every_layer", language)
    if one.layer is not None:
        numbers = trace.layer_numbers(one.site) if one.site in trace.sites else ()
        layer = f"L{numbers[one.layer] if one.layer < len(numbers) else one.layer}"
    head = say("player.every_head", language) if one.head is None else f"H{one.head}"
    return f"{site} {layer} {head}"
