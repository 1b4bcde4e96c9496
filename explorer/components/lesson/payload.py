"""A lesson, or the offer of the first one, as a payload for the card above the picture; and the
list of all lessons."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from explorer.components.payload import pack_payload
from explorer.core.i18n import section
from explorer.core.lesson import Lesson


@dataclass(frozen=True, slots=True)
class ShownCard:
    """A card with everything filled in.

    right: index of the right choice; None on a card without a question, 0 on one with a deed.
    look: the part of the trace it shows, field by field as in `View`.
    here: whether its text is on screen, so that no server is needed to show it.
    problem: why it cannot be shown; "" if it can.
    answer: part of the trace that the right choice names, as in `lesson_answers`, so that the
        picture hides it until it is chosen; "" on a card without a question.
    deed: whether the learner is to do something. done: whether the picture has it; None = it
        asks for none, or the picture is of another text.
    link: address of another page, relative to the app; "" = none.
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
    deed: bool = False
    done: bool | None = None
    link: str = ""


@dataclass(frozen=True, slots=True)
class ShownLesson:
    """A lesson on screen.

    name: in the URL.
    cards: None for a card that the server has to fill in first.
    card: on screen, counted from 0.
    visit: changes each time the server chooses the card.
    following: name and title of the next lesson; None after the last.
    questions: how many cards ask one.
    minutes, aims, summary: as in `Lesson`.
    """

    name: str
    title: str
    cards: Sequence[ShownCard | None]
    card: int
    visit: int
    following: tuple[str, str] | None = None
    questions: int = 0
    minutes: int | None = None
    aims: str = ""
    summary: str = ""

    @classmethod
    def of(
        cls,
        name: str,
        lesson: Lesson,
        cards: Sequence[ShownCard | None],
        *,
        card: int = 0,
        visit: int = 0,
        following: tuple[str, str] | None = None,
    ) -> "ShownLesson":
        """A lesson with these cards filled in."""
        return cls(
            name=name,
            title=lesson.title,
            cards=cards,
            card=card,
            visit=visit,
            following=following,
            questions=lesson.questions,
            minutes=lesson.minutes,
            aims=lesson.aims,
            summary=lesson.summary,
        )


def lesson_payload(shown: ShownLesson, language: str, back: str = "") -> bytes:
    """The card of a lesson, and the other cards that can be shown without the server.

    back: on a lesson's own page, address that its end links to; "" without one.
    """
    return _pack({"lesson": asdict(shown), "back": back}, language)


def offer_payload(name: str, title: str, language: str) -> bytes:
    """The offer of a lesson, which the browser shows on a first visit."""
    return _pack({"offer": {"name": name, "title": title}}, language)


def empty_payload(language: str) -> bytes:
    """No lesson, and no offer of one."""
    return _pack({}, language)


@dataclass(frozen=True, slots=True)
class ListedLesson:
    """A lesson in the list of all, or a file that is none.

    name: of the lesson in the URL, or the path of the file.
    """

    name: str
    title: str
    minutes: int | None = None
    aims: str = ""


def list_payload(
    lessons: Sequence[ListedLesson], broken: Sequence[ListedLesson], language: str
) -> bytes:
    """The list of lessons, in the order of display; broken: files that are no lessons."""
    listed = {"lessons": list(map(asdict, lessons)), "broken": list(map(asdict, broken))}
    return _pack(listed, language)


def _pack(content: Mapping[str, Any], language: str) -> bytes:
    strings = {**section("lessons", language), **section("glossary", language)}
    return pack_payload({"language": language, "strings": strings, **content}, {})
