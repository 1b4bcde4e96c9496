"""The card of a lesson on the page Train, above the replay."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import streamlit as st

from explorer.app import mount
from explorer.app.filled_lesson import filled_in
from explorer.app.state import address_bar
from explorer.app.state import lesson as lesson_state
from explorer.app.state import train as train_state
from explorer.app.widgets.lesson_card import ChosenCard, shown_lesson
from explorer.components.lesson.payload import ShownCard, lesson_payload
from explorer.core.address_fields import reported
from explorer.core.lesson import Card, FoundLessons, Lesson
from explorer.jobs import training_launcher


def training_card(found: FoundLessons, run: str, language: str) -> None:
    """Draw the card on screen, if a lesson on this page is followed.

    run: key of the run on screen.
    """
    lesson = found.in_language(lesson_state.current().name, language)
    if lesson is None or not lesson.in_train:
        return
    shown = shown_lesson(found, lesson, _filled_in(lesson, run), language)
    with st.container(key="lesson-card"):
        mount.lesson(lesson_payload(shown, language), partial(_read, lesson))


def _filled_in(lesson: Lesson, run: str) -> list[ShownCard | None]:
    """All cards; those of the run on screen need no server."""
    cards = [filled_in(card, {}, lesson.language) for card in lesson.cards]
    return [
        replace(one, here=card.view["run"] == run, done=_done(card, run))
        for card, one in zip(lesson.cards, cards, strict=True)
    ]


def _done(card: Card, key: str) -> bool | None:
    """Whether the run on screen is what a card asks for; None = it asks for none."""
    if not card.deed or not key:
        return None
    root, _, name = key.partition("/")
    run = training_launcher.find(root, name)
    return not train_state.is_recorded(key) and not run.config.causal


def _read(lesson: Lesson, report: Mapping[str, Any]) -> None:
    """Handle a report of the card: another card, another lesson, or the end of the lesson."""
    name = report.get("start")
    chosen = reported(report.get("card"), ChosenCard)
    if report.get("leave"):
        lesson_state.leave()
        address_bar.write_training_card()
    elif isinstance(name, str) and lesson_state.open_card(name, 1):
        address_bar.write_training_card()
    elif chosen and lesson_state.open_card(lesson_state.current().name, chosen.card + 1):
        run = lesson.cards[chosen.card].view["run"]
        address_bar.write_training_card(None if chosen.here else run)
