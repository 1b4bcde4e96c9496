"""Lesson cards filled in from their traces; a whole lesson as a page."""

from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any

from explorer.app import model_cache
from explorer.app.asked_model import asked_model
from explorer.app.initial_view import changed_view
from explorer.app.lesson_run import run_look
from explorer.app.refused_parts import refused_parts
from explorer.app.state import visit as visit_state
from explorer.components.lesson.payload import ShownCard, ShownLesson
from explorer.components.lesson_export import LessonText, lesson_page
from explorer.core import run_answers
from explorer.core.errors import ExplorerError, LessonError
from explorer.core.i18n import isolated
from explorer.core.lesson import Card, Lesson, asked_of_trace, fill_in
from explorer.core.lesson_answers import Place, answer, named, needs_capture
from explorer.core.look import NO_INTERVENTIONS, Look, Request, Selection, from_query
from explorer.core.trace import Trace
from explorer.model.catalog import CatalogMember

Catalog = Mapping[str, CatalogMember]


def whole_lesson(
    name: str,
    lesson: Lesson,
    offered: Catalog,
    language: str,
    static_site: str | None = None,
    following: tuple[str, str] | None = None,
) -> bytes:
    """A lesson as an HTML page; a card that cannot be shown says why. Called from any thread.

    language: of the page around the lesson, which may be written in another one.
    static_site: the folder of the static site, relative to the page; None = one HTML file alone.
    following: name and title of the next lesson, whose page lies beside this one.
    """
    lesson = replace(lesson, cards=tuple(map(_exported, lesson.cards)))
    cards = [filled_in(card, offered, lesson.language) for card in lesson.cards]
    by_request: dict[Request, list[int]] = {}
    for number, (card, one) in enumerate(zip(lesson.cards, cards, strict=True)):
        visit = card_visit(card, offered)
        if visit is not None and not one.problem:
            by_request.setdefault(visit.request, []).append(number)
    texts = [_text(offered[r.model], r, tuple(numbers)) for r, numbers in by_request.items()]
    shown = ShownLesson.of(name, lesson, cards, following=following)
    return lesson_page(shown, texts, language, static_site).encode()


def _exported(card: Card) -> Card:
    """A card as it is in a page of its own, whose model cannot be changed."""
    if card.deed:
        card = replace(card, deed=NO_INTERVENTIONS, because="")
    return replace(card, text=card.exported or card.text, link="")


def _text(member: CatalogMember, request: Request, cards: tuple[int, ...]) -> LessonText:
    trace = model_cache.trace(member, request)
    model = asked_model(member, request, trace)
    return LessonText(trace, cards, changed_view(member, request, trace), model)


def filled_in(card: Card, offered: Catalog, language: str) -> ShownCard:
    """A card filled in from its trace, or with the reason why it cannot be shown, in the language
    of its lesson."""
    try:
        return _of_run(card, language) if card.in_train else _of_text(card, offered, language)
    except ExplorerError as error:
        return ShownCard(problem=error.in_language(language))


def card_visit(card: Card, offered: Catalog) -> Look | None:
    """The visit that a card shows, or None if its model is not listed."""
    if card.view.get("model") not in offered:
        return None
    return _linked(card, offered)[0]


def _linked(card: Card, offered: Catalog) -> tuple[Look, tuple[str, ...]]:
    """The visit that a card shows, and the parameters of its link that were refused."""
    requests = {name: visit_state.initial_request(member) for name, member in offered.items()}
    look, refused = from_query(card.view, requests)
    return look, refused


def _of_run(card: Card, language: str) -> ShownCard:
    """A card filled in from a moment of its run. Raises `ExplorerError`."""
    look, moment = run_look(card, language)
    names = asked_of_trace(card)
    values = {name: run_answers.answer(name, moment, look.place, language) for name in names}
    return _with_values(card, values, asdict(look), language)


def _of_text(card: Card, offered: Catalog, language: str) -> ShownCard:
    """A card filled in from its trace. Raises `ExplorerError`."""
    if card.view["model"] not in offered:
        raise LessonError("no_model", name=card.view["model"])
    visit, refused = _linked(card, offered)
    member = offered[visit.request.model]
    trace = model_cache.trace(member, visit.request)
    selection, missing = visit.selection.within(trace)
    if refused or missing:
        parts = refused_parts((*refused, *missing), language)
        raise LessonError("bad_link", parts=parts)
    values = _values(card, member, visit.request, selection, trace, language)
    return _with_values(card, values, _look(selection), language)


def _with_values(
    card: Card, values: Mapping[str, str], look: Mapping[str, Any], language: str
) -> ShownCard:
    """A card with the answers to all that it asks. Raises `LessonError`."""
    choices = tuple(named(fill_in(choice, values), language) for choice in card.choices)
    if card.answer and values[card.answer] not in choices:
        raise LessonError("no_such_choice", answer=values[card.answer])
    told = {name: isolated(value) for name, value in values.items()}
    return ShownCard(
        text=fill_in(card.text, told),
        question=fill_in(card.question, told),
        choices=choices,
        right=choices.index(values[card.answer]) if card.answer else 0 if card.deed else None,
        because=fill_in(card.because, told),
        answer=card.answer,
        highlight=card.highlight,
        look=look,
        deed=bool(card.deed),
        link=card.link,
    )


def _values(
    card: Card,
    member: CatalogMember,
    request: Request,
    selection: Selection,
    trace: Trace,
    language: str,
) -> dict[str, str]:
    """Answers of the trace to each question that the card uses, by name."""
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
        model = asked_model(member, request, trace)
        if model is None:
            raise LessonError("no_answer", answer=min(names - set(values)))
        layer = model.layer(place.site, place.layer)
        alone = replace(place, layer=0)
        values |= {n: answer(n, layer, alone, language) for n in names - set(values)}
    return values


def _look(selection: Selection) -> dict[str, Any]:
    """The selection as the player opens it."""
    return asdict(replace(selection, alignment=selection.alignment or "off"))
