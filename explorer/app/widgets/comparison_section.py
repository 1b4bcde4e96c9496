"""Comparison of two models, two texts, two moments of a training, or a text with and without
interventions, with their heads matched."""

from dataclasses import replace

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from explorer.app import (
    comparisons,
    experiment_cache,
    heads_picture,
    model_cache,
    mount,
    weights_limit,
)
from explorer.app.comparisons import ComparisonError
from explorer.app.initial_view import chosen_head
from explorer.app.mount import PictureKey
from explorer.app.state import heads as heads_state
from explorer.app.state import visit as visit_state
from explorer.app.visitor_catalog import visitor_catalog
from explorer.app.widgets import (
    comparison_panel,
    intervention_editor,
    patched_texts,
    token_replacement,
)
from explorer.app.widgets.comparison_panel import ComparisonPlaces
from explorer.app.widgets.messages import literal, show_error, show_refused
from explorer.components.head_views.payload import Sides
from explorer.core.errors import ExplorerError
from explorer.core.i18n import say
from explorer.core.interventions import Interventions, refuse_weights_only
from explorer.core.look import CHANGES, COMPARE, NO_INTERVENTIONS, OTHER_TEXT, MomentPair
from explorer.core.trace import Trace
from explorer.heads.comparison.trace_comparison import TraceComparison
from explorer.heads.patching.patching_result import PatchedTexts
from explorer.model.catalog import CatalogMember, CatalogModel, OwnModel, UploadedTrace


def comparison_section(
    member: CatalogModel, trace: Trace, language: str, messages: DeltaGenerator
) -> None:
    """Draw the comparison with the chosen second side, and the matched heads."""
    request, wanted = heads_state.shown_request(), heads_state.compared()
    offered = comparisons.comparable(member, visitor_catalog(), request.text, wanted)
    runs = comparisons.runs_with_moments()
    same_model = (OTHER_TEXT, CHANGES)
    if (pair := MomentPair.parse(wanted)) and wanted not in offered:
        places = comparison_panel.choose(offered, runs, same_model, pair.run, language)
        _compare_moments(pair, language, places, messages)
        return
    if wanted and wanted not in (*offered, *same_model):
        facts = {"name": wanted, "shown": member.label}
        show_error(ComparisonError("not_comparable", **facts), language, messages)
        wanted = ""
    if not wanted and visit_state.current().request.interventions:
        wanted = CHANGES
    shown = wanted or OTHER_TEXT
    heads_state.remember_compared(shown)
    places = comparison_panel.choose(offered, runs, same_model, shown, language)
    try:
        if shown == OTHER_TEXT:
            _compare_texts(member, trace, language, places)
        elif shown == CHANGES:
            _compare_changes(member, trace, language, places)
        else:
            _compare_models(member, offered[shown], trace, language, places)
    except ExplorerError as error:
        show_error(error, language, places.area)


def _compare_models(
    member: CatalogModel,
    other: OwnModel,
    trace: Trace,
    language: str,
    places: ComparisonPlaces,
) -> None:
    """The text in two models. Raises `ExplorerError`."""
    compared = comparisons.of_models(member, other, heads_state.shown_request())
    weights_limit.refuse_large(compared.forced)
    names = (member.label, other.label)
    places.summarise(
        comparison_panel.models_summary(compared, names, language),
        comparison_panel.models_numbers(compared, names, language),
    )
    sides = Sides(names, say("heads.models_given", language, a=names[0], b=names[1]))
    key = heads_picture.picture_key(member, language, other=other.stamp)
    _show_compared(key, (member, trace), sides, compared, places)


def _compare_texts(
    member: CatalogModel, trace: Trace, language: str, places: ComparisonPlaces
) -> None:
    """The text above and another one, position by position. Raises `ExplorerError`."""
    request = heads_state.shown_request()
    text = heads_state.other_text() or comparisons.initial_text(member, request.text)
    heads_state.remember_other_text(text, member.name)
    with places.area, st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        comparison_panel.type_text(text, language)
        token_replacement.replace_token(member, trace, request.text, language)
    compared = comparisons.of_texts(member, request, text)
    weights_limit.refuse_large(compared.forced)
    other = model_cache.greedy_trace(member, replace(request, text=text))
    places.summarise(comparison_panel.texts_summary(compared, (trace, other), language))
    names = comparison_panel.text_names(request.text, text)
    about = say("heads.figure_texts", language)
    said = (trace.predicted_tokens, other.predicted_tokens)
    sides = Sides(names, rule="same", about=about, outputs=said)
    with places.below:
        patched_texts.choose_patched(language)
    patched = patched_texts.patched(member, request, text, language)
    sites = patched.found.sites if patched else ""
    key = heads_picture.picture_key(member, language, other=f"{OTHER_TEXT} {text} {sites}")
    _show_compared(key, (member, compared.original), sides, compared, places, patched)


