"""The only module that reads and writes the URL in the address bar. The browser writes moment and
head of a replay, see `training_replay/js/address.ts`.

A query that this session did not write came from a link, a reload or the Back button, and is
followed.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import urlencode

import streamlit as st

from explorer.app.server import fetch_route, page_changes
from explorer.app.state import heads as heads_state
from explorer.app.state import lesson as lesson_state
from explorer.app.state import session
from explorer.app.state import visit as visit_state
from explorer.core.i18n import LANGUAGES
from explorer.core.look import MOVED_SECTIONS, Look, Request, from_query, to_query
from explorer.model.catalog import CatalogMember

EXPLORE = "explore"
"""The page whose visit the browser writes into the URL. A query set by the server would be sent
with the next actions in its place."""

_LANGUAGE = "lang"
_RUN = "run"
_COMPARED = "compare"
_WRITTEN_BY_BROWSER = ("moment", "head")
"""Parameters of the Train page that its replay writes in the browser, without the server."""


@dataclass(frozen=True, slots=True)
class Destination:
    """A page that the visitor was sent to, and its query, until that page is drawn."""

    page: Path
    query: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class AskedVisit:
    """A visit that the browser is asked to show on Explore. It stays while the browser goes on by
    itself.

    followed: number of queries followed by then. visit, lesson: parameters, of the look and of the
        card of a lesson.
    """

    followed: int
    visit: str
    lesson: str


@dataclass(frozen=True, slots=True)
class AddressState:
    """query: last query this session wrote or followed, without the language; None before.
    seen: query of the URL in the last whole run; None = none on this page yet. Streamlit sends it
        again after the browser has written another one.
    asked: what Explore was asked to show last; None = nothing yet since the visitor came there.
    page: the page on screen.
    times_followed: number of queries followed.
    refused: refused parameters of the last followed query; None once reported.
    moved: section of an earlier version that it named; None = none, or once reported.
    destination: None unless the visitor is on the way to another page.
    """

    query: Mapping[str, str] | None = None
    seen: Mapping[str, str] | None = None
    asked: AskedVisit | None = None
    page: str = ""
    times_followed: int = 0
    refused: tuple[str, ...] | None = None
    moved: str | None = None
    destination: Destination | None = None


def enter(page: str) -> bool:
    """Note the page on screen. Returns whether another page was on screen before; a URL without a
    query then keeps the visit.

    A page that the visitor has just left may be drawn once more with the URL of the next page. It
    must not write that URL, so it goes to the next page again, which ends the run of the script.
    """
    _go_on(page)
    anew = session.load(AddressState).page not in ("", page)
    if anew:
        leave_visit()
        session.save(replace(session.load(AddressState), seen=None, asked=None))
    session.save(replace(session.load(AddressState), page=page))
    return anew


def _go_on(page: str) -> None:
    """Go on to the page that the visitor was sent to, if `page` is another one."""
    state = session.load(AddressState)
    if state.destination is None:
        return
    on_the_way = state.destination
    session.save(replace(state, destination=None))
    if on_the_way.page.stem != page and dict(on_the_way.query) == _query_in_url():
        open_query(on_the_way.page, on_the_way.query)


def leave_visit() -> None:
    """Note that the URL does not show the visit: a URL without a query keeps it."""
    session.save(replace(session.load(AddressState), query={}))


def expect_link() -> None:
    """Let the next whole run follow the URL, even if a run before has seen the same one."""
    session.save(replace(session.load(AddressState), seen=None))


def follow(catalog: Mapping[str, CatalogMember]) -> None:
    """Start the visit in the URL, unless it shows the visit already.

    Call it in whole runs only: a run of a fragment may see an older URL than the last one written.
    """
    query, known = _query_in_url(), session.load(AddressState)
    session.save(replace(known, seen=query))
    old = query == known.query or (known.page == EXPLORE and query == known.seen)
    if old and session.find(Look) is not None:
        return
    _follow(query, catalog)
    if known.query is not None and known.page != EXPLORE:
        # Back: a query that was on its way then may have taken its place
        st.query_params.from_dict(st.query_params.to_dict())


def follow_back(query: Mapping[str, str], catalog: Mapping[str, CatalogMember]) -> None:
    """Start the visit of Explore that Back or Forward led the browser to."""
    _follow(_without_language(query), catalog)


def _follow(query: Mapping[str, str], catalog: Mapping[str, CatalogMember]) -> None:
    linked, unknown = lesson_state.follow(query)
    look, refused = from_query(linked, _initial_requests(catalog))
    heads_state.show_section(look.section)
    heads_state.remember_compared(look.compared)
    if look.other_text:
        heads_state.remember_other_text(look.other_text, look.request.model)
    heads_state.ask_word(look.section, look.ask)
    state, part = session.load(AddressState), linked.get("part")
    session.save(replace(state, query=query, moved=part if part in MOVED_SECTIONS else None))
    model = linked.get("model", "")
    waits = model in {one.name for one in fetch_route.to_fetch()}
    named = (f"unfetched {model}" if waits and one == "model" else one for one in refused)
    show(look, (*unknown, *named, *refused_language()))


def keep(query: Mapping[str, str], catalog: Mapping[str, CatalogMember]) -> None:
    """Note the visit that Explore has written into the URL by itself."""
    query = _without_language(query)
    look, _ = from_query(lesson_state.without_link(query), _initial_requests(catalog))
    session.save(look)
    session.save(replace(session.load(AddressState), query=query))


def _initial_requests(catalog: Mapping[str, CatalogMember]) -> dict[str, Request]:
    return {name: visit_state.initial_request(member) for name, member in catalog.items()}


def _without_language(query: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in query.items() if name != _LANGUAGE}


def _query_in_url() -> dict[str, str]:
    """The query without the language."""
    return _without_language(st.query_params.to_dict())


def show(look: Look, refused: tuple[str, ...] = ()) -> None:
    """Start `look`, as following a query does. Its section stays with `state/heads.py`."""
    state = session.load(AddressState)
    session.save(replace(look, section="", compared="", other_text="", ask=""))
    session.save(replace(state, times_followed=state.times_followed + 1, refused=refused))


def asked_visit() -> AskedVisit:
    """What the browser is to show on Explore: the visit as it was when a query was followed, or
    when the visitor came to the page."""
    state = session.load(AddressState)
    if state.asked is None or state.asked.followed != state.times_followed:
        visit, lesson = to_query(visit_state.current()), lesson_state.query()
        asked = AskedVisit(state.times_followed, urlencode(visit), urlencode(lesson))
        state = replace(state, asked=asked)
        session.save(state)
    assert state.asked is not None
    return state.asked


def times_followed() -> int:
    """Number of queries followed; see `mount.PictureKey`."""
    return session.load(AddressState).times_followed


def take_refused() -> tuple[str, ...] | None:
    """Refused parameters of the followed query; None once they were taken."""
    state = session.load(AddressState)
    session.save(replace(state, refused=None))
    return state.refused


def take_moved() -> str | None:
    """The section of an earlier version that the followed query named; None once it was taken."""
    state = session.load(AddressState)
    session.save(replace(state, moved=None))
    return state.moved


def write(look: Look, default: Request, language: str) -> dict[str, str]:
    """Show `look` in the URL. Returns its whole query, as `link` needs it.

    default: the request of a URL without a query, which stays without one.
    language: the one the visitor chose; "" = none.
    """
    state, lesson = session.load(AddressState), lesson_state.query()
    whole = to_query(look) | lesson
    query = lesson if not state.query and look == Look(default) else whole
    session.save(replace(state, query=query))
    if language:
        query = query | {_LANGUAGE: language}
    if query != st.query_params.to_dict():
        st.query_params.from_dict(query)
    return whole


def link(query: Mapping[str, str], language: str) -> str:
    """The URL that opens a query for another person, in `language`: a class talks about the words
    on the screen of the person who shared it. Each person may choose another language."""
    return f"{app_address()}?{urlencode({**query, _LANGUAGE: language})}"


def relative_link(look: Look) -> str:
    """Relative address of Explore with `look`, for links on other pages."""
    return f"./?{urlencode(to_query(look))}"


def app_address() -> str:
    """The app's URL without a query, as this visitor reached it."""
    return (st.context.url or "").split("?")[0].rstrip("/") + "/"


