"""Lessons: Markdown files with cards, each of which opens a view of the app and asks a question.

    # Query and key

    minutes: 8
    aims: Read a row of the map.
    summary: A query asks, keys answer.

    ---
    view: model=reverse&text=7+3+9+1+4&pad=2&site=cross&layer=1&head=2&step=2
    highlight: current-row
    question: Which token does the orange row look at most?
    choices: 7 | 1 | 4
    answer: largest key
    because: its weight is {weight}, and the row sums to {row sum}.
    ---
    The orange row asks; the columns answer.

What stands before the first card may be left out: `minutes` and `aims` are for the teacher,
`summary` ends the lesson. `view` is the query of a link of the app; `highlight` the `data-testid`
of the element that the text is about; `answer` a function of `lesson_answers`, which may also be
in braces in the text.

In the place of a question, `deed` names changes in the model that the learner is to make, as lines
of interventions (`core.verbs`): the card sees when the picture has them. `link` opens another page.

A lesson on the page Train has cards whose `view` names a run and a moment in the place of a model
and a text; they ask `run_answers`.

In a folder, `NAME.en.md` and `NAME.zh.md` are one lesson in two languages, and each further
language may have one, too.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from types import MappingProxyType
from urllib.parse import parse_qsl

from explorer.core.errors import ExplorerError, LessonError
from explorer.core.files import has_printable_name, one_line, read_text
from explorer.core.i18n import LANGUAGES, say
from explorer.core.interventions import Interventions
from explorer.core.lesson_answers import ANSWERS
from explorer.core.lesson_deeds import TRAINED_WITHOUT_MASK, read_deed
from explorer.core.look import NO_INTERVENTIONS
from explorer.core.run_answers import RUN_ANSWERS

_ORDER = (
    "query-and-key",
    "one-number-by-hand",
    "the-mask",
    "padding",
    "what-heads-share-out",
    "alignment",
    "several-heads",
    "what-if",
    "positions",
    "residual",
    "induction",
    "training",
    "importance",
)
"""Order of the lessons that ship; others follow by name."""

_LARGEST = 2**18  # bytes of a file

MOST_CARDS = 20
LONGEST_TEXT = 240
"""Most characters of a card's text: the picture below it needs the height."""

LONGEST_TITLE = 50
LONGEST_HEAD: Mapping[str, int] = MappingProxyType({"aims": 200, "summary": LONGEST_TEXT})
"""Most characters of what stands before the first card."""

LONGEST_FIELDS: Mapping[str, int] = MappingProxyType(
    {"exported": LONGEST_TEXT, "question": 80, "choices": 24, "because": 120}
)
"""Most characters of the other parts of a card; for the choices, of each one."""

_HEAD = ("minutes", *LONGEST_HEAD)
_MINUTES = range(1, 181)
_FIELDS = (
    "view",
    "highlight",
    "question",
    "choices",
    "answer",
    "because",
    "deed",
    "link",
    "exported",
)
_ASKED = ("question", "choices", "answer")
_LINE = "---"
_CHOICES = range(2, 6)
_NEAREST = 5  # functions that are named in the place of an unknown one
_TESTID = re.compile(r"[a-z][a-z0-9_-]{0,40}", re.ASCII)
_LINK = re.compile(r"heads(\?[a-z0-9=&@._+-]{1,200})?", re.ASCII)  # of another page of the app
_PLACEHOLDER = re.compile(r"\{([^{}]*)\}")


@dataclass(frozen=True, slots=True)
class Card:
    """One card.

    view: the query of a link, by parameter.
    highlight: the `data-testid` of the element that the text is about; "" = nothing.
    question, choices, answer, because: "" or () on a card without a question; `because` is shown
        after the answer.
    exported: the text in an exported page, which cannot refer to other pages; "" = `text`, as in
        the app.
    deed: what the learner is to change in the model, without a question; none = nothing.
    link: the address of another page, relative to the app; "" = none.
    """

    text: str
    view: Mapping[str, str]
    highlight: str = ""
    question: str = ""
    choices: tuple[str, ...] = ()
    answer: str = ""
    because: str = ""
    exported: str = ""
    deed: Interventions = NO_INTERVENTIONS
    link: str = ""

    @property
    def asks(self) -> bool:
        """Whether it asks a question or for a deed."""
        return bool(self.question or self.deed)

    @property
    def in_train(self) -> bool:
        """Whether its picture is a moment of a training, on the page Train."""
        return "run" in self.view

    @property
    def sentences(self) -> tuple[str, ...]:
        """All texts of the card that a person reads."""
        return (self.text, self.question, *self.choices, self.because, self.exported)