def _compare_changes(
    member: CatalogModel, trace: Trace, language: str, places: ComparisonPlaces
) -> None:
    """The text without and with the interventions, which are typed and undone here. Where there are
    none, or none that can be computed, the text beside itself. Raises `InterventionError` where
    nothing can be changed."""
    refuse_weights_only(trace.facts)
    with places.area:
        intervention_editor.typed_line(member, trace, language)
    interventions, compared = _changed(member, trace, language, places)
    changed = intervention_editor.changed_head(interventions)
    visit_state.select(visit_state.current().selection.or_head(changed))
    if interventions:
        summary = comparison_panel.changes_summary(member, interventions, compared, language)
        with st.container(key="changes-summary"):
            st.markdown(literal(summary))
            numbers = comparison_panel.changes_numbers(compared, language)
            comparison_panel.draw_numbers(numbers, "changes")
    with st.container(key="interventions", horizontal=True, gap="small"):
        intervention_editor.intervention_list(trace, language)
        asked = interventions.on_heads and st.button(
            say("heads.effect_ask", language), key="effect"
        )
    if asked:
        with st.container(key="effect-answer"):
            comparison_panel.effect(member, interventions, language)
    names, given = comparison_panel.change_names(language), say("heads.changes_given", language)
    sides = Sides(names, given, rule="same")
    key = heads_picture.picture_key(member, language, interventions, other=CHANGES)
    _show_compared(key, (member, trace), sides, compared, places)


def _changed(
    member: CatalogModel, trace: Trace, language: str, places: ComparisonPlaces
) -> tuple[Interventions, TraceComparison]:
    """The interventions in force and their effect; none if they cannot be computed, with the
    reason."""
    interventions = visit_state.current().request.interventions
    if interventions:
        try:
            request = heads_state.shown_request()
            return interventions, experiment_cache.experiment(member, request, interventions)
        except ExplorerError as error:
            named = intervention_editor.named_as_here(error, language)
            show_error(named, language, places.area)
    return NO_INTERVENTIONS, TraceComparison(trace, trace, trace)


def _compare_moments(
    pair: MomentPair,
    language: str,
    places: ComparisonPlaces,
    messages: DeltaGenerator,
) -> None:
    """Two moments of a run on its probe, whatever model and text are chosen above."""
    try:
        run = comparisons.run_of(pair)
        steps = comparisons.steps_of(run)
        if missing := {pair.first, pair.second} - set(steps):
            pair = comparisons.initial_pair(pair.run, steps)
            heads_state.compare_with(str(pair))
            facts = {"step": min(missing), "name": run.name}
            show_error(ComparisonError("no_moment", **facts), language, messages)
        compared = comparisons.of_moments(pair)
        weights_limit.refuse_large(compared.forced)
    except ExplorerError as error:
        show_error(error, language, messages)
        return
    with places.area:
        comparison_panel.choose_moments(pair, steps, language)
    places.summarise(comparison_panel.moments_summary(compared, run, pair, language))
    stamp = comparisons.pair_stamp(pair)
    probe = UploadedTrace(pair.run, stamp, compared.original)
    key = heads_picture.picture_key(probe, language, other=stamp)
    about = say("heads.figure_moments", language, name=run.name)
    sides = Sides(comparison_panel.moment_names(pair, language), about=about)
    _show_compared(key, (probe, probe.trace), sides, compared, places)


def _show_compared(
    key: PictureKey,
    first: tuple[CatalogMember, Trace],
    sides: Sides,
    compared: TraceComparison,
    places: ComparisonPlaces,
    patched: PatchedTexts | None = None,
) -> None:
    """Draw the maps of both sides, the similarity of their heads, and the table of matched heads.

    first: model and trace by which the initial head is chosen. places: for the sentence that
        explains the choice. patched: what was patched of two texts.
    """
    if _leave_missing(compared):
        with places.area:
            show_refused(("other",), key.language)
    initial, attention = heads_picture.initial_of((key, COMPARE), *first), compared.attention
    wanted, _ = heads_state.initial_selection((key, COMPARE)).within(first[1])
    chosen = chosen_head(wanted, *first)
    with places.words:
        comparison_panel.initial_summary(chosen, attention, sides, key.language)
    mount.model_comparison(key, initial, sides, compared, heads_state.read_view, patched)
    with st.container(key="matched-heads-table"):
        comparison_panel.matched_table(attention.matched(), sides.names, key.language)


def _leave_missing(compared: TraceComparison) -> bool:
    """Remove a second head from the selection if the second side lacks it. Returns whether it
    did."""
    selection, second = visit_state.current().selection, compared.forced
    site = selection.site or compared.original.sites[-1]
    if selection.other is None or site not in second.sites:
        return False
    layers, heads = second.attention(site).shape[:2]
    if selection.other[0] < layers and selection.other[1] < heads:
        return False
    visit_state.select(replace(selection, other=None))
    return True
