"""What one visitor's session remembers; its uploads are kept in `shelf`.

It also keeps the address bar in step. Python is its one writer. A query that Python did not
write itself came with a link, a reload or the Back button, and is followed.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from urllib.parse import urlencode

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from explorer.app.permalink import Place, Request, Selection, from_query, to_query
from explorer.app.server.rate_limit import Turns
from explorer.core.errors import ExplorerError
from explorer.core.i18n import LANGUAGES
from explorer.core.sites import SITES
from explorer.model.catalog import CatalogMember, CatalogModel, UploadedTrace

# What is asked for. The widgets that show it have keys of their own, because Streamlit forgets
# a widget that is not drawn, and knows a choice only by the words it is shown in.
MODEL = "model"
SOURCE = "source"
PAD = "pad"
DONE = "done"
PART = "part"

# Keys of widgets.
EXAMPLES = "examples"
LANGUAGE = "language"
PLAYER = "player"
HOST_KEY = "host-key"

_FORCED = "forced"
_SELECTION = "selection"
_SHOWN = "shown"
_QUERY = "query"
_ARRIVAL = "arrival"
_VISITS = "visits"
_PAGE = "page"
_TYPED = "typed"
_HOST = "host"
_SPOKEN = "spoken"

_LANGUAGE_PART = "lang"
_MOST_INTEGER = 2**31

_CLASS = 40
"""Visitors one network address may stand for: a school often has only one."""

_turns = Turns(owners=4096)


class VisitError(ExplorerError):
    """A visitor asks for more than one visitor may have."""

    section = "explore"


@dataclass(frozen=True, slots=True)
class Shown:
    """The picture on screen: its request, where it opened, and in which language."""

    request: Request
    opening: Selection
    language: str


def language() -> str:
    """The visitor's language: the one chosen, else the link's, else the browser's."""
    linked = st.query_params.get(_LANGUAGE_PART)
    for chosen in (st.session_state.get(_SPOKEN), linked):
        if chosen in LANGUAGES:
            st.session_state[_SPOKEN] = chosen  # another page's address does not carry it
            return str(chosen)
    return "zh" if (st.context.locale or "").lower().startswith("zh") else "en"


def speak() -> None:
    """Keep to the language chosen with the switch."""
    st.session_state[_SPOKEN] = st.session_state[LANGUAGE]


def request() -> Request:
    """What the visitor asks for now."""
    state = st.session_state
    return Request(state[MODEL], state[SOURCE], state[PAD], state.get(_FORCED, ()))


def widget_key(name: str, language: str) -> str:
    """The key of the widget that shows the entry called `name`, made to show it."""
    key = f"{name}-{language}"
    st.session_state[key] = st.session_state[name]
    return key


def selection() -> Selection:
    """What the player showed when it last rested."""
    found: Selection = st.session_state.get(_SELECTION, Selection())
    return found


def ask(text: str) -> None:
    """Ask for another text, decoded freely."""
    st.session_state[SOURCE] = text
    forget_forced()


def take_example() -> None:
    """Ask for the text chosen from the menu."""
    if text := st.session_state.get(EXAMPLES):
        ask(str(text))


def forget_forced() -> None:
    """Let the model choose every token again."""
    st.session_state[_FORCED] = ()


def choose_model(name: str, shelf: Mapping[str, CatalogMember]) -> None:
    """Ask another model: a text it cannot read gives way to its first example."""
    entry = shelf[name]
    st.session_state[MODEL] = name
    forget_forced()
    st.session_state[DONE] = ()  # another model has other heads
    if isinstance(entry, CatalogModel) and not entry.summary.reads(st.session_state[SOURCE]):
        st.session_state[SOURCE] = entry.examples[0]


def pick_model(key: str, shelf: Mapping[str, CatalogMember]) -> None:
    """Follow the picker with the key `key`."""
    choose_model(st.session_state[key], shelf)


def pick_padding(key: str) -> None:
    """Follow the choice of padding with the key `key`."""
    st.session_state[PAD] = int(st.session_state[key])


def submit(key: str) -> None:
    """Take the text typed into the box with the key `key`; the focus goes to its picture."""
    ask(st.session_state[key])
    st.session_state[_TYPED] = submissions() + 1


def submissions() -> int:
    """How often the visitor has typed a text."""
    return int(st.session_state.get(_TYPED, 0))


def follow_address(shelf: Mapping[str, CatalogMember]) -> None:
    """Go where the address bar points, unless this session wrote it.

    For whole runs only: the run of a fragment may carry an address older than the last one
    written.
    """
    query = {name: st.query_params[name] for name in st.query_params if name != _LANGUAGE_PART}
    if query == st.session_state.get(_QUERY) and MODEL in st.session_state:
        return
    place, refused = from_query(query, {name: _opening_text(shelf[name]) for name in shelf})
    state = st.session_state
    state[MODEL], state[SOURCE] = place.request.model, place.request.text
    state[PAD], state[_FORCED] = place.request.pad, place.request.forced
    state[DONE], state[PART] = place.request.done, place.part
    state[_SELECTION] = place.selection
    state[_ARRIVAL] = refused
    state[_QUERY] = query
    state[_VISITS] = visits() + 1


def enter(page: str) -> None:
    """Come to a page; from another one, a bare address keeps the place."""
    if st.session_state.get(_PAGE, page) != page:
        leave_address()
    st.session_state[_PAGE] = page


def leave_address() -> None:
    """Another page has the address bar: coming back to a bare one keeps the place."""
    st.session_state[_QUERY] = {}


