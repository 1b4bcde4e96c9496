"""Heads: what every head attends to, and what changes without it."""

from collections.abc import Callable, Mapping

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from explorer.app import experiment_cache, mount
from explorer.app.mount import PictureKey
from explorer.app.permalink import SECTIONS
from explorer.app.request import NO_INTERVENTIONS
from explorer.app.state import address_bar, session, visitor
from explorer.app.state import heads as heads_state
from explorer.app.state import visit as visit_state
from explorer.app.uploads import visitor_catalog
from explorer.app.widgets import experiment_result, intervention_editor, report_tables
from explorer.app.widgets.input_bar import input_bar
from explorer.app.widgets.measurement_panel import measurement_panel, reports_of
from explorer.app.widgets.messages import (
    literal,
    message_area,
    show_error,
    show_refused,
    show_reported,
)
from explorer.core.errors import ExplorerError
from explorer.core.i18n import say
from explorer.core.interventions import Interventions
from explorer.core.trace import Trace
from explorer.heads.head_report import HeadReport
from explorer.heads.measurement_store import StoredReport
from explorer.heads.trace_comparison import TraceComparison
from explorer.model import catalog
from explorer.model.catalog import Entry

_TABLES: Mapping[str, Callable[[HeadReport, str], None]] = {
    "metrics": report_tables.metrics,
    "roles": report_tables.roles,
    "removal": report_tables.removal,
}
"""The sections that show a head report."""


def page() -> None:
    """The whole page. Only whole runs of the script follow the URL; see `address_bar.follow`."""
    offered = visitor_catalog()
    if not offered:
        remedy = literal(catalog.REMEDY)
        st.info(say("explore.no_models", visitor.language(), command=remedy))
        return
    address_bar.enter("heads")
    address_bar.follow(offered)
    heads()


@st.fragment
def heads() -> None:
    """Controls, messages and one section; an action here runs this fragment alone."""
    language = visitor.language()
    offered = visitor_catalog()
    with st.container(key="input-row", horizontal=True, vertical_alignment="center", gap="small"):
        input_bar(offered, language)
    messages = message_area()
    choose_section(language)
    show_reported(language, messages)
    if refused := address_bar.take_refused():
        show_refused(refused, language, messages)
    entry = offered[visit_state.current().request.model]
    trace = find_trace(entry, language, messages)
    if trace is not None:
        show_section(entry, trace, language, messages)
    default = visit_state.default_request(offered)
    address_bar.write(heads_state.permalink(), default, visitor.chosen_language())


def choose_section(language: str) -> None:
    """The choice of the section, and what this page and the section are about."""
    with st.container(key="sections", horizontal=True, vertical_alignment="center", gap="small"):
        key = session.shown_as("section", language, heads_state.section())
        st.segmented_control(
            say("heads.parts", language),
            SECTIONS,
            format_func=lambda name: say(f"heads.part_{name}", language),
            key=key,
            required=True,
            on_change=lambda: heads_state.show_section(session.widget_value(key) or ""),
            label_visibility="collapsed",
        )
        with st.popover(say("heads.intro_short", language)):
            st.markdown(literal(say("heads.intro", language)))
    with st.container(key="section-caption"):
        st.caption(literal(say(f"heads.about_{heads_state.section()}", language)))


def find_trace(entry: Entry, language: str, messages: DeltaGenerator) -> Trace | None:
    """The trace of the text; when it fails, an error and the last one that did not."""
    wanted = heads_state.requested()
    try:
        if heads_state.is_new(wanted):
            visitor.spend_request()
        trace = experiment_cache.original(entry, wanted)
    except ExplorerError as error:
        show_error(error, language, messages)
        shown = heads_state.shown_request()
        has_last = shown != wanted and shown.model == wanted.model
        return experiment_cache.original(entry, shown) if has_last else None
    heads_state.remember_shown(wanted)
    return trace


def show_section(entry: Entry, trace: Trace, language: str, messages: DeltaGenerator) -> None:
    """The section on screen."""
    section = heads_state.section()
    if entry.trace is not None:
        st.info(say("heads.trace_alone", language))
        overview(entry, trace, None, language)
    elif section == "experiments":
        experiments(entry, trace, language, messages)
    else:
        reports = reports_of(entry)
        shown = reports[0] if reports else None
        if section in _TABLES:
            measurement_panel(entry, reports, language)
            if shown is None:
                st.info(say("heads.no_findings", language))
            else:
                with st.container(key="head-tables"):
                    _TABLES[section](shown.report, language)
        else:
            overview(entry, trace, shown, language, norms=section == "norms")


def overview(
    entry: Entry, trace: Trace, shown: StoredReport | None, language: str, *, norms: bool = False
) -> None:
    """The grid of all heads; with their value norms instead of the weights if `norms`."""
    key = _picture_key(entry, language, report=shown.key if shown else "")
    values = experiment_cache.norms(entry, heads_state.shown_request()) if norms else None
    opening = heads_state.opening((key, "norms" if norms else "weights"))
    report = shown.report if shown else None
    mount.overview(key, opening, trace, report, values, heads_state.read_view)


def experiments(entry: Entry, trace: Trace, language: str, messages: DeltaGenerator) -> None:
    """The interventions, and the text without and with them."""
    intervention_editor.draft_row(entry, trace, language)
    intervention_editor.intervention_list(language)
    interventions = visit_state.current().interventions
    compared = _compare(entry, interventions, language, messages)
    if compared is not None:
        experiment_result.summary(entry, compared, language)
    key = _picture_key(entry, language, interventions)
    opening = heads_state.opening((key, "comparison"))
    shown = compared or TraceComparison(trace, trace, trace)
    mount.comparison(key, opening, shown, heads_state.read_view)
    if compared is not None:
        with st.container(key="head-tables"):
            experiment_result.steps_table(compared, language)


def _compare(
    entry: Entry, interventions: Interventions, language: str, messages: DeltaGenerator
) -> TraceComparison | None:
    """The text with the interventions; None without any, and when the model refuses them."""
    if not interventions:
        return None
    try:
        return experiment_cache.experiment(entry, heads_state.shown_request(), interventions)
    except ExplorerError as error:
        show_error(error, language, messages)
        return None


def _picture_key(
    entry: Entry,
    language: str,
    interventions: Interventions = NO_INTERVENTIONS,
    report: str = "",
) -> PictureKey:
    """The key of a picture; interventions change only the pictures that show them."""
    request, followed = heads_state.shown_request(), address_bar.times_followed()
    return PictureKey(entry.stamp, request, language, followed, interventions, report)


if __name__ == "__main__":
    page()
