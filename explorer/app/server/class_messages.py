"""What the pages of a class send, checked: the host's screen, a vote, and an address for a code.

All raise `ValueError` on anything else.
"""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

from explorer.app.server.class_session import Question, Screen
from explorer.core import json_values
from explorer.core.vocabulary import LONGEST_LINKED_TEXT

LARGEST_SCREEN = 64 * 1024
LARGEST_VOTE = 200
LONGEST_ADDRESS = 1500
"""Characters that a code holds which can still be read from the back row."""

_MOST_TOKENS, _MOST_CANDIDATES, _LONGEST_LABEL = 16, 200, 100
_PAGE = re.compile(r"[a-z0-9]{0,40}", re.ASCII)
_LARGEST_NUMBER = 1_000_000
_VISIT = ("model", "text", "pad", "force")
_SELECTION = (
    "site",
    "layer",
    "head",
    "step",
    "alignment",
    "ahead",
    "guess",
    "cell",
    "inside",
    "shows",
    "next",
    "words",
)
_SHOWN = (
    "site",
    "layer",
    "head",
    "shows",
    "step",
    "words",
    "alignment",
    "ahead",
    "guess",
    "inside",
    "insideView",
)


def read_screen(body: bytes) -> Screen:
    """What the host's page publishes."""
    values = json_values.parse_object(body)
    view, question = values.get("view"), values.get("question")
    return Screen(
        view=None if view is None else _view(view),
        question=None if question is None else _question(question),
        page=read_page(values.get("page", "")),
    )


def read_page(value: Any) -> str:
    """The word by which a tab is known."""
    if not isinstance(value, str) or not _PAGE.fullmatch(value):
        raise ValueError("no page")
    return value


def read_leader(body: bytes) -> str:
    """The tab that is to lead."""
    return read_page(json_values.parse_object(body).get("page"))


def read_vote(body: bytes) -> tuple[int, int]:
    """The number of a question, and the index of a candidate."""
    values = json_values.parse_object(body)
    return _whole(values.get("number")), _whole(values.get("choice"))


def read_address(body: bytes) -> str:
    """The address of a page that is to be shown as a code."""
    address = body.decode()
    if len(address) > LONGEST_ADDRESS or not address.isprintable():
        raise ValueError("no address")
    parts = urlsplit(address)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError("no address")
    return address


def _view(value: Any) -> Mapping[str, Any]:
    """The query of the visit, and what is shown of it as the player's state."""
    if not isinstance(value, dict) or value.keys() != {"query", "shown"}:
        raise ValueError("no view")
    query, shown = value["query"], value["shown"]
    if not isinstance(query, dict) or not set(_VISIT[:3]) <= query.keys():
        raise ValueError("no visit")
    if not query.keys() <= {*_VISIT, *_SELECTION} or not isinstance(shown, dict):
        raise ValueError("no visit")
    if not all(
        isinstance(word, str) and len(word) <= LONGEST_LINKED_TEXT for word in query.values()
    ):
        raise ValueError("no query")
    return {"query": query, "shown": {name: _plain(shown.get(name)) for name in _SHOWN}}


def _plain(value: Any) -> Any:
    """A value of the state: a word, a number, or an object of numbers."""
    if isinstance(value, dict):
        return {_label(name): _plain_number(one) for name, one in list(value.items())[:8]}
    return _label(value) if isinstance(value, str) else _plain_number(value)


def _plain_number(value: Any) -> int | bool | None:
    return value if value is None or isinstance(value, bool) else _whole(value, least=-2)


def _question(value: Any) -> Question:
    if not isinstance(value, dict):
        raise ValueError("no question")
    tokens, candidates = value.get("tokens"), value.get("candidates")
    if not isinstance(tokens, list) or not isinstance(candidates, list):
        raise ValueError("no question")
    if len(tokens) > _MOST_TOKENS or not 0 < len(candidates) <= _MOST_CANDIDATES:
        raise ValueError("no question")
    answer = value.get("answer")
    question = Question(
        tuple(map(_label, tokens)),
        tuple(map(_label, candidates)),
        None if answer is None else _whole(answer),
    )
    return _key_question(question, value) if value.get("kind") == "key" else question


def _key_question(question: Question, value: Mapping[str, Any]) -> Question:
    """The same with the head whose key is guessed, and the position of each candidate."""
    positions = value.get("positions")
    if not isinstance(positions, list) or len(positions) != len(question.candidates):
        raise ValueError("no positions")
    head, keys = _label(value.get("head")), tuple(map(_whole, positions))
    return replace(question, kind="key", head=head, positions=keys)


def _label(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError("no word")
    return value[:_LONGEST_LABEL]


def _whole(value: Any, least: int = 0) -> int:
    if (
        isinstance(value, bool)
        or not isinstance(value, int)
        or not least <= value <= _LARGEST_NUMBER
    ):
        raise ValueError("no number")
    return value
