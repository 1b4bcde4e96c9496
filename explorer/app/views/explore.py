"""Explore: choose a model and a text, and look at every head in the player."""

from collections.abc import Mapping
from dataclasses import replace

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from explorer.app import model_cache
from explorer.app.permalink import Place, Request, within
from explorer.app.server import access
from explorer.app.state import explore as explore_state
from explorer.app.state.explore import Shown, VisitError
from explorer.app.uploads import uploads
from explorer.app.widgets import files_and_share
from explorer.app.widgets.input_bar import advise, controls
from explorer.app.widgets.messages import complain, plain, refuse_parts
from explorer.core.errors import ExplorerError
from explorer.core.i18n import say
from explorer.core.trace import Trace
from explorer.model import catalog
from explorer.model.catalog import CatalogMember


def page() -> None:
    """The whole page. Only whole runs follow the address bar; see `session`."""
    shelf = {**catalog.shipped_models(), **uploads()}
    if not shelf:
        command = plain(catalog.TRAIN_COMMAND)
        st.info(say("explore.no_models", explore_state.language(), command=command))
        return
    explore_state.enter("explore")
    explore_state.follow_address(shelf)
    explore()


@st.fragment
def explore() -> None:
    """Controls, messages and the player; what a visitor does here runs this part alone."""
    language = explore_state.language()
    shelf = {**catalog.shipped_models(), **uploads()}
    with st.container(key="row", horizontal=True, vertical_alignment="center", gap="small"):
        controls(shelf, language)
        files = st.popover(say("explore.files", language))
        share = st.popover(say("explore.share", language))
    advise(shelf[explore_state.request().model], explore_state.request().text, language)
    notice = st.container(key="notice")
    found = look(shelf, language, notice)
    if found is None:
        return
    request, trace = found
    present(shelf[request.model], request, trace, language, notice)
    if request == explore_state.request():
        with notice:  # where it takes no room
            model_cache.focus(explore_state.submissions())
    place = Place(request, explore_state.selection())
    with files:
        files_and_share.files(shelf, trace, place, language)
    with share:
        files_and_share.share(shelf, place, language)
    explore_state.write_address(place, shelf)


def look(
    shelf: Mapping[str, CatalogMember], language: str, notice: DeltaGenerator
) -> tuple[Request, Trace] | None:
    """What is asked for and its trace; when that fails, one sentence and the last picture."""
    wanted, last = explore_state.request(), explore_state.last_shown()
    waiting = st.empty()
    if last is None:
        waiting.markdown(say("explore.loading", language, text=plain(wanted.text[:80])))
    for request in _instead(
        wanted, last.request if last else wanted, explore_state.bare_request(shelf)
    ):
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
            explore_state.keep_shown(request)
        return request, trace
    waiting.empty()
    return None


def present(
    entry: CatalogMember, request: Request, trace: Trace, language: str, notice: DeltaGenerator
) -> None:
    """Show a trace where the visitor wants to look, as far as it has that place."""
    opening, missing = within(explore_state.opening(request, language), trace)
    arrived = explore_state.arrival()
    if arrived is not None and (arrived or missing):
        refuse_parts((*arrived, *missing), language, notice)
    explore_state.show(
        Shown(request, opening, language), arrived is not None, len(trace.target_tokens)
    )
    view = model_cache.view_of(entry, request, trace, opening)
    occasion = model_cache.Occasion(entry.stamp, request, language, explore_state.visits())
    model_cache.mount(occasion, trace, view, explore_state.read_player)


def _instead(wanted: Request, last: Request, bare: Request) -> list[Request]:
    """What to show, best first: what is asked for, the picture on screen if it is of the same
    text, the text without forced tokens, the picture on screen, and the first model's."""
    free = replace(wanted, forced=())
    kept = replace(last, forced=()) == free
    return list(dict.fromkeys((wanted, last, free, bare) if kept else (wanted, free, last, bare)))


def _trace(entry: CatalogMember, request: Request) -> Trace:
    """The trace of a request; a new one costs a visitor of a classroom one turn."""
    last = explore_state.last_shown()
    free = access.rights(explore_state.is_host()).unlimited or (last and last.request == request)
    if not free and not explore_state.spend(access.TURNS_A_SECOND, access.MOST_TURNS):
        raise VisitError("too_many_turns")
    return model_cache.trace(entry, request)


if __name__ == "__main__":
    page()