def linked_language() -> str | None:
    """The language that the URL names."""
    return st.query_params.get(_LANGUAGE)


def refused_language() -> tuple[str, ...]:
    """The language parameter, if the URL names an unknown language."""
    return (_LANGUAGE,) if linked_language() not in (None, *LANGUAGES) else ()


def linked_replay() -> dict[str, str]:
    """Parameters in the Train page's URL: a run, those compared with it, a moment and a head."""
    names = (_RUN, _COMPARED, *_WRITTEN_BY_BROWSER)
    return {name: st.query_params[name] for name in names if name in st.query_params}


def linked_run() -> str | None:
    """The run that the URL of the Train page names."""
    return st.query_params.get(_RUN)


def write_run(key: str | None) -> None:
    """Write only a run into the URL of the Train page; None = none."""
    query = st.query_params.to_dict()
    for name in (_RUN, _COMPARED, *_WRITTEN_BY_BROWSER):
        query.pop(name, None)
    st.query_params.from_dict(query if key is None else query | {_RUN: key})


def follow_in_train() -> tuple[str, ...]:
    """Follow the lesson in the URL of the Train page. Returns the parameters that were refused.

    Without one in the URL, a lesson of Explore is kept until the visitor goes back there.
    """
    query = _query_in_url()
    named = lesson_state.linked(query)
    if named is None:
        lesson_state.leave_train()
    if named is None or (_RUN in query and named == lesson_state.query()):
        return ()
    completed, refused = lesson_state.follow(query)
    write_training_card(completed.get(_RUN))
    return refused


def names_lesson() -> bool:
    """Whether the URL names a lesson."""
    return lesson_state.linked(_query_in_url()) is not None


def write_training_card(run: str | None = None) -> None:
    """Write the lesson that is followed into the URL of the Train page. The browser knows moment
    and head of its card.

    run: to show, of a card that the browser has not; None = the one on screen.
    """
    query = lesson_state.without_link(st.query_params.to_dict())
    for name in _WRITTEN_BY_BROWSER:
        query.pop(name, None)
    if run is not None:
        state = session.load(AddressState)
        session.save(replace(state, times_followed=state.times_followed + 1))
        query.pop(_COMPARED, None)
        query[_RUN] = run
    st.query_params.from_dict(query | lesson_state.query())


def linked_comparison() -> list[str]:
    """The runs that the URL of the Train page names for comparison."""
    return [key for key in st.query_params.get(_COMPARED, "").split(",") if key]


def write_comparison(keys: Sequence[str]) -> None:
    """Name the compared runs in the URL of the Train page."""
    if keys:
        st.query_params[_COMPARED] = ",".join(keys)
    else:
        st.query_params.pop(_COMPARED, None)


def open_page(page: Path, look: Look) -> None:
    """Go to another page with `look` in its URL; ends the run of the script."""
    open_query(page, to_query(look))


def open_query(page: Path, query: Mapping[str, str]) -> None:
    """Go to another page with this query; ends the run of the script."""
    state = session.load(AddressState)
    session.save(replace(state, destination=Destination(page, query)))
    page_changes.leave(session.session_id(), session.page_id())
    st.switch_page(page, query_params=query)
