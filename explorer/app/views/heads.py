"""Heads: what every head attends to, and what changes without it."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from explorer.app import experiment_cache, heads_picture, mount
from explorer.app.asked_model import asked_model
from explorer.app.mount import Norms
from explorer.app.permalink import COMPARE, SECTIONS
from explorer.app.request import Visit
from explorer.app.state import address_bar, session, visitor
from explorer.app.state import heads as heads_state
from explorer.app.state import visit as visit_state
from explorer.app.state.visitor import RateLimitError
from explorer.app.uploads import visitor_catalog
from explorer.app.widgets import experiment_result, intervention_editor, report_tables
from explorer.app.widgets.alignment_panel import alignment_panel
from explorer.app.widgets.comparison_section import comparison_section
from explorer.app.widgets.input_bar import input_bar
from explorer.app.widgets.integrity_line import integrity_line
from explorer.app.widgets.measurement_form import why_no_removal
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
from explorer.app.widgets.reading_choice import reading_choice
from explorer.app.widgets.traced_request import traced_request
from explorer.app.widgets.visit_page import visit_page
from explorer.core.errors import ConfigError, ExplorerError, TraceSizeError
from explorer.core.i18n import say
from explorer.core.interventions import Interventions
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

# Sections that change what the model computes, or look inside it.
_INSIDE = ("experiments", "norms", "pruning")

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
        place = input_bar(offered, language)
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
    reading_choice(place, member, language)
    found = traced_request(
        member, heads_state.requested(), heads_state.shown_request(), language, messages
    )
    trace = None
    if found is not None:
        shown, trace = found
        heads_state.remember_shown(shown)
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


def show_section(
    member: CatalogMember, trace: Trace, language: str, messages: DeltaGenerator
) -> None:
    """The section on screen."""
    if isinstance(member, UploadedTrace):
        st.info(say("heads.trace_alone", language))
        overview(member, trace, None, language)
        return
    section = heads_state.section()
    if section in _INSIDE and trace.facts.get("weights_only"):
        st.info(say("errors.weights_only", language, family=trace.facts.get("family")))
        overview(member, trace, None, language)
        return
    if section in _WHOLE and _is_too_large(trace, language, messages):
        overview(member, trace, None, language)
        return
    if section == "experiments":
        experiments(member, trace, language, messages)
        return
    if section == COMPARE:
        comparison_section(member, trace, language, messages)
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
                has_removal = section != "removal" or shown.report.facts.get("ablation")
                if has_removal or not (why := why_no_removal(member, language)):
                    _TABLES[section](shown.report, language)
                else:
                    st.info(why)
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
    key = heads_picture.picture_key(member, language, report=shown.key if shown else "")
    opening = heads_picture.opening((key, "norms" if norms else "weights"), member, trace)
    report = shown.report if shown else None
    model = asked_model(member, heads_state.shown_request(), trace)
    mount.head_grid(key, opening, trace, report, norms, model, heads_state.read_view)


def experiments(
    member: CatalogModel, trace: Trace, language: str, messages: DeltaGenerator
) -> None:
    """The interventions, and the text without and with them."""
    editor = st.container(key="intervention-editor")
    interventions = visit_state.current().interventions
    compared = _compare(member, interventions, language, messages)
    key = heads_picture.picture_key(member, language, interventions)
    changed = compared.opening_head() if compared is not None else None
    opening = heads_picture.opening((key, "comparison"), member, trace, changed)
    named = heads_state.opening((key, "comparison")).named_head
    heads_state.draft_head(None if named else opening.named_head)
    with editor:
        intervention_editor.draft_row(member, trace, language)
        offered = None if changed == opening.named_head else changed
        intervention_editor.intervention_list(member, trace, language, offered)
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


if __name__ == "__main__":
    visit_page("heads", heads)
