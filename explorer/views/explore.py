"""Explore: choose a model and a text, and look at every head in the player."""

from collections.abc import Mapping
from dataclasses import replace

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from explorer import classroom, corner, library, session, stage
from explorer.controls import advise, controls
from explorer.errors import ExplorerError
from explorer.language import say
from explorer.library import Entry
from explorer.notice import complain, plain, refuse_parts
from explorer.place import Place, Request, within
from explorer.session import Shown, VisitError
from explorer.shelf import uploads
from explorer.trace import Trace


def page() -> None:
    """The whole page. Only whole runs follow the address bar; see `session`."""
    shelf = {**library.shipped(), **uploads()}
    if not shelf:
        st.info(say("explore.no_models", session.language(), command=plain(library.REMEDY)))
        return
    session.enter("explore")
    session.follow_address(shelf)
    explore()


@st.fragment
def explore() -> None:
    """Controls, messages and the player; what a visitor does here runs this part alone."""
    language = session.language()
    shelf = {**library.shipped(), **uploads()}
    with st.container(key="row", horizontal=True, vertical_alignment="center", gap="small"):
        controls(shelf, language)
        files = st.popover(say("explore.files", language))
        share = st.popover(say("explore.share", language))
    advise(shelf[session.request().model], session.request().text, language)
    notice = st.container(key="notice")
    found = look(shelf, language, notice)
    if found is None:
        return
    request, trace = found
    present(shelf[request.model], request, trace, language, notice)
    if request == session.request():
        with notice:  # where it takes no room
            stage.focus(session.submissions())
    place = Place(request, session.selection())
    with files:
        corner.files(shelf, trace, place, language)
    with share:
        corner.share(shelf, place, language)
    session.write_address(place, shelf)


def look(
    shelf: Mapping[str, Entry], language: str, notice: DeltaGenerator
) -> tuple[Request, Trace] | None:
    """What is asked for and its trace; when that fails, one sentence and the last picture."""
    wanted, last = session.request(), session.last_shown()
    waiting = st.empty()
    if last is None:
        waiting.markdown(say("explore.loading", language, text=plain(wanted.text[:80])))
    for request in _instead(wanted, last.request if last else wanted, session.bare_request(shelf)):
        if request.model not in shelf:
            continue
        try:
            trace = _trace(shelf[request.model], request)
        except ExplorerError as error:
            if request == wanted:
                complain(error, language, notice)
            continue
        waiting.empty()
        if request != wanted:
            session.keep_shown(request)
        return request, trace
    waiting.empty()
    return None


def present(
    entry: Entry, request: Request, trace: Trace, language: str, notice: DeltaGenerator
) -> None:
    """Show a trace where the visitor wants to look, as far as it has that place."""
    opening, missing = within(session.opening(request, language), trace)
    arrived = session.arrival()
    if arrived is not None and (arrived or missing):
        refuse_parts((*arrived, *missing), language, notice)
    session.show(Shown(request, opening, language), arrived is not None, len(trace.target_tokens))
    view = stage.view_of(entry, request, trace, opening)
    occasion = stage.Occasion(entry.stamp, request, language, session.visits())
    stage.mount(occasion, trace, view, session.read_player)


def _instead(wanted: Request, last: Request, bare: Request) -> list[Request]:
    """What to show, best first: what is asked for, the picture on screen if it is of the same
    text, the text without forced tokens, the picture on screen, and the first model's."""
    free = replace(wanted, forced=())
    kept = replace(last, forced=()) == free
    return list(dict.fromkeys((wanted, last, free, bare) if kept else (wanted, free, last, bare)))


def _trace(entry: Entry, request: Request) -> Trace:
    """The trace of a request; a new one costs a visitor of a classroom one turn."""
    last = session.last_shown()
    free = classroom.rights(session.is_host()).unlimited or (last and last.request == request)
    if not free and not session.spend(classroom.TURNS_A_SECOND, classroom.MOST_TURNS):
        raise VisitError("too_many_turns")
    return stage.trace(entry, request)


if __name__ == "__main__":
    page()