def visits() -> int:
    """How often the address bar was followed."""
    return int(st.session_state.get(_VISITS, 0))


def arrival() -> tuple[str, ...] | None:
    """After following the address bar, the names of the parts that could not be; told once."""
    names: tuple[str, ...] | None = st.session_state.pop(_ARRIVAL, None)
    return names


def write_address(place: Place, shelf: Mapping[str, CatalogMember]) -> None:
    """Bring the address bar to `place`; the place a bare address opens stays bare."""
    query = to_query(place)
    plain = place.request == bare_request(shelf) and not place.part
    if plain and not st.session_state[_QUERY] and place.selection == Selection():
        query = {}
    st.session_state[_QUERY] = query
    spoken = st.session_state.get(_SPOKEN) or st.query_params.get(_LANGUAGE_PART)
    if spoken in LANGUAGES:
        query = query | {_LANGUAGE_PART: str(spoken)}
    if query != st.query_params.to_dict():
        st.query_params.from_dict(query)


def link(place: Place) -> str:
    """The address that opens `place` for somebody else, in that person's language."""
    return f"{address()}?{urlencode(to_query(place))}"


def address() -> str:
    """The app's own address, as this visitor reached it."""
    return (st.context.url or "").split("?")[0].rstrip("/") + "/"


def opening(wanted: Request, spoken: str) -> Selection:
    """Where the player opens `wanted`: where it is, and on a new text at the last step."""
    shown = last_shown()
    now = selection()
    if shown is None or _ARRIVAL in st.session_state:  # a link says where
        return now
    if shown.request == wanted:
        return shown.opening if shown.language == spoken else now
    same_text = replace(shown.request, forced=(), pad=0) == replace(wanted, forced=(), pad=0)
    return now if same_text else replace(now, step=None)


def last_shown() -> Shown | None:
    """The picture that stays when the next one fails."""
    return st.session_state.get(_SHOWN)


def show(shown: Shown, arrived: bool, last_step: int) -> None:
    """Remember the picture on screen. Opened by a choice made here, not by arriving, it is at
    a step the address can name at once."""
    before = last_shown()
    if arrived:
        st.session_state[_SELECTION] = shown.opening
    elif before is not None and before.request != shown.request:
        step = shown.opening.step or last_step or None
        st.session_state[_SELECTION] = replace(shown.opening, step=step)
    st.session_state[_SHOWN] = shown


def keep_shown(shown: Request) -> None:
    """After a failure: take back forced tokens that the picture on screen does not have."""
    same = (shown.model, shown.text) == (st.session_state[MODEL], st.session_state[SOURCE])
    st.session_state[_FORCED] = shown.forced if same else ()


def bare_request(shelf: Mapping[str, CatalogMember]) -> Request:
    """What an address without a query asks for."""
    first = next(iter(shelf.values()))
    return Request(first.name, _opening_text(first))


def read_player() -> None:
    """Take what the player reports; whatever is malformed is left aside."""
    report = st.session_state.get(PLAYER) or {}
    read_selection(report.get("selection"))
    forced: dict[int, int] = dict(st.session_state.get(_FORCED, ()))
    choice = report.get("force")
    if isinstance(choice, dict):
        step, token = _step(choice.get("step")), whole(choice.get("id"))
        if step is not None and token is not None:
            earlier = {at: chosen for at, chosen in forced.items() if at < step}
            forced = {**earlier, step: token}  # what came after it is decoded anew
            st.session_state[_SELECTION] = replace(selection(), step=step)
    if (step := whole(report.get("unforce"))) is not None:
        forced.pop(step, None)
    if report.get("reset"):
        forced = {}
    st.session_state[_FORCED] = tuple(sorted(forced.items()))


def read_selection(report: object) -> None:
    """Take where a visitor looks, as a picture reports it."""
    if not isinstance(report, dict):
        return
    site = report.get("site")
    st.session_state[_SELECTION] = Selection(
        site if site in SITES else None,
        whole(report.get("layer")),
        whole(report.get("head")),
        _step(report.get("step")),
    )


def whole(value: object) -> int | None:
    """`value` if it is a whole number from 0; JavaScript sends 3 or 3.0."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return int(value) if 0 <= value < _MOST_INTEGER and value == int(value) else None


def is_host() -> bool:
    """Whether this visitor has shown the host's key."""
    return bool(st.session_state.get(_HOST, False))


def become_host(is_key: Callable[[str], bool], admit: Callable[[str], None]) -> None:
    """Give this visitor the host's rights until the session ends, if the word typed is the key;
    `admit` is told the session's number."""
    st.session_state[_HOST] = is_key(str(st.session_state.get(HOST_KEY, "")))
    if is_host():
        admit(_number())


def spend(rate: float, most: float) -> bool:
    """Use one of the visitor's turns, which come back at `rate` a second up to `most`;
    False when none is left.

    A reload begins a new session, with turns of its own. So the address counts, too, for as
    many visitors as may be behind it; visitors on the server's own machine are one address.
    """
    owners = {f"session {_number()}": 1, f"address {st.context.ip_address}": _CLASS}
    return _turns.spend(owners, rate, most)


def _number() -> str:
    """What Streamlit calls this session, "" outside of one."""
    context = get_script_run_ctx()
    return context.session_id if context is not None else ""


def _step(value: object) -> int | None:
    """`value` if it is a step; they count from 1, and a trace without a target has none."""
    return whole(value) or None


def _opening_text(entry: CatalogMember) -> str:
    return "" if isinstance(entry, UploadedTrace) else entry.examples[0]
