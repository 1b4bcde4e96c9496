"""Messages from the pages of a class, checked: the host's screen, a vote, the curve of a training,
and an address for a code.

All raise `ValueError` on anything else.
"""

from itertools import pairwise
from typing import Annotated, Literal
from urllib.parse import urlsplit

import msgspec
from msgspec import Meta

from explorer.app.server.class_session import Question, Screen
from explorer.components.class_curves_figure import Curve
from explorer.components.training_replay.run_numbers import MOST_RUNS
from explorer.core import json_values
from explorer.core.address_fields import declared
from explorer.core.look import Reading, Request, Selection
from explorer.core.sites import SITES
from explorer.core.vocabulary import LONGEST_LINKED_TEXT
from explorer.data.task_names import TASK_NAMES

LARGEST_SCREEN = 64 * 1024
LARGEST_VOTE = 200
LARGEST_CURVE = 4096
LONGEST_ADDRESS = 1500
"""Most characters in a code that can still be read from the back row."""

MOST_CANDIDATES = 16
MOST_POINTS = 60
MOST_LAYERS = MOST_HEADS = 4  # of a model that a browser trains
_LONGEST_LABEL = 100
_LONGEST_SENTENCE = 1000
_REQUIRED = {"model", "text", "pad"}
_SHOWN = [one for one in declared(Selection).values() if one.state]  # by the player
_ASKED = (*declared(Request).values(), *declared(Reading).values())
_QUERY = {one.word for one in (*_ASKED, *_SHOWN)}

_Page = Annotated[str, Meta(pattern=r"^[a-z0-9]{0,40}\Z")]
_Count = Annotated[int, Meta(ge=0, le=1_000_000)]
_Number = Annotated[int, Meta(ge=-2, le=1_000_000)] | bool | None
_Sentence = Annotated[str, Meta(max_length=_LONGEST_SENTENCE)]
_Run = Annotated[str, Meta(pattern=r"^(runs|recorded)/[\w-][\w.-]{0,59}\Z")]
_Site = Annotated[str, Meta(pattern=rf"^({'|'.join(SITES)})\Z")]
_Task = Annotated[str, Meta(pattern=rf"^({'|'.join(TASK_NAMES)})\Z")]
_CurveWord = Annotated[str, Meta(pattern=r"^[a-z0-9]{1,40}\Z")]
_Seed = Annotated[int, Meta(ge=0, le=2**31)]
_Share = Annotated[float, Meta(ge=0, le=1)]
_TraceKey = Annotated[str, Meta(pattern=r"^([0-9a-f]{64})?\Z")]


class _Card(msgspec.Struct, forbid_unknown_fields=True):
    """A card of a lesson, as guests read it.

    number, cards: its place, from 1, and how many cards the lesson has.
    because: what is right, and why; "" before the host has answered.
    """

    title: _Sentence
    number: _Count
    cards: _Count
    text: _Sentence
    because: _Sentence = ""


class _Training(msgspec.Struct, forbid_unknown_fields=True):
    """The training on the host's screen.

    run, others: root and name of the run, and of those compared with it.
    revision: grows when the state of the run has changed.
    moment: step of the one selected; None = the newest, as it comes.
    layer, head: None = those of the sharpest head.
    """

    run: _Run
    others: Annotated[list[_Run], Meta(max_length=MOST_RUNS - 1)]
    revision: Annotated[int, Meta(ge=0, le=2**53)]
    moment: Annotated[int, Meta(ge=0, lt=10**9)] | None
    site: _Site
    layer: _Number
    head: _Number


class _Guess(msgspec.Struct, forbid_unknown_fields=True):
    """What is hidden. rows, tokens: steps whose weights, and whose next tokens, are known."""

    weightsToo: bool  # noqa: N815  (as the player names it)
    rows: _Count
    tokens: _Count


class _View(msgspec.Struct, forbid_unknown_fields=True):
    """The host's view.

    query: of the link that opens it; without a model, text and padding if only this server has the
        trace.
    guess: what the class is guessing; None = nothing.
    trace: key of the trace, see `trace_route`; "" = it has none.
    picture: of the trace: the player or the grid of all heads.
    paused: whether the host is on a page without a picture; guests keep the last one.
    scores: whether guests see how many of their votes were right.
    training: in the place of a trace.
    """

    query: dict[str, Annotated[str, Meta(max_length=LONGEST_LINKED_TEXT)]]
    guess: _Guess | None = None
    trace: _TraceKey = ""
    picture: Literal["player", "heads"] = "player"
    paused: bool = False
    scores: bool = False
    card: _Card | None = None
    training: _Training | None = None


