"""The lesson that a visitor follows, and its card on screen; both are in the URL."""

from collections.abc import Mapping
from dataclasses import dataclass

from explorer.app.lessons import lessons
from explorer.app.state import session
from explorer.core.look import Look

_NAME, _CARD = "lesson", "card"  # parameters of the URL


@dataclass(frozen=True, slots=True)
class LessonState:
    """name: of the lesson; "" = none is followed.
    card: on screen, counted from 1.
    before: the visit that the lesson replaced; None if the lesson came with the first URL.
    """

    name: str = ""
    card: int = 1
    before: Look | None = None


def current() -> LessonState:
    """The lesson and its card; the name is "" when the lesson is no longer there."""
    state = session.load(LessonState)
    lesson = lessons().in_language(state.name, "en")
    return state if lesson and state.card <= len(lesson.cards) else LessonState()


def open_card(name: str, card: object) -> bool:
    """Show a card of a lesson. Returns whether that card exists."""
    lesson = lessons().in_language(name, "en")
    if lesson is None or not isinstance(card, int) or not 1 <= card <= len(lesson.cards):
        return False
    state = session.load(LessonState)
    before = state.before if state.name else session.find(Look)
    session.save(LessonState(name, card, before))
    return True


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


def follow(query: Mapping[str, str]) -> tuple[dict[str, str], tuple[str, ...]]:
    """Follow the lesson that a query names. Returns the query, completed with the view of the card
    if it names no model itself, and the parameters that were refused."""
    named = {name: value for name, value in query.items() if name not in (_NAME, _CARD)}
    if _NAME not in query:
        leave()
        return named, ()
    word = query.get(_CARD, "1")
    card = int(word) if word.isascii() and word.isdigit() and len(word) < 4 else 0
    refused: tuple[str, ...] = ()
    if not open_card(query[_NAME], card):
        refused = (_CARD,) if open_card(query[_NAME], 1) else (_NAME,)
    if refused == (_NAME,):
        leave()
    lesson = lessons().in_language(current().name, "en")
    if lesson is not None and "model" not in named:
        named = {**lesson.cards[current().card - 1].view, **named}
    return named, refused
