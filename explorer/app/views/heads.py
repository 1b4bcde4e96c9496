"""Heads: what every head attends to, and what changes without it."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from explorer.app import (
    compared_models,
    compared_moments,
    compared_texts,
    experiment_cache,
    model_cache,
    mount,
)
from explorer.app.compared_models import ComparedModelError
from explorer.app.compared_moments import ComparedMomentError
from explorer.app.moment_pair import MomentPair
from explorer.app.mount import Norms, PictureKey
from explorer.app.permalink import CHANGES, COMPARE, OTHER_TEXT, SECTIONS
from explorer.app.request import NO_INTERVENTIONS, Selection, Visit
from explorer.app.state import address_bar, session, visitor
from explorer.app.state import heads as heads_state
from explorer.app.state import visit as visit_state
from explorer.app.state.visitor import RateLimitError
from explorer.app.uploads import visitor_catalog
from explorer.app.widgets import (
    comparison_panel,
    experiment_result,
    intervention_editor,
    report_tables,
)
from explorer.app.widgets.alignment_panel import alignment_panel
from explorer.app.widgets.comparison_panel import ComparisonPlaces
from explorer.app.widgets.input_bar import input_bar
from explorer.app.widgets.integrity_line import integrity_line
from explorer.app.widgets.measurement_panel import measurement_panel, reports_of
from explorer.app.widgets.messages import (
    literal,
    message_area,
    show_error,
    show_refused,
    show_reported,
)
from explorer.app.widgets.model_opening import open_model
from explorer.app.widgets.pruning_panel import pruning_panel
from explorer.app.widgets.visit_page import visit_page
from explorer.components.head_views.payload import Sides
from explorer.core.errors import ConfigError, ExplorerError, TraceSizeError
from explorer.core.i18n import say
from explorer.core.interventions import Interventions
from explorer.core.sites import Head
from explorer.core.trace import Trace
from explorer.heads.head_report import HeadReport
from explorer.heads.measurement_store import StoredReport
from explorer.heads.trace_comparison import TraceComparison
from explorer.model.catalog import CatalogMember, CatalogModel, UploadedTrace

_TABLES: Mapping[str, Callable[[HeadReport, str], None]] = {  # sections with a head report
    "metrics": report_tables.metrics,
    "roles": report_tables.roles,
    "removal": report_tables.removal,
}

_WITHIN = {"pruning": "removal"}  # sections that are a part of another in the row of choices

# Sections for which the browser gets every weight.
_WHOLE = ("experiments", COMPARE, "norms")


@st.fragment
@visitor.turn()
def heads() -> None:
    """Controls, messages and one section; an action here runs this fragment alone."""
    language = visitor.language()
    offered = visitor_catalog()
    visit_state.leave_missing(offered)
    with st.container(key="input-row", horizontal=True, vertical_alignment="center", gap="small"):
        input_bar(offered, language)
    messages = message_area()
    choose_section(language)
    show_reported(language, messages)
    refused = address_bar.take_refused()
    if refused:
        show_refused(refused, language, messages)
    member = offered[visit_state.current().request.model]
    default = visit_state.default_request(offered)
    before = (Visit(heads_state.shown_request()), Visit(default))
    if not open_model(offered, before, language, messages):
        return
    trace = find_trace(member, language, messages)
    if refused is not None and trace is not None and (missing := leave_missing(trace)):
        show_refused(missing, language, messages)
    if trace is not None:
        show_section(member, trace, language, messages)
    address_bar.write(heads_state.permalink(), default, visitor.chosen_language())


def leave_missing(trace: Trace) -> tuple[str, ...]:
    """Leave out of the selection what the trace does not have; the names of those fields."""
    selection, missing = visit_state.current().selection.within(trace)
    visit_state.select(selection)
    return missing


def choose_section(language: str) -> None:
    """The choice of the section, and what this page and the section are about."""
    section = heads_state.section()
    about = say(f"heads.about_{section}", language)
    first = _WITHIN.get(section, section)
    parts = tuple(name for name in SECTIONS if _WITHIN.get(name, name) == first)
    with st.container(key="sections", horizontal=True, vertical_alignment="center", gap="small"):
        offered = tuple(name for name in SECTIONS if name not in _WITHIN)
        _choose_among("section", offered, first, "part", language)
        if len(parts) > 1:
            _choose_among(f"section-{first}", parts, section, "within", language)
        with st.popover(say("heads.intro_short", language)):
            st.markdown(literal(say("heads.intro", language)))
            st.markdown(literal(about))
    with st.container(key="section-caption"):
        st.caption(literal(about))


def _choose_among(name: str, offered: Sequence[str], shown: str, words: str, language: str) -> None:
    """A choice among sections; `words` begins the names of their labels."""
    key = session.shown_as(name, language, shown)
    st.segmented_control(
        say("heads.parts", language),
        offered,
        format_func=lambda one: say(f"heads.{words}_{one}", language),
        key=key,
        required=True,
        on_change=partial(session.read_choice, key, heads_state.show_section),
        label_visibility="collapsed",
    )


def find_trace(member: CatalogMember, language: str, messages: DeltaGenerator) -> Trace | None:
    """The trace of the text; when it fails, an error and the last one that did not."""
    wanted = heads_state.requested()
    try:
        trace = experiment_cache.original(member, wanted)
    except ExplorerError as error:
        show_error(error, language, messages)
        shown = heads_state.shown_request()
        if shown != wanted and shown.model == wanted.model:
            with suppress(RateLimitError):
                return experiment_cache.original(member, shown)
        return None
    heads_state.remember_shown(wanted)
    return trace


def show_section(
    member: CatalogMember, trace: Trace, language: str, messages: DeltaGenerator
) -> None:
    """The section on screen."""
    if isinstance(member, UploadedTrace):
        st.info(say("heads.trace_alone", language))
        overview(member, trace, None, language)
        return
    section = heads_state.section()
    if section in _WHOLE and _is_too_large(trace, language, messages):
        overview(member, trace, None, language)
        return
    if section == "experiments":
        experiments(member, trace, language, messages)
        return
    if section == COMPARE:
        compare(member, trace, language, messages)
        return
    if section == "alignment":
        alignment_panel(member, language)
        return
    if section == "pruning":
        pruning_panel(member, language)
        return
    reports = reports_of(member)
    shown = reports[0] if reports else None
    if section == "norms":
        try:
            norms = experiment_cache.norms(member, heads_state.shown_request())
        except RateLimitError as error:
            show_error(error, language, messages)
        except ConfigError as error:
            show_error(error, language, messages)
            overview(member, trace, shown, language)
        else:
            overview(member, trace, shown, language, norms)
    elif section in _TABLES:
        measurement_panel(member, reports, language)
        if shown is None:
            st.info(say("heads.no_findings", language))
        else:
            with st.container(key="head-tables"):
                _TABLES[section](shown.report, language)
                integrity_line(trace, language)
    else:
        overview(member, trace, shown, language)


def _is_too_large(trace: Trace, language: str, messages: DeltaGenerator) -> bool:
    """Whether a trace has too many weights to send all of them; then a sentence says so."""
    try:
        experiment_cache.refuse_large(trace)
    except TraceSizeError as error:
        show_error(error, language, messages)
        return True
    return False


def overview(
    member: CatalogMember,
    trace: Trace,
    shown: StoredReport | None,
    language: str,
    norms: Norms | None = None,
) -> None:
    """The grid of all heads; with `norms`, those instead of the weights."""
    key = _picture_key(member, language, report=shown.key if shown else "")
    opening = _opening((key, "norms" if norms else "weights"), member, trace)
    report = shown.report if shown else None
    capture = model_cache.layer_capture(member, heads_state.shown_request(), trace)
    mount.head_grid(key, opening, trace, report, norms, capture, heads_state.read_view)


def experiments(
    member: CatalogModel, trace: Trace, language: str, messages: DeltaGenerator
) -> None:
    """The interventions, and the text without and with them."""
    editor = st.container(key="intervention-editor")
    interventions = visit_state.current().interventions
    compared = _compare(member, interventions, language, messages)
    key = _picture_key(member, language, interventions)
    changed = compared.opening_head() if compared is not None else None
    opening = _opening((key, "comparison"), member, trace, changed)
    named = heads_state.opening((key, "comparison")).named_head
    heads_state.draft_head(None if named else opening.named_head)
    with editor:
        intervention_editor.draft_row(member, trace, language)
        intervention_editor.intervention_list(trace, language)
    if compared is not None:
        experiment_result.summary(member, compared, language)
    shown = compared or TraceComparison(trace, trace, trace)
    mount.comparison(key, opening, shown, heads_state.read_view)
    if compared is not None and compared.has_output:
        with st.container(key="steps-table"):
            experiment_result.steps_table(compared, language)


def _compare(
    member: CatalogModel, interventions: Interventions, language: str, messages: DeltaGenerator
) -> TraceComparison | None:
    """The text with the interventions; None without any, and when the model refuses them."""
    if not interventions:
        return None
    try:
        return experiment_cache.experiment(member, heads_state.shown_request(), interventions)
    except ExplorerError as error:
        show_error(intervention_editor.counted_from_1(error), language, messages)
        return None


def compare(member: CatalogModel, trace: Trace, language: str, messages: DeltaGenerator) -> None:
    """The text in two models, or two texts, or what else is chosen, and their heads matched."""
    request, wanted = heads_state.shown_request(), heads_state.compared()
    offered = compared_models.comparable(member, visitor_catalog(), request.text, wanted)
    runs = compared_moments.runs()
    own = (OTHER_TEXT, CHANGES)
    nothing_changed = wanted == CHANGES and not visit_state.current().interventions
    if (pair := MomentPair.parse(wanted)) and wanted not in offered:
        places = comparison_panel.choose(offered, runs, own, pair.run, language)
        compare_moments(pair, language, places, messages)
        return
    if wanted and (nothing_changed or wanted not in (*offered, *own)):
        facts = {"name": wanted, "shown": member.label}
        key = "no_changes" if nothing_changed else "not_comparable"
        show_error(ComparedModelError(key, **facts), language, messages)
        wanted = ""
    shown = wanted or next(iter(offered), OTHER_TEXT)
    heads_state.remember_compared(shown)
    places = comparison_panel.choose(offered, runs, own, shown, language)
    try:
        if shown == OTHER_TEXT:
            compare_texts(member, trace, language, places)
        elif shown == CHANGES:
            compare_changes(member, trace, language, places)
        else:
            compare_models(member, offered[shown], trace, language, places)
    except ExplorerError as error:
        show_error(error, language, places.area)


def compare_models(
    member: CatalogModel,
    other: CatalogModel,
    trace: Trace,
    language: str,
    places: ComparisonPlaces,
) -> None:
    """The text in two models. Raises `ExplorerError`."""
    compared = compared_models.comparison(member, other, heads_state.shown_request())
    experiment_cache.refuse_large(compared.forced)
    names = (member.label, other.label)
    places.summarise(comparison_panel.models_summary(compared, names, language))
    sides = Sides(names, say("heads.models_given", language, a=names[0], b=names[1]))
    key = _picture_key(member, language, other=other.stamp)
    _show_compared(key, (member, trace), sides, compared, places)


def compare_texts(
    member: CatalogModel, trace: Trace, language: str, places: ComparisonPlaces
) -> None:
    """The text above and another one, position by position. Raises `ExplorerError`."""
    request = heads_state.shown_request()
    text = heads_state.other_text() or compared_texts.opening_text(member, request.text)
    heads_state.remember_other_text(text, member.name)
    with places.area:
        comparison_panel.type_text(text, language)
    compared = compared_texts.comparison(member, request, text)
    experiment_cache.refuse_large(compared.forced)
    other = experiment_cache.original(member, replace(request, text=text))
    places.summarise(comparison_panel.texts_summary(compared, (trace, other), language))
    names = comparison_panel.text_names(request.text, text)
    sides = Sides(names, rule="same", about=say("heads.figure_texts", language))
    key = _picture_key(member, language, other=f"{OTHER_TEXT} {text}")
    _show_compared(key, (member, compared.original), sides, compared, places)


def compare_changes(
    member: CatalogModel, trace: Trace, language: str, places: ComparisonPlaces
) -> None:
    """The text without and with the interventions. Raises `ExplorerError`."""
    interventions = visit_state.current().interventions
    try:
        compared = experiment_cache.experiment(member, heads_state.shown_request(), interventions)
    except ExplorerError as error:
        raise intervention_editor.counted_from_1(error) from error
    experiment_cache.refuse_large(compared.forced)
    with places.area:
        intervention_editor.intervention_list(trace, language)
    places.summarise(comparison_panel.changes_summary(compared, language))
    names, given = comparison_panel.change_names(language), say("heads.changes_given", language)
    sides = Sides(names, given, rule="same")
    key = _picture_key(member, language, interventions, other=CHANGES)
    _show_compared(key, (member, trace), sides, compared, places)


def compare_moments(
    pair: MomentPair,
    language: str,
    places: ComparisonPlaces,
    messages: DeltaGenerator,
) -> None:
    """Two moments of a run on its probe, whatever model and text are chosen above."""
    try:
        run = compared_moments.run_of(pair)
        steps = compared_moments.steps_of(run)
        if missing := {pair.first, pair.second} - set(steps):
            pair = compared_moments.opening_pair(pair.run, steps)
            heads_state.compare_with(str(pair))
            facts = {"step": min(missing), "name": run.name}
            show_error(ComparedMomentError("no_moment", **facts), language, messages)
        compared = compared_moments.comparison(pair)
        experiment_cache.refuse_large(compared.forced)
    except ExplorerError as error:
        show_error(error, language, messages)
        return
    with places.area:
        comparison_panel.choose_moments(pair, steps, language)
    places.summarise(comparison_panel.moments_summary(compared, run, pair, language))
    stamp = compared_moments.stamp(pair)
    probe = UploadedTrace(pair.run, stamp, compared.original)
    key = _picture_key(probe, language, other=stamp)
    about = say("heads.figure_moments", language, name=run.name)
    sides = Sides(comparison_panel.moment_names(pair, language), about=about)
    _show_compared(key, (probe, probe.trace), sides, compared, places)


def _show_compared(
    key: PictureKey,
    first: tuple[CatalogMember, Trace],
    sides: Sides,
    compared: TraceComparison,
    places: ComparisonPlaces,
) -> None:
    """The maps of both, how alike their heads are, and the table of those that are matched.

    first: what the head to open with is chosen by. places: where a sentence says why.
    """
    opening, attention = _opening((key, COMPARE), *first), compared.attention
    wanted, _ = heads_state.opening((key, COMPARE)).within(first[1])
    chosen = experiment_cache.chosen_head(wanted, *first)
    with places.words:
        comparison_panel.opening_summary(chosen, attention, sides, key.language)
    mount.model_comparison(key, opening, sides, compared, heads_state.read_view)
    with st.container(key="matched-heads-table"):
        comparison_panel.matched_table(attention.matched(), sides.names, key.language)


def _opening(
    picture: object, member: CatalogMember, trace: Trace, changed: Head | None = None
) -> Selection:
    """Where a picture opens: as Explore does; an experiment rather on the head it changes."""
    opened, _ = heads_state.opening(picture).or_head(changed).within(trace)
    with_step = opened.step is None
    return experiment_cache.opening_selection(opened, member, trace, with_step=with_step)


def _picture_key(
    member: CatalogMember,
    language: str,
    interventions: Interventions = NO_INTERVENTIONS,
    report: str = "",
    other: str = "",
) -> PictureKey:
    """The key of a picture; interventions, report and the other model change only the pictures
    that show them."""
    request = heads_state.shown_request()
    moved = address_bar.times_followed() + heads_state.times_moved()
    return PictureKey(member.stamp, request, language, moved, interventions, report, other)


if __name__ == "__main__":
    visit_page("heads", heads)