class _Question(msgspec.Struct):
    tokens: Annotated[tuple[str, ...], Meta(max_length=16)]
    candidates: Annotated[tuple[str, ...], Meta(min_length=1, max_length=MOST_CANDIDATES)]
    answer: _Count | None = None
    kind: Literal["token", "key", "card", "picture"] = "token"
    head: str = ""
    positions: tuple[_Count, ...] = ()
    prompt: _Sentence = ""


class _Screen(msgspec.Struct):
    view: _View | None = None
    question: _Question | None = None
    page: _Page = ""


class _Leader(msgspec.Struct):
    page: _Page


class _Vote(msgspec.Struct):
    number: _Count
    choice: _Count


class _Curve(msgspec.Struct, forbid_unknown_fields=True):
    """A training in a guest's browser; see `Curve`. training: a word made for it."""

    training: _CurveWord
    task: _Task
    causal: bool
    seed: _Seed
    points: Annotated[tuple[tuple[_Count, _Share], ...], Meta(min_length=1, max_length=MOST_POINTS)]
    gold: Annotated[
        tuple[Annotated[tuple[_Share, ...], Meta(min_length=1, max_length=MOST_HEADS)], ...],
        Meta(min_length=1, max_length=MOST_LAYERS),
    ]
    finished: bool


def read_screen(body: bytes) -> Screen:
    """The screen that the host's page publishes."""
    screen = msgspec.convert(json_values.parse_object(body), _Screen)
    view, question = screen.view, screen.question
    return Screen(
        view=None if view is None else _checked(view),
        question=None if question is None else _cut(question),
        page=screen.page,
    )


def _checked(view: _View) -> dict[str, object]:
    """The view as guests receive it."""
    named = view.training or view.trace or view.query.keys() >= _REQUIRED
    if not named or not view.query.keys() <= _QUERY:
        raise ValueError("no visit")
    return dict(msgspec.to_builtins(view))


def read_page(value: object) -> str:
    """The word that identifies a tab."""
    return msgspec.convert(value, _Page)


def read_leader(body: bytes) -> str:
    """The tab that takes the lead."""
    return msgspec.convert(json_values.parse_object(body), _Leader).page


def read_vote(body: bytes) -> tuple[int, int]:
    """The number of a question, and the index of a candidate."""
    vote = msgspec.convert(json_values.parse_object(body), _Vote)
    return vote.number, vote.choice


def read_curve(body: bytes) -> tuple[str, Curve]:
    """The word of a training, and what is shared of it."""
    read = msgspec.convert(json_values.parse_object(body), _Curve)
    if any(later <= step for (step, _), (later, _) in pairwise(read.points)):
        raise ValueError("no curve")
    curve = Curve(read.task, read.causal, read.seed, read.points, read.gold, read.finished)
    return read.training, curve


def read_address(body: bytes) -> str:
    """The address of a page to show as a code."""
    address = body.decode()
    if len(address) > LONGEST_ADDRESS or not address.isprintable():
        raise ValueError("no address")
    parts = urlsplit(address)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError("no address")
    return address


def _cut(asked: _Question) -> Question:
    """The question with short labels. One on a key names the head whose key is guessed, and the
    position of each candidate; one of a card has its prompt."""
    tokens, candidates = (
        tuple(label[:_LONGEST_LABEL] for label in labels)
        for labels in (asked.tokens, asked.candidates)
    )
    if asked.kind == "token":
        return Question(tokens, candidates, asked.answer)
    if asked.kind == "card":
        return Question(tokens, candidates, asked.answer, "card", prompt=asked.prompt)
    head = asked.head[:_LONGEST_LABEL]
    if asked.kind == "picture":
        return Question(tokens, candidates, asked.answer, "picture", head)
    if len(asked.positions) != len(candidates):
        raise ValueError("no positions")
    return Question(tokens, candidates, asked.answer, "key", head, asked.positions)
