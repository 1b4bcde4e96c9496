"""The card of the lesson that a visitor follows, above the picture of Explore."""

from collections.abc import Mapping
from dataclasses import asdict, replace
from functools import partial
from typing import Any

import streamlit as st

from explorer.app import model_cache, mount
from explorer.app.lessons import lessons
from explorer.app.permalink import from_query
from explorer.app.request import Request, Selection, Visit
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
from explorer.core.errors import ExplorerError, LessonError
from explorer.core.i18n import say
from explorer.core.lesson import Card, asked_of_trace, fill_in
from explorer.core.lesson_answers import Place, answer, needs_capture
from explorer.core.trace import Trace
from explorer.model.catalog import CatalogMember

Catalog = Mapping[str, CatalogMember]


def lesson_card(offered: Catalog, language: str, rerun_address: str) -> None:
    """The card on screen; without a lesson, the offer of the first one to a first visitor.

    rerun_address: key of the fragment that writes the address.
    """
    with st.container(key="lesson-card"):
        mount.lesson(_payload(offered, language), partial(_read, offered, rerun_address))


def _payload(offered: Catalog, language: str) -> bytes:
    state, found = lesson_state.current(), lessons()
    lesson = found.in_language(state.name, language)
    names = list(found.lessons)
    if lesson is None:
        first = found.in_language(names[0], language) if names else None
        return offer_payload(names[0], first.title, language) if first else empty_payload(language)
    after = names[names.index(state.name) + 1 :][:1]
    following = [found.in_language(name, language) for name in after]
    shown = ShownLesson(
        name=state.name,
        title=lesson.title,
        cards=_filled_in(lesson.cards, state.card - 1, offered, language),
        card=state.card - 1,
        visit=address_bar.times_followed(),
        following=next(
            ((n, one.title) for n, one in zip(after, following, strict=True) if one), None
        ),
    )
    return lesson_payload(shown, language)


def _filled_in(
    cards: tuple[Card, ...], shown: int, offered: Catalog, language: str
) -> list[ShownCard | None]:
    """The card on screen and the others of the same text; None for those of other texts."""
    now = visit_state.current().request
    visits = [_visit(card, offered) for card in cards]
    wanted = visits[shown]
    filled: list[ShownCard | None] = []
    for number, (card, visit) in enumerate(zip(cards, visits, strict=True)):
        if number != shown and (visit is None or wanted is None or visit.request != wanted.request):
            filled.append(None)
            continue
        try:
            one = _fill_in(card, offered, language)
        except ExplorerError as error:
            one = ShownCard(problem=error.in_language(language))
        filled.append(replace(one, here=visit is not None and visit.request == now))
    return filled


def _visit(card: Card, offered: Catalog) -> Visit | None:
    """What a card shows; None where its model is not listed."""
    if card.view["model"] not in offered:
        return None
    return _linked(card, offered)[0]


def _linked(card: Card, offered: Catalog) -> tuple[Visit, tuple[str, ...]]:
    """What a card shows, and the parameters of its link that were refused."""
    openings = {name: visit_state.opening_request(member) for name, member in offered.items()}
    permalink, refused = from_query(card.view, openings)
    return permalink.visit, refused


def _fill_in(card: Card, offered: Catalog, language: str) -> ShownCard:
    """A card with what its trace says. Raises `ExplorerError`."""
    if card.view["model"] not in offered:
        raise LessonError("no_model", name=card.view["model"])
    visit, refused = _linked(card, offered)
    member = offered[visit.request.model]
    trace = model_cache.trace(member, visit.request)
    selection, missing = visit.selection.within(trace)
    if refused or missing:
        names = (say(f"explore.part_{name}", language, longest=0) for name in (*refused, *missing))
        parts = say("explore.part_separator", language).join(names)
        raise LessonError("bad_link", parts=parts)
    values = _values(card, member, visit.request, selection, trace, language)
    choices = tuple(fill_in(choice, values) for choice in card.choices)
    if card.answer and values[card.answer] not in choices:
        raise LessonError("no_such_choice", answer=values[card.answer])
    return ShownCard(
        text=fill_in(card.text, values),
        question=fill_in(card.question, values),
        choices=choices,
        right=choices.index(values[card.answer]) if card.answer else None,
        because=fill_in(card.because, values),
        highlight=card.highlight,
        look=_look(selection),
    )


def _values(
    card: Card,
    member: CatalogMember,
    request: Request,
    selection: Selection,
    trace: Trace,
    language: str,
) -> dict[str, str]:
    """What each function of the trace says that the card uses."""
    place = Place(
        selection.site or trace.sites[-1],
        selection.layer or 0,
        selection.head or 0,
        selection.step,
        selection.cell,
    )
    names = asked_of_trace(card)
    values = {n: answer(n, trace, place, language) for n in names if not needs_capture(n)}
    if len(values) < len(names):
        capture = model_cache.layer_capture(member, request, trace)
        layer = capture(place.site, place.layer) if capture else None
        if layer is None:
            raise LessonError("no_answer", answer=min(names - set(values)))
        alone = replace(place, layer=0)
        values |= {n: answer(n, layer, alone, language) for n in names - set(values)}
    return values


def _look(selection: Selection) -> dict[str, Any]:
    """The selection as the player opens it."""
    return asdict(replace(selection, alignment=selection.alignment or "off"))


def _read(offered: Catalog, rerun_address: str, report: Mapping[str, Any]) -> None:
    """Take what the card reports: another card, a lesson to begin, or that it is left.

    The browser has shown another card of the same text by itself; then only the address is
    drawn again.
    """
    if report.get("leave"):
        lesson_state.leave()
    name = report.get("start")
    if isinstance(name, str) and lesson_state.open_card(name, 1):
        _show(offered)
    chosen = report.get("card")
    if not isinstance(chosen, Mapping):
        return
    if not lesson_state.open_card(lesson_state.current().name, _whole(chosen.get("card"))):
        return
    visit = _current_visit(offered)
    if chosen.get("here") and visit and visit.request == visit_state.current().request:
        visit_state.select(visit.selection)
        st.rerun(rerun_address)
    _show(offered)


def _whole(value: object) -> int | None:
    number = visit_state.whole(value)
    return None if number is None else number + 1


def _current_visit(offered: Catalog) -> Visit | None:
    state = lesson_state.current()
    lesson = lessons().in_language(state.name, "en")
    return _visit(lesson.cards[state.card - 1], offered) if lesson else None


def _show(offered: Catalog) -> None:
    """Show what the card on screen speaks of, where its model is listed."""
    if (visit := _current_visit(offered)) is not None:
        address_bar.show(visit)
