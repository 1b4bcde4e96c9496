"""What one visitor's session remembers on the Heads page, as `session` does for all of Explore:
the part looked at, the interventions, and what is being filled in for the next one."""

from dataclasses import dataclass, replace
from pathlib import Path

import streamlit as st

from explorer.app.experiment_cache import trial
from explorer.app.permalink import MOST_DONE, PARTS, Place, Request, Selection
from explorer.app.server import access
from explorer.app.state import explore as explore_state
from explorer.app.state.explore import VisitError
from explorer.core.errors import ExplorerError
from explorer.core.i18n import say
from explorer.core.interventions import Interventions
from explorer.heads.measurement_store import Job
from explorer.model.catalog import Entry

# The next intervention, as it is filled in; the widgets that show it have keys of their own.
VERB = "heads-verb"
SITE = "heads-site"
LAYER = "heads-layer"
HEAD = "heads-head"
HOW = "heads-how"
QUERY = "heads-query"
KEY = "heads-key"
WEIGHTS = "heads-weights"

VIEW = "view-"
"""The key of a mounted head view, before its name."""

VERBS = ("ablate", "keep", "close", "open", "row")
ALL = -1
"""In place of a layer or a head: all of them."""

_PROBLEM = "heads-problem"
_SHOWN = "heads-shown"
_OPENING = "heads-opening"
_JOB = "heads-job"
_BATCH = "heads-findings"
_PAIRS = "heads-pairs"


class BenchError(ExplorerError):
    """An intervention that cannot be put together; its sentences are the page's."""

    def in_language(self, language: str) -> str:
        return say(f"heads.{self.key}", language, **self.facts)


@dataclass(frozen=True, slots=True)
class Opening:
    """Where a picture opened; it stays so while the same picture is shown."""

    picture: object
    selection: Selection


def part() -> str:
    """The part of the page that is looked at."""
    return str(st.session_state.get(explore_state.PART) or PARTS[0])


def pick_part(key: str) -> None:
    """Follow the choice of parts with the key `key`."""
    st.session_state[explore_state.PART] = st.session_state[key] or PARTS[0]


def request() -> Request:
    """What the visitor asks for, with the interventions that are on."""
    return replace(explore_state.request(), forced=(), done=chips())


def place() -> Place:
    """Where the visitor stands, for the address."""
    shown = part()
    wanted = replace(explore_state.request(), done=chips())
    return Place(wanted, explore_state.selection(), "" if shown == PARTS[0] else shown)


def chips() -> tuple[str, ...]:
    """The interventions that are on, one line each."""
    lines: tuple[str, ...] = st.session_state.get(explore_state.DONE, ())
    return lines


def pick(name: str, key: str) -> None:
    """Take what the widget with the key `key` shows as the entry called `name`."""
    st.session_state[name] = st.session_state[key]


def spend() -> None:
    """A new computation costs a visitor of a classroom one turn. Raises `VisitError`."""
    free = access.rights(explore_state.is_host()).unlimited
    if not free and not explore_state.spend(access.TURNS_A_SECOND, access.MOST_TURNS):
        raise VisitError("too_many_turns")


def shown() -> Request:
    """The text on screen, which is the last that could be read, with the interventions."""
    last: Request = st.session_state.get(_SHOWN) or request()
    return replace(last, done=chips())


def is_new(wanted: Request) -> bool:
    """Whether another text is asked for than is on screen."""
    return replace(wanted, done=()) != st.session_state.get(_SHOWN)


def remember(wanted: Request) -> None:
    """`wanted` is on screen."""
    st.session_state[_SHOWN] = replace(wanted, done=())


def removes_heads() -> bool:
    """Whether a whole head is taken away, which makes sense on any sentence."""
    return any(line.startswith(("ablate", "keep")) for line in chips())


def changes_places() -> bool:
    """Whether something is done to places of this one text, which no other sentence has."""
    return any(not line.startswith(("ablate", "keep")) for line in chips())


def add(entry: Entry) -> None:
    """Do what is filled in, too; when that cannot be, nothing changes but what is said."""
    try:
        spend()
        lines = Interventions.parse((*chips(), _line())).texts()
        if len(lines) > MOST_DONE:
            raise BenchError("too_many_chips", limit=MOST_DONE)
        trial(entry, replace(shown(), done=lines))  # kept: the page asks for it next
    except ExplorerError as error:
        note_problem(error)
        return
    st.session_state[explore_state.DONE] = lines


