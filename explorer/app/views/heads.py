"""Heads: what every head attends to, and what changes without it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from explorer.app import heads_picture, mount, weights_limit
from explorer.app.asked_model import asked_model
from explorer.app.reading_choices import reading_choices
from explorer.app.server import access
from explorer.app.state import address_bar, session, visitor
from explorer.app.state import heads as heads_state
from explorer.app.state import visit as visit_state
from explorer.app.visitor_catalog import open_fetched, visitor_catalog
from explorer.app.widgets import report_tables
from explorer.app.widgets.comparison_section import comparison_section
from explorer.app.widgets.integrity_line import integrity_line
from explorer.app.widgets.measurement_form import why_no_removal
from explorer.app.widgets.measurement_panel import measurement_panel, reports_of
from explorer.app.widgets.messages import (
    literal,
    message_area,
    report,
    show_error,
    show_moved,
    show_refused,
    show_reported,
)
from explorer.app.widgets.search_panel import fires_most, search_panel
from explorer.app.widgets.visit_page import open_model, traced_request, visit_page
from explorer.core.errors import TraceSizeError
from explorer.core.i18n import say
from explorer.core.look import COMPARE, Look
from explorer.core.trace import Trace
from explorer.heads.reports.head_report import HeadReport
from explorer.heads.reports.report_store import StoredReport
from explorer.model.catalog import CatalogMember, CatalogModel


@dataclass(frozen=True, slots=True)
class Section:
    """A section of the page.

    draw: called with the model, the trace of the text, the language and the area of messages.
    simple: whether Simple offers it, too; main.css hides the others.
    whole: whether the browser gets every weight.
    """

    draw: Callable[[CatalogModel, Trace, str, DeltaGenerator], None]
    simple: bool = False
    whole: bool = False


@st.fragment
def heads() -> None:
    """Controls, messages and one section; an action here runs this fragment alone."""
    language = visitor.language()
    offered = visitor_catalog()
    if (gone := visit_state.leave_missing(offered)) is not None:
        report(gone)
    member = offered[visit_state.current().request.model]
    choices = reading_choices(member, language)
    draw_row(offered, choices, language)
    messages = message_area()
    if access.is_class_mode():
        mount.class_bar(language)
    beside_sections = choose_section(language)
    default = visit_state.default_request(offered)
    before = (Look(heads_state.shown_request()), Look(default))
    opened = open_model(member, offered, before, language, messages)
    if reading_choices(member, language) != choices:
        st.rerun()  # the row has them only now; what is to be said once is not said yet
    show_reported(language, messages)
    refused = address_bar.take_refused()
    if (section := address_bar.take_moved()) is not None:
        show_moved(section, language, messages)
    if refused:
        show_refused(refused, language, messages)
    if not opened:
        return
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
        if heads_state.section() == "overview" and member.can_trace:
            with beside_sections:
                fires_most(member, trace, heads_picture.head_on_screen(member, trace), language)
    address_bar.write(heads_state.look(), default, visitor.chosen_language())


def draw_row(
    offered: Mapping[str, CatalogMember], choices: Mapping[str, Any] | None, language: str
) -> None:
    """Draw the row of controls. choices: see `reading_choices`."""
    mount.bar(
        list(offered.values()),
        visit_state.current().request,
        choices,
        language,
        partial(read_request, offered),
        visit_state.last_read(),
    )


def read_request(offered: Mapping[str, CatalogMember], report: Mapping[str, object]) -> None:
    """Ask for what the row of controls reports."""
    open_fetched(report)
    visit_state.read_request(report.get("request"), offered)


def leave_missing(trace: Trace) -> tuple[str, ...]:
    """Remove from the selection what the trace does not have. Returns the names of those fields."""
    selection, missing = visit_state.current().selection.within(trace)
    visit_state.select(selection)
    return missing


def choose_section(language: str) -> DeltaGenerator:
    """Draw the choice of section, and texts about this page and the section. Returns the row."""
    section = heads_state.section()
    about = say(f"heads.about_{section}", language)
    row = st.container(key="sections", horizontal=True, vertical_alignment="center", gap="small")
    with row:
        for group, simple in (("section", True), ("more-section", False)):
            offered = [name for name, one in _SECTIONS.items() if one.simple == simple]
            shown = section if section in offered else None
            _choose_among(group, offered, shown, language)
        with st.popover(say("heads.intro_short", language)):
            st.markdown(literal(say("heads.intro", language)))
            st.markdown(literal(about))
    with st.container(key="section-caption"):
        st.caption(literal(about))
    return row


def _choose_among(name: str, offered: Sequence[str], shown: str | None, language: str) -> None:
    """Draw a choice among sections; none is chosen if `shown` is None."""
    key = session.shown_as(name, language, shown)
    st.segmented_control(
        say("heads.parts", language),
        offered,
        format_func=lambda one: say(f"heads.part_{one}", language),
        key=key,
        required=True,
        on_change=partial(session.read_choice, key, heads_state.show_section),
        label_visibility="collapsed",
    )


def show_section(
    member: CatalogMember, trace: Trace, language: str, messages: DeltaGenerator
) -> None:
    """Draw the current section. If it cannot be shown: the reason, and the grid of all heads."""
    section = _SECTIONS[heads_state.section()]
    if not member.can_trace:
        st.info(say("heads.trace_alone", language))
    elif not section.whole or not _is_too_large(trace, language, messages):
        section.draw(member, trace, language, messages)
        return
    head_grid(member, trace, (), language)


def _is_too_large(trace: Trace, language: str, messages: DeltaGenerator) -> bool:
    """Whether a trace has too many weights to send all of them. If so, a sentence says it."""
    try:
        weights_limit.refuse_large(trace)
    except TraceSizeError as error:
        show_error(error, language, messages)
        return True
    return False


def head_grid(
    member: CatalogMember, trace: Trace, reports: Sequence[StoredReport], language: str
) -> None:
    """Draw the grid of all heads, with the first of the reports."""
    shown = reports[0] if reports else None
    key = heads_picture.picture_key(member, language, report=shown.key if shown else "")
    initial = heads_picture.initial_of(key, member, trace)
    report = shown.report if shown else None
    request = heads_state.shown_request()
    model, visit = asked_model(member, request, trace), visit_state.shared_query(member, request)
    mount.head_grid(key, initial, trace, report, model, heads_state.read_view, visit)


def overview(member: CatalogModel, trace: Trace, language: str, _: DeltaGenerator) -> None:
    """Draw the grid of all heads, with their measurements."""
    head_grid(member, trace, reports_of(member), language)


def findings(
    table: Callable[[HeadReport, str], None],
    member: CatalogModel,
    trace: Trace,
    language: str,
    _: DeltaGenerator,
) -> None:
    """Draw the measurements of the heads, and a `table` of them."""
    reports = reports_of(member)
    measurement_panel(member, reports, language)
    if not reports:
        with st.container(key="no-findings"):
            st.info(say("heads.no_findings", language))
        return
    with st.container(key="head-tables"):
        table(reports[0].report, language)
        integrity_line(trace, language)


def search(member: CatalogModel, trace: Trace, language: str, _: DeltaGenerator) -> None:
    """Draw the search of a corpus for the head on screen, and the grid in which another is
    chosen."""
    picture = search_panel(member, trace, heads_picture.searched_head(member, trace), language)
    with picture:
        head_grid(member, trace, reports_of(member), language)


def removal(member: CatalogModel, trace: Trace, language: str, messages: DeltaGenerator) -> None:
    """Draw the loss of the model without each head, or the reason why it cannot be measured."""

    def table(report: HeadReport, language: str) -> None:
        if not report.facts.get("ablation") and (why := why_no_removal(member, language)):
            st.info(why)
        else:
            report_tables.removal(report, language)

    findings(table, member, trace, language, messages)


_SECTIONS: Mapping[str, Section] = {  # in the order of `SECTIONS`
    "overview": Section(overview, simple=True),
    COMPARE: Section(comparison_section, simple=True, whole=True),
    "metrics": Section(partial(findings, report_tables.metrics)),
    "removal": Section(removal),
    "search": Section(search),
}


if __name__ == "__main__":
    visit_page("heads", heads)
