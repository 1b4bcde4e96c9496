"""The lessons of this machine, those that ship and those in the folders named at the start; the one
that a visitor follows, and its card on screen, both of which are in the URL."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

from explorer.app.state import session
from explorer.core import folders
from explorer.core.files import log_skipped
from explorer.core.lesson import FoundLessons, find_lessons, lesson_files
from explorer.core.look import Look

_NAME, _CARD = "lesson", "card"  # parameters of the URL


@dataclass(frozen=True, slots=True)
class LessonState:
    """name: of the lesson; "" = none is followed.
    card: on screen, counted from 1.
    before: the visit that the lesson replaced; None if the lesson came with the first URL.
    missing: whether its file is gone or broken; the lesson comes back with the file.
    """

    name: str = ""
    card: int = 1
    before: Look | None = None
    missing: bool = False


def lessons() -> FoundLessons:
    """All lessons; a file that was changed is read again."""
    return _found(tuple((path, *_changed(path)) for path in lesson_files(folders.lessons())))


def look_up() -> FoundLessons:
    """All lessons, after noting whether the card on screen is among them."""
    found, state = lessons(), session.load(LessonState)
    missing = bool(state.name) and not _has_card(found, state.name, state.card)
    if missing != state.missing:
        session.save(replace(state, missing=missing))
    return found


def current() -> LessonState:
    """The lesson and its card; the name is "" when `look_up` did not find the lesson."""
    state = session.load(LessonState)
    return LessonState() if state.missing else state


def is_in_train() -> bool:
    """Whether the lesson that is followed belongs to the page Train."""
    lesson = lessons().in_language(current().name, "en")
    return lesson is not None and lesson.in_train


def leave_train() -> None:
    """End a lesson of the page Train, which the visitor has left."""
    if is_in_train():
        leave()


def open_card(name: str, card: object) -> bool:
    """Show a card of a lesson. Returns whether that card exists."""
    return _open(lessons(), name, card)


def leave() -> Look | None:
    """End the lesson. Returns the visit that it replaced."""
    before = session.load(LessonState).before
    session.save(LessonState())
    return before


def query() -> dict[str, str]:
    """The parameters that name the card in the URL."""
    state = current()
    return link(state.name, state.card) if state.name else {}


def link(name: str, card: int = 1) -> dict[str, str]:
    """The query that opens a card of a lesson."""
    return {_NAME: name, _CARD: str(card)}


def linked(query: Mapping[str, str]) -> dict[str, str] | None:
    """The parameters of a query that name a card, the first one unless it names another; None
    without a lesson."""
    return link(query[_NAME]) | {_CARD: query.get(_CARD, "1")} if _NAME in query else None


def without_link(query: Mapping[str, str]) -> dict[str, str]:
    """A query without the parameters that name a card."""
    return {name: value for name, value in query.items() if name not in (_NAME, _CARD)}


def parameters_in(names: Iterable[str]) -> tuple[str, ...]:
    """Those of the names that are of the parameters of a card."""
    return tuple(name for name in names if name in (_NAME, _CARD))


def follow(query: Mapping[str, str]) -> tuple[dict[str, str], tuple[str, ...]]:
    """Follow the lesson that a query names. Returns the query, completed with the view of the card
    if it names no model or run itself, and the parameters that were refused."""
    named = without_link(query)
    if _NAME not in query:
        leave()
        return named, ()
    found, word = lessons(), query.get(_CARD, "1")
    card = int(word) if word.isascii() and word.isdigit() and len(word) < 4 else 0
    refused: tuple[str, ...] = ()
    if not _open(found, query[_NAME], card):
        refused = (_CARD,) if _open(found, query[_NAME], 1) else (_NAME,)
    if refused == (_NAME,):
        leave()
    lesson = found.in_language(current().name, "en")
    if lesson is not None and not {"model", "run"} & named.keys():
        named = {**lesson.cards[current().card - 1].view, **named}
    return named, refused


def _open(found: FoundLessons, name: str, card: object) -> bool:
    if not isinstance(card, int) or not _has_card(found, name, card):
        return False
    state = session.load(LessonState)
    before = state.before if state.name else session.find(Look)
    session.save(LessonState(name, card, before))
    return True


def _has_card(found: FoundLessons, name: str, card: int) -> bool:
    lesson = found.in_language(name, "en")
    return lesson is not None and 1 <= card <= len(lesson.cards)


def _changed(path: Path) -> tuple[int, int]:
    """Modification time and size of a file, which differ after a change."""
    try:
        status = path.stat()
    except OSError:
        return 0, 0
    return status.st_mtime_ns, status.st_size


@lru_cache(maxsize=4)
def _found(files: tuple[tuple[Path, int, int], ...]) -> FoundLessons:
    found = find_lessons(path for path, _, _ in files)
    for broken in found.broken:
        log_skipped(broken.path, broken.problem)
    return found
