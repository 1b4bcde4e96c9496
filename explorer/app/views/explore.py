"""Explore: choose a model and a text, and see every head in the player."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from explorer.app import mount
from explorer.app.asked_model import asked_model
from explorer.app.filled_lesson import whole_lesson
from explorer.app.initial_view import initial_selection, initial_view
from explorer.app.mount import PictureKey
from explorer.app.server import access
from explorer.app.state import address_bar, session, visitor
from explorer.app.state import explore as explore_state
from explorer.app.state import lesson as lesson_state
from explorer.app.state import visit as visit_state
from explorer.app.state.explore import ExploreState, Picture, ShownSelection
from explorer.app.visitor_catalog import visitor_catalog
from explorer.app.widgets import files_and_share
from explorer.app.widgets.input_bar import input_bar, reading_choice
from explorer.app.widgets.lesson_card import lesson_card
from explorer.app.widgets.messages import (
    message_area,
    report,
    show_refused,
    show_reported,
)
from explorer.app.widgets.notes import hint
from explorer.app.widgets.visit_page import (
    open_model,
    open_training_lesson,
    traced_request,
    visit_page,
)
from explorer.components.player.payload import View
from explorer.components.trace_questions import AskedModel
from explorer.core.i18n import say
from explorer.core.lesson import FoundLessons
from explorer.core.look import Look, Request, Selection
from explorer.core.trace import Trace
from explorer.model.catalog import CatalogMember

_ADDRESS = "address"  # key of the fragment with the address, for a callback that runs it alone


@st.fragment
def explore() -> None:
    """Controls, messages and the player; an action here runs this fragment alone."""
    open_training_lesson()
    language = visitor.language()
    offered = visitor_catalog()
    if (gone := visit_state.leave_missing(offered)) is not None:
        report(gone)
    with st.container(key="input-row", horizontal=True, vertical_alignment="center", gap="small"):
        place = input_bar(offered, language)
        files = st.popover(say("explore.files", language), key="files")
        share = st.popover(say("explore.share", language), key=_share_key())
    found_lessons = lesson_state.look_up()
    lesson_card(found_lessons, offered, language, draw_address_alone)
    messages = message_area()
    if access.is_class_mode():
        mount.class_bar(language)
    show_reported(language, messages)
    visit, default = visit_state.current(), visit_state.default_request(offered)
    wanted, picture = visit.request, session.load(ExploreState).picture
    member = offered[wanted.model]
    if not open_model(member, offered, visits_before(picture, default), language, messages):
        return
    reading_choice(place, member, wanted.reading, language)
    on_screen = picture.request if picture else wanted
    found = traced_request(member, wanted, on_screen, language, messages)
    if found is None:
        address_bar.write(visit, default, visitor.chosen_language())
        return
    request, trace = found
    if request != wanted:
        explore_state.restore_changes(request)
    model = asked_model(member, request, trace)
    hint(member, request, trace, language)
    initial = show_trace(member, request, trace, model, picture, language, messages)
    if request == visit_state.current().request:
        with messages:  # an element takes height anywhere else
            mount.focus(session.load(ExploreState).submissions)
    with files:
        shown = explore_state.shown_selection()
        view = partial(_page_view, initial, shown)
        lesson = _lesson_files(found_lessons, offered, language)
        files_and_share.files(trace, request.model, view, model, language, lesson)
    with share:
        files_and_share.join(language)
        if access.is_class_mode():
            mount.class_tools(language, files_and_share.join_address())
        explore_state.remember_drawn(offered, language)
        show_address(member, request, default, language)


def _share_key() -> str:
    """A class needs it at first: who leads one becomes the host there."""
    return "share-class" if access.is_class_mode() else "share"


def _lesson_files(
    found: FoundLessons, offered: Mapping[str, CatalogMember], language: str
) -> files_and_share.Offers:
    """The page of the lesson that is followed; nothing without a lesson."""
    name = lesson_state.current().name
    lesson = found.in_language(name, language)
    if lesson is None:
        return {}
    make = partial(whole_lesson, name, lesson, offered, language)
    return {"lesson": (make, f"lesson-{name}.html")}


@st.fragment(key=_ADDRESS)
def show_address(member: CatalogMember, request: Request, default: Request, language: str) -> None:
    """Show the current view in the URL and in the link to share; default: see `address_bar.write`.

    When it is drawn alone, it may have replaced a run of `explore` that another action asked for at
    the same moment. The whole page is then drawn.
    """
    if explore_state.is_outdated(visitor_catalog(), visitor.language()):
        address_bar.keep_visit()
        st.rerun()
    visit = Look(request, visit_state.current().selection)
    explore_state.shown_selection().selection = visit.selection
    query = address_bar.write(visit, default, visitor.chosen_language())
    files_and_share.link(member, query, language)


def visits_before(picture: Picture | None, default: Request) -> list[Look]:
    """Visits to fall back to if a model cannot be opened, best first."""
    shown = [] if picture is None else [picture.request]
    selection = explore_state.shown_selection().selection
    return [*(Look(request, selection) for request in shown), Look(default)]


def read_player(report: dict[str, object]) -> None:
    """Handle a report of the player. After a step alone, only the address is drawn again.

    Many visitors step at a time, and a run of the whole page takes ten times as long. A report of
    an earlier picture has no selection here. It comes from a browser that has not yet drawn the
    current picture; Streamlit dropped the unsent part of that picture for this run.
    """
    explore_state.read_player(report)
    events = (*explore_state.NEW_TRACE, mount.MISSING)
    if report.get("selection") and not any(report.get(event) for event in events):
        draw_address_alone()


def draw_address_alone() -> None:
    """Draw only the address, in a callback, unless the whole page is about to be drawn.

    A pending run of the whole page continues, such as one that Back or Forward asked for.
    """
    if not session.is_whole_run():
        st.rerun(_ADDRESS)


def show_trace(
    member: CatalogMember,
    request: Request,
    trace: Trace,
    model: AskedModel | None,
    before: Picture | None,
    language: str,
    messages: DeltaGenerator,
) -> View:
    """Show a trace in the player, at the current selection as far as the trace has it. Returns the
    initial view.

    model: computes more about the trace; None if there is none.
    before: the picture on screen.
    """
    refused = address_bar.take_refused()
    followed = refused is not None  # a link names the step
    last = None if followed else before
    wanted, missing = explore_state.initial_selection(last, request, language).within(trace)
    if followed:  # what a person does moves the cell with the step
        wanted, elsewhere = wanted.at_cell(trace)
        missing += elsewhere
    whole = explore_state.opens_whole(last, request, language, wanted)
    initial = initial_selection(wanted, member, trace, with_step=whole)
    if refused is not None and (refused or missing):
        show_refused((*refused, *missing), language, messages)
    view = initial_view(member, request, trace, initial, whole)
    opened = replace(initial, ahead=view.ahead)
    kept = opened if whole and not followed else wanted  # a bare URL stays bare
    picture = Picture(request, kept, language, whole)
    explore_state.remember_picture(picture, followed, len(trace.target_tokens))
    key = PictureKey(member.stamp, request, language, address_bar.times_followed())
    visit = visit_state.shared_query(member, request)
    mount.player(key, view, trace, model, read_player, visit)
    return view


def _page_view(initial: View, shown: ShownSelection) -> View:
    """Initial view of an HTML page of the trace on screen. Without a server, it cannot force tokens
    or compute contributions and parts of heads."""
    now = shown.selection
    if now == Selection():
        return replace(initial.without_server(), what_if=False)
    return View.of(
        now.without_server(),
        forced=initial.forced,
        original=initial.original,
        suggested=initial.suggested and now.step == initial.step,
    )


if __name__ == "__main__":
    visit_page("explore", explore)
