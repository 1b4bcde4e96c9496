"""Explore: choose a model and a text, and see every head in the player."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from explorer.app import mount
from explorer.app.asked_model import asked_model
from explorer.app.filled_lesson import whole_lesson
from explorer.app.forced_tokens import forced_view
from explorer.app.initial_selection import initial_selection
from explorer.app.lessons import lessons
from explorer.app.mount import PictureKey
from explorer.app.server import access
from explorer.app.state import address_bar, session, visitor
from explorer.app.state import explore as explore_state
from explorer.app.state import lesson as lesson_state
from explorer.app.state import visit as visit_state
from explorer.app.state.explore import ExploreState, Picture, ShownSelection
from explorer.app.uploads import visitor_catalog
from explorer.app.widgets import files_and_share
from explorer.app.widgets.input_bar import hint, input_bar
from explorer.app.widgets.lesson_card import lesson_card
from explorer.app.widgets.messages import (
    message_area,
    show_elsewhere,
    show_refused,
    show_reported,
)
from explorer.app.widgets.model_opening import open_model
from explorer.app.widgets.reading_choice import reading_choice
from explorer.app.widgets.traced_request import traced_request
from explorer.app.widgets.visit_page import visit_page
from explorer.components.player.payload import View
from explorer.core.field_kinds import reported
from explorer.core.i18n import say
from explorer.core.look import Look, Request, Selection
from explorer.core.look_address import to_query
from explorer.core.trace import Trace
from explorer.model.catalog import CatalogMember

_ADDRESS = "address"  # key of the fragment with the address, for a callback that runs it alone


@st.fragment
@visitor.turn()
def explore() -> None:
    """Controls, messages and the player; an action here runs this fragment alone."""
    language = visitor.language()
    offered = visitor_catalog()
    visit_state.leave_missing(offered)
    with st.container(key="input-row", horizontal=True, vertical_alignment="center", gap="small"):
        place = input_bar(offered, language)
        files = st.popover(say("explore.files", language))
        share = st.popover(say("explore.share", language))
    lesson_card(offered, language, draw_address_alone)
    messages = message_area()
    if access.is_class_mode():
        mount.class_bar(language, partial(follow_host, offered))
    show_reported(language, messages)
    if not open_model(offered, visits_before(offered), language, messages):
        return
    reading_choice(place, offered[visit_state.current().request.model], language)
    wanted, picture = visit_state.current().request, session.load(ExploreState).picture
    on_screen = picture.request if picture else wanted
    found = traced_request(offered[wanted.model], wanted, on_screen, language, messages)
    if found is None:
        default = visit_state.default_request(offered)
        address_bar.write(visit_state.current(), default, visitor.chosen_language())
        return
    request, trace = found
    if request != wanted:
        explore_state.restore_forced(request)
    hint(offered[request.model], request, trace, language)
    initial = show_trace(offered[request.model], request, trace, language, messages)
    if request == visit_state.current().request:
        with messages:  # an element takes height anywhere else
            mount.focus(session.load(ExploreState).submissions)
    with files:
        shown = explore_state.shown_selection()
        view = partial(_page_view, initial, shown)
        model = asked_model(offered[request.model], request, trace)
        lesson = _lesson_page(offered, language)
        files_and_share.files(trace, request.model, view, model, language, lesson)
    with share:
        files_and_share.join(language)
        if access.is_class_mode():
            mount.class_tools(language, files_and_share.join_address())
        explore_state.remember_drawn(offered)
        show_address(request, offered, language)
        files_and_share.host_key(language)


def _lesson_page(
    offered: Mapping[str, CatalogMember], language: str
) -> tuple[str, Callable[[], bytes]] | None:
    """Name of the lesson that is followed, and a function that makes its page. None without a
    lesson."""
    name = lesson_state.current().name
    lesson = lessons().in_language(name, language)
    if lesson is None:
        return None
    return name, partial(whole_lesson, name, lesson, offered, language)


@st.fragment(key=_ADDRESS)
@visitor.turn()
def show_address(request: Request, offered: Mapping[str, CatalogMember], language: str) -> None:
    """Show the current view in the URL and in the link to share.

    When it is drawn alone, it may have replaced a run of `explore` that another action asked for at
    the same moment. The whole page is then drawn.
    """
    if explore_state.is_outdated(visitor_catalog()):
        address_bar.keep_visit()
        st.rerun()
    visit = Look(request, visit_state.current().selection)
    explore_state.shown_selection().selection = visit.selection
    files_and_share.link(offered[request.model], visit, language)
    default = visit_state.default_request(offered)
    address_bar.write(visit, default, visitor.chosen_language())


def follow_host(offered: Mapping[str, CatalogMember], report: dict[str, object]) -> None:
    """Show the same as the host of a class, without loading the page again."""
    query = reported(report.get("follow"), dict[str, str])
    if query is not None:
        address_bar.follow_query(query, offered)


def visits_before(offered: Mapping[str, CatalogMember]) -> list[Look]:
    """Visits to fall back to if a model cannot be opened, best first."""
    picture, default = session.load(ExploreState).picture, visit_state.default_request(offered)
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
    member: CatalogMember, request: Request, trace: Trace, language: str, messages: DeltaGenerator
) -> View:
    """Show a trace in the player, at the current selection as far as the trace has it. Returns the
    initial view."""
    wanted, missing = explore_state.initial_selection(request, language).within(trace)
    if address_bar.just_followed():  # what a person does moves the cell with the step
        wanted, elsewhere = wanted.at_cell(trace)
        missing += elsewhere
    whole = explore_state.opens_whole(request, language, wanted)
    initial = initial_selection(wanted, member, trace, with_step=whole)
    refused = address_bar.take_refused()
    if refused is not None and (refused or missing):
        show_refused((*refused, *missing), language, messages)
    if refused is not None and (linked := visit_state.current().interventions):
        show_elsewhere(linked, language, messages)
    followed = refused is not None
    view = _view(member, request, trace, initial, whole)
    opened = replace(initial, ahead=view.ahead)
    kept = opened if whole and not followed else wanted  # a bare URL stays bare
    picture = Picture(request, kept, language, whole)
    explore_state.remember_picture(picture, followed, len(trace.target_tokens))
    key = PictureKey(member.stamp, request, language, address_bar.times_followed())
    visit = shared_query(member, request)
    mount.player(key, view, trace, asked_model(member, request, trace), read_player, visit)
    return view


def shared_query(member: CatalogMember, request: Request) -> Mapping[str, str] | None:
    """Query with which another visitor asks for the trace, or None for an upload."""
    return to_query(Look(request)) if member.can_share else None


def _view(
    member: CatalogMember, request: Request, trace: Trace, initial: Selection, whole: bool
) -> View:
    """Initial view of the player, with the forced tokens and the greedy output.

    whole: whether the rows after the step are shown.
    """
    forced, guessing = forced_view(member, request, trace), bool(initial.guess)
    if whole and guessing:
        initial = replace(initial, step=1)
    last = initial.step == len(trace.target_tokens)
    at_end = last and initial.ahead is None and not guessing
    ahead = True if whole and initial.ahead is None and not at_end else initial.ahead
    return View.of(
        initial,
        step=None if at_end else initial.step,  # the last step opens with the whole pattern
        ahead=None if guessing else ahead,
        what_if=member.can_trace,
        suggested=whole and not at_end and not guessing,
        forced=forced.forced,
        original=forced.original,
    )


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
