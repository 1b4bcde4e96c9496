"""A lesson, or the offer of the first one, as a payload for the card above the picture."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from explorer.components.shared.payload import pack_payload
from explorer.core.i18n import section


@dataclass(frozen=True, slots=True)
class ShownCard:
    """A card with everything filled in.

    right: index of the right choice; None on a card that asks nothing.
    look: the part of the trace it shows, field by field as in `View`.
    here: whether the text that it speaks of is on screen, so that no server is needed to show it.
    problem: why it cannot be shown; "" where it can.
    answer: what of the trace the right choice is, as in `lesson_answers`, so that the picture does
        not show it before it is chosen; "" on a card that asks nothing.
    """

    text: str = ""
    question: str = ""
    choices: tuple[str, ...] = ()
    right: int | None = None
    because: str = ""
    highlight: str = ""
    look: Mapping[str, Any] | None = None
    here: bool = False
    problem: str = ""
    answer: str = ""


@dataclass(frozen=True, slots=True)
class ShownLesson:
    """A lesson on screen.

    name: in the URL.
    cards: None where the server has to fill one in first.
    card: on screen, counted from 0.
    visit: differs whenever the server chose the card.
    following: name and title of the next lesson; None after the last.
    """

    name: str
    title: str
    cards: Sequence[ShownCard | None]
    card: int
    visit: int
    following: tuple[str, str] | None = None


def lesson_payload(shown: ShownLesson, language: str, back: str = "") -> bytes:
    """The card of a lesson, and the others that can be shown without the server.

    back: address of the page to which the last card of a page of its own leads; "" without one.
    """
    return _pack({"lesson": asdict(shown), "back": back}, language)


def offer_payload(name: str, title: str, language: str) -> bytes:
    """The offer of a lesson, which the browser shows on a first visit."""
    return _pack({"offer": {"name": name, "title": title}}, language)


def empty_payload(language: str) -> bytes:
    """No lesson, and no offer of one."""
    return _pack({}, language)


def _pack(content: Mapping[str, Any], language: str) -> bytes:
    return pack_payload(
        {"language": language, "strings": section("lessons", language), **content}, {}
    )
