"""Explore: choose a model and a text, and see every head in the player.

The browser asks the server for each text by itself, see `explore_route`, and reports what is looked
at. A run of this script is for what is around the picture: lesson, class, files and share.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from urllib.parse import parse_qsl

import msgspec
import streamlit as st

from explorer.app import mount
from explorer.app.filled_lesson import whole_lesson
from explorer.app.server import access
from explorer.app.state import address_bar, session, visitor
from explorer.app.state import lesson as lesson_state
from explorer.app.state import visit as visit_state
from explorer.app.visitor_catalog import open_fetched, visitor_catalog, visitor_token
from explorer.app.widgets import files_and_share
from explorer.app.widgets.files_and_share import ShownTrace
from explorer.app.widgets.lesson_card import lesson_card
from explorer.app.widgets.messages import message_area, report, show_refused, show_reported
from explorer.app.widgets.visit_page import open_training_lesson, visit_page
from explorer.core.address_fields import Whole, reported
from explorer.core.i18n import say
from explorer.core.lesson import FoundLessons
from explorer.core.look import Look, to_query
from explorer.model.catalog import CatalogMember


class ReportedLook(msgspec.Struct):
    """What the browser reports as on screen.

    parameters: of the address. followed: number of visits that the browser knew of by then.
    back: whether the visitor went there by Back or Forward.
    """

    parameters: str
    followed: Whole
    back: bool = False


@dataclass(frozen=True, slots=True)
class Shown:
    """look: on screen, as the browser has reported; None before its first report."""

    look: Look | None = None


@st.fragment
def explore() -> None:
    """The picture, and what is around it; an action here runs this fragment alone."""
    open_training_lesson()
    language, offered = visitor.language(), visitor_catalog()
    if (gone := visit_state.leave_missing(offered)) is not None:
        report(gone)
        address_bar.show(visit_state.current())
    lessons = lesson_state.look_up()
    lesson_card(lessons, offered, language)
    messages = message_area()
    if access.is_class_mode():
        mount.class_bar(language)
    show_reported(language, messages)
    if refused := lesson_state.parameters_in(address_bar.take_refused() or ()):
        show_refused(refused, language, messages)  # the browser reports those of the picture
    with st.container(key="tools", horizontal=True, gap="small"):
        files = st.popover(say("explore.files", language), key="files")
        share = st.popover(say("explore.share", language), key=_share_key())
    asked, on_look = address_bar.asked_visit(), partial(take_look, offered)
    mount.explore(list(offered.values()), language, visitor_token(), asked, on_look)
    look = session.load(Shown).look
    member = offered.get(look.request.model) if look else None
    with files:
        shown = ShownTrace(member, look) if look and member else None
        files_and_share.files(shown, _lesson_files(lessons, offered, language), language)
    with share:
        files_and_share.join(language)
        if access.is_class_mode():
            mount.class_tools(language, files_and_share.join_address())
        if look and member:
            files_and_share.link(member, to_query(look) | lesson_state.query(), language)


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


def take_look(offered: Mapping[str, CatalogMember], report: Mapping[str, object]) -> None:
    """Keep what the browser shows, for files, links and the other pages.

    A report made before the browser knew the latest visit is ignored. Back and Forward may lead to
    another card of a lesson, which only the address names.
    """
    if open_fetched(report):
        address_bar.show(visit_state.current())
        return
    shown = reported(report.get("look"), ReportedLook)
    if shown is None or shown.followed != address_bar.times_followed():
        return
    query = dict(parse_qsl(shown.parameters, keep_blank_values=True))
    if shown.back:
        address_bar.follow_back(query, offered)
    else:
        address_bar.keep(query, offered)
    session.save(Shown(visit_state.current()))


if __name__ == "__main__":
    visit_page(address_bar.EXPLORE, explore)