@dataclass(frozen=True, slots=True)
class Lesson:
    """A lesson in one language, with at least one card.

    language: of the text, and of the answers filled in from traces, even if the visitor's differs.
    minutes: that it takes; None = unknown.
    aims: what it is for; "" = not said.
    summary: what a learner can say after it; "" = not said.
    """

    title: str
    cards: tuple[Card, ...]
    language: str
    minutes: int | None = None
    aims: str = ""
    summary: str = ""

    @property
    def in_train(self) -> bool:
        """Whether it is followed on the page Train, else on Explore."""
        return self.cards[0].in_train

    @property
    def questions(self) -> int:
        """How many cards ask something."""
        return sum(card.asks for card in self.cards)


def read_lesson(text: str, language: str = "en") -> Lesson:
    """The lesson in the text of a file. Raises `LessonError`, which names the card."""
    head, *parts = re.split(rf"^{_LINE}[ \t]*$", text.strip(), flags=re.MULTILINE)
    title, *lines = head.strip().splitlines() or [""]
    if not title.startswith("# ") or not title[2:].strip():
        raise LessonError("no_title")
    title = title[2:].strip()
    if len(title) > LONGEST_TITLE:
        raise LessonError("long_title", characters=len(title), limit=LONGEST_TITLE)
    fields = _read_head(lines)
    if not parts or len(parts) % 2:
        raise LessonError("no_cards", line=_LINE)
    if len(parts) > 2 * MOST_CARDS:
        raise LessonError("too_many_cards", cards=len(parts) // 2, limit=MOST_CARDS)
    headers, texts = parts[::2], parts[1::2]
    cards = [_read_card(*one) for one in zip(range(1, len(texts) + 1), headers, texts, strict=True)]
    if len({card.in_train for card in cards}) > 1:
        raise LessonError("two_pages")
    minutes = int(fields["minutes"]) if "minutes" in fields else None
    aims, summary = fields.get("aims", ""), fields.get("summary", "")
    return Lesson(title, tuple(cards), language, minutes, aims, summary)


def fill_in(sentence: str, values: Mapping[str, str]) -> str:
    """`sentence` with its placeholders filled in."""
    return _PLACEHOLDER.sub(lambda found: values[found[1]], sentence)


def asked_of_trace(card: Card) -> frozenset[str]:
    """Names of all `lesson_answers` functions that a card uses."""
    names = {name for sentence in card.sentences for name in _PLACEHOLDER.findall(sentence)}
    return frozenset(names | {card.answer} if card.answer else names)


def _read_head(lines: Iterable[str]) -> dict[str, str]:
    """The fields between the title and the first card."""
    fields: dict[str, str] = {}
    for line in filter(None, map(str.strip, lines)):
        name, colon, value = (part.strip() for part in line.partition(":"))
        if not colon or name not in _HEAD:
            raise LessonError("bad_head", got=line[:60], known=", ".join(_HEAD))
        if name in fields:
            raise LessonError("head_twice", field=name)
        limit = LONGEST_HEAD.get(name, len(value))
        if len(value) > limit:
            raise LessonError("long_head", field=name, characters=len(value), limit=limit)
        fields[name] = value
    minutes = fields.get("minutes", "1")
    if minutes not in map(str, _MINUTES):
        raise LessonError("bad_minutes", got=minutes[:60], most=_MINUTES[-1])
    return fields


def _read_card(number: int, header: str, body: str) -> Card:
    fields = dict(_fields(number, header))
    text = " ".join(body.split())
    if not text:
        raise LessonError("no_text", card=number)
    if len(text) > LONGEST_TEXT:
        raise LessonError("long_text", card=number, characters=len(text), limit=LONGEST_TEXT)
    card = Card(
        text,
        MappingProxyType(_view(number, fields.get("view", ""))),
        fields.get("highlight", ""),
        fields.get("question", ""),
        tuple(choice.strip() for choice in fields.get("choices", "").split("|") if choice.strip()),
        fields.get("answer", ""),
        fields.get("because", ""),
        fields.get("exported", ""),
        _deed(number, fields.get("deed", "")),
        fields.get("link", ""),
    )
    _check(number, card)
    return card


def _fields(number: int, header: str) -> Iterator[tuple[str, str]]:
    """The fields of a header, each once."""
    seen = set()
    for line in header.strip().splitlines():
        name, colon, value = (part.strip() for part in line.partition(":"))
        if not colon or name not in _FIELDS:
            known = ", ".join(_FIELDS)
            raise LessonError("bad_field", card=number, got=line.strip()[:60], known=known)
        if name in seen:
            raise LessonError("field_twice", card=number, field=name)
        seen.add(name)
        yield name, value


def _view(number: int, link: str) -> dict[str, str]:
    """The parameters in a link of the app or in its query; its language is the lesson's."""
    try:
        view = dict(parse_qsl(link.rpartition("?")[2], strict_parsing=True))
    except ValueError:
        view = {}
    view.pop("lang", None)
    if not (view.keys() >= {"model", "text"} or view.keys() >= {"run", "moment"}):
        raise LessonError("bad_view", card=number)
    return view


def _deed(number: int, text: str) -> Interventions:
    try:
        return read_deed(text) if text else NO_INTERVENTIONS
    except ExplorerError as error:
        raise LessonError("bad_deed", card=number, got=text[:60]) from error


def _refuse_long(number: int, card: Card) -> None:
    for field, limit in LONGEST_FIELDS.items():
        value = getattr(card, field)
        longest = max(map(len, value if field == "choices" else [value]), default=0)
        if longest > limit:
            facts = {"card": number, "field": field, "characters": longest, "limit": limit}
            raise LessonError("long_field", **facts)


def _check(number: int, card: Card) -> None:
    _refuse_long(number, card)
    if card.highlight and not _TESTID.fullmatch(card.highlight):
        raise LessonError("bad_highlight", card=number, got=card.highlight[:60])
    if card.link and not _LINK.fullmatch(card.link):
        raise LessonError("bad_card_link", card=number, got=card.link[:60])
    if card.deed and (card.question or card.choices or card.answer):
        raise LessonError("deed_and_question", card=number)
    if card.in_train and card.deed not in (NO_INTERVENTIONS, TRAINED_WITHOUT_MASK):
        raise LessonError("bad_run_deed", card=number, known=TRAINED_WITHOUT_MASK.texts()[0])
    missing = [name for name in _ASKED if not getattr(card, name)]
    if not card.deed and missing and (len(missing) < len(_ASKED) or card.because):
        raise LessonError("half_a_question", card=number, missing=", ".join(missing))
    if card.choices and len(card.choices) not in _CHOICES:
        most = _CHOICES[-1]
        raise LessonError("choices_count", card=number, count=len(card.choices), most=most)
    if len(set(card.choices)) < len(card.choices):
        raise LessonError("choices_equal", card=number)
    functions = RUN_ANSWERS if card.in_train else tuple(ANSWERS)
    for name in sorted(asked_of_trace(card) - set(functions)):
        known = ", ".join(get_close_matches(name[:60], functions, _NEAREST, cutoff=0))
        raise LessonError("unknown_answer", card=number, got=name[:60], known=known)


class BrokenLessonError(LessonError):
    """A file that cannot be read as a lesson, and why.

    path: of the file.
    """

    def __init__(self, path: Path, problem: ExplorerError) -> None:
        self.path = path
        self.problem = problem.alone()
        super().__init__("broken", name=one_line(path.name))

    def in_language(self, language: str) -> str:
        """Sentence with the name of the file and its fault."""
        problem = self.problem.in_language(language)
        return say("lessons.broken", language, problem=problem, **self.facts)


@dataclass(frozen=True, slots=True)
class FoundLessons:
    """The lessons in some files.

    lessons: by name, then by language, at least one, English first; in the order of display.
    broken: errors of the files that are not lessons.
    """

    lessons: Mapping[str, Mapping[str, Lesson]]
    broken: tuple[BrokenLessonError, ...]

    def in_language(self, name: str, language: str) -> Lesson | None:
        """The lesson called `name` in `language`, or None if there is no such lesson.

        Fallback: English, then any other language.
        """
        written = self.lessons.get(name, {})
        return written.get(language) or next(iter(written.values()), None)


def lesson_files(folders: Iterable[Path]) -> tuple[Path, ...]:
    """The Markdown files in these folders, except README files."""
    found = (path for folder in folders for path in sorted(folder.glob("*.md")))
    return tuple(path for path in found if path.stem.lower() != "readme")


def find_lessons(paths: Iterable[Path]) -> FoundLessons:
    """The lessons in these files, except those whose names cannot be printed.

    If two lessons have one name, the later one counts.
    """
    lessons: dict[str, dict[str, Lesson]] = {}
    broken = []
    for path in filter(has_printable_name, paths):
        try:
            name, language = _name(path)
            lessons.setdefault(name, {})[language] = read_lesson(
                read_text(path, _LARGEST), language
            )
        except ExplorerError as error:
            broken.append(BrokenLessonError(path, error))
    named = {
        name: {one: lessons[name][one] for one in LANGUAGES if one in lessons[name]}
        for name in sorted(lessons, key=_place)
        if lessons[name]
    }
    return FoundLessons(named, tuple(broken))


def _name(path: Path) -> tuple[str, str]:
    """Name and language. Raises `LessonError`."""
    name, _, language = path.stem.rpartition(".")
    if not name or language not in LANGUAGES:
        endings = ", ".join(f".{language}.md" for language in LANGUAGES)
        raise LessonError("no_language", endings=endings)
    return name, language


def _place(name: str) -> tuple[int, str]:
    return (_ORDER.index(name) if name in _ORDER else len(_ORDER), name)
