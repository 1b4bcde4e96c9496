"""The card of the lesson that a visitor follows, above the picture of Explore."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import msgspec
import streamlit as st

from explorer.app import mount
from explorer.app.filled_lesson import Catalog, card_visit, filled_in
from explorer.app.state import address_bar
from explorer.app.state import lesson as lesson_state
from explorer.app.state import visit as visit_state
from explorer.components.lesson.payload import (
    ShownCard,
    ShownLesson,
    empty_payload,
    lesson_payload,
    offer_payload,
)
from explorer.core.address_fields import Whole, reported
from explorer.core.lesson import Card, FoundLessons, Lesson
from explorer.core.lesson_deeds import is_done
from explorer.core.look import Look, Request


class ChosenCard(msgspec.Struct):
    """The card a visitor goes to, counted from 0. here: whether the browser shows it already."""

    card: Whole
    here: bool = False


def lesson_card(found: FoundLessons, offered: Catalog, language: str) -> None:
    """Draw the card on screen. Without a lesson, offer the first one to a first-time visitor.

    found: all lessons.
    """
    with st.container(key="lesson-card"):
        mount.lesson(_payload(found, offered, language), partial(_read, offered))


def _payload(listed: FoundLessons, offered: Catalog, language: str) -> bytes:
    state = lesson_state.current()
    lesson = listed.in_language(state.name, language)
    names = list(listed.lessons)
    if lesson is None:
        first = listed.in_language(names[0], language) if names else None
        return offer_payload(names[0], first.title, language) if first else empty_payload(language)
    filled = _filled_in(lesson, state.card - 1, offered)
    return lesson_payload(shown_lesson(listed, lesson, filled, language), language)


def shown_lesson(
    listed: FoundLessons, lesson: Lesson, cards: Sequence[ShownCard | None], language: str
) -> ShownLesson:
    """The lesson that is followed, with its cards filled in and the lesson after it."""
    state, names = lesson_state.current(), list(listed.lessons)
    after = names[names.index(state.name) + 1 :][:1]
    following = [listed.in_language(name, language) for name in after]
    return ShownLesson.of(
        state.name,
        lesson,
        cards,
        card=state.card - 1,
        visit=address_bar.times_followed(),
        following=next(
            ((n, one.title) for n, one in zip(after, following, strict=True) if one), None
        ),
    )


def _filled_in(lesson: Lesson, shown: int, offered: Catalog) -> list[ShownCard | None]:
    """The card on screen and the others of the same text; None for those of other texts."""
    now = visit_state.current().request
    visits = [card_visit(card, offered) for card in lesson.cards]
    wanted = visits[shown]
    filled: list[ShownCard | None] = []
    for number, (card, visit) in enumerate(zip(lesson.cards, visits, strict=True)):
        if number != shown and (visit is None or wanted is None or visit.request != wanted.request):
            filled.append(None)
            continue
        one = filled_in(card, offered, lesson.language)
        here = visit is not None and visit.request == now
        filled.append(replace(one, here=here, done=_done(card, visit, now)))
    return filled


def _done(card: Card, visit: Look | None, now: Request) -> bool | None:
    """Whether the picture has what a card asks the learner to do; None = it is of another text."""
    if not card.deed or visit is None:
        return None
    if visit.request != replace(now, interventions=visit.request.interventions):
        return None
    return is_done(card.deed, now.interventions)


def _read(offered: Catalog, report: Mapping[str, Any]) -> None:
    """Handle a report of the card: another card, a lesson to begin, or the end of the lesson.

    The browser shows another card of the same text by itself.
    """
    if report.get("leave"):
        address_bar.show(lesson_state.leave() or _without_guess(visit_state.current()))
    name = report.get("start")
    if isinstance(name, str) and lesson_state.open_card(name, 1):
        _show(offered)
    chosen = reported(report.get("card"), ChosenCard)
    if chosen is None or not lesson_state.open_card(lesson_state.current().name, chosen.card + 1):
        return
    visit = _current_visit(offered)
    if chosen.here and visit and visit.request == visit_state.current().request:
        visit_state.select(visit.selection)
    else:
        _show(offered)


def _without_guess(visit: Look) -> Look:
    """A visit that a lesson leaves behind: what it let guess ends with it."""
    return replace(visit, selection=replace(visit.selection, guess=None))


def _current_visit(offered: Catalog) -> Look | None:
    state = lesson_state.current()
    lesson = lesson_state.lessons().in_language(state.name, "en")
    return card_visit(lesson.cards[state.card - 1], offered) if lesson else None


def _show(offered: Catalog) -> None:
    """Show the visit of the card on screen, if its model is listed."""
    if (visit := _current_visit(offered)) is not None:
        address_bar.show(visit)