def undo(line: str) -> None:
    """Take one intervention back."""
    st.session_state[explore_state.DONE] = Interventions.parse(chips()).without(line).texts()


def undo_all() -> None:
    """Take all interventions back."""
    st.session_state[explore_state.DONE] = ()


def note_problem(problem: ExplorerError) -> None:
    """Remember why the last wish could not be fulfilled, until the page has said so."""
    st.session_state[_PROBLEM] = problem


def problem() -> ExplorerError | None:
    """Why the last wish could not be fulfilled; told once."""
    found: ExplorerError | None = st.session_state.pop(_PROBLEM, None)
    return found


def opening(picture: object) -> Selection:
    """Where `picture` opens: where the visitor looks, and then nowhere else while it stays."""
    known: Opening | None = st.session_state.get(_OPENING)
    if known is None or known.picture != picture:
        known = Opening(picture, explore_state.selection())
        st.session_state[_OPENING] = known
    return known.selection


def read_view(view: str) -> None:
    """Take what a head view reports: where the visitor looks, and a cell clicked."""
    report = st.session_state.get(f"{VIEW}{view}") or {}
    before = explore_state.selection()
    explore_state.read_selection(report.get("selection"))
    _fill_in_head(before, explore_state.selection())
    cell = report.get("cell")
    if isinstance(cell, dict):
        _fill_in(cell)


def pairs() -> tuple[str, str]:
    """Name and text of the file of pairs this visitor brought last; empty before."""
    found: tuple[str, str] = st.session_state.get(_PAIRS, ("", ""))
    return found


def keep_pairs(name: str, text: str) -> None:
    """Measure on these pairs when asked to."""
    st.session_state[_PAIRS] = (name, text)


def job() -> Job | None:
    """The measurement this visitor asked for last."""
    folder: Path | None = st.session_state.get(_JOB)
    return Job(folder) if folder is not None else None


def follow_job(started: Job | None) -> None:
    """Look on while a measurement goes on; None when it is over."""
    st.session_state[_JOB] = started.folder if started else None


def batch() -> str | None:
    """The batch whose measurements are shown, by key; None = the first there is."""
    return st.session_state.get(_BATCH)


def show_batch(key: str) -> None:
    """Show the measurements that `measuring.Kept` has under this key."""
    st.session_state[_BATCH] = key


def pick_batch(key: str) -> None:
    """Follow the choice of batches that is the widget with the key `key`."""
    show_batch(st.session_state[key])


def _fill_in_head(before: Selection, now: Selection) -> None:
    """Whoever chooses another head in a picture is likely to do something to it."""
    head = (now.site, now.layer, now.head)
    if None not in head and head != (before.site, before.layer, before.head):
        for key, value in zip((SITE, LAYER, HEAD), head, strict=True):
            st.session_state[key] = value


def _fill_in(cell: dict[str, object]) -> None:
    """Name a cell of a map as the one to close or open, or its row as the one to set."""
    numbers = {LAYER: "layer", HEAD: "head", QUERY: "query", KEY: "key"}
    values = {key: explore_state.whole(cell.get(name)) for key, name in numbers.items()}
    if None in values.values():
        return
    for key, value in values.items():
        st.session_state[key] = value
    st.session_state[SITE] = str(cell.get("site"))


def _line() -> str:
    """What is filled in as one line of text. Raises `BenchError`."""
    state = st.session_state
    layer, head = ("*" if state[key] == ALL else state[key] for key in (LAYER, HEAD))
    name = f"{state[SITE]}.{layer}.{head}"
    match state[VERB]:
        case "ablate":
            return f"ablate {name} {state.get(HOW, 'zero')}"
        case "close" | "open" as verb:
            return f"{verb} {name} {state[QUERY]} {state[KEY]}"
        case "row":
            return f"row {name} {state[QUERY]} {_weights(state[WEIGHTS])}"
    return f"keep {name}"


def _weights(text: str) -> str:
    """Numbers between commas or spaces, without any; "nan" is a number that none accepts."""
    try:
        numbers = [float(number) for number in text.replace(",", " ").split()]
    except ValueError:
        numbers = []
    if not numbers:
        raise BenchError("bad_weights")
    return ",".join(map(repr, numbers))
