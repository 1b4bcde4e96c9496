"""State of the search of a corpus: what is asked for, besides the head, which is the one on
screen."""

from dataclasses import dataclass, replace
from typing import Any

from explorer.app.state import session


@dataclass(frozen=True, slots=True)
class Question:
    """The cells that are asked for; see `AttentionIndex.search`.

    query, key: labels of tokens, "" = any. offset: None = any. part: what the key is, "" = any.
    """

    query: str = ""
    key: str = ""
    offset: int | None = None
    part: str = ""


def question() -> Question:
    """What the visitor asks for."""
    return session.load(Question)


def ask(**fields: Any) -> None:
    """Set fields of the question."""
    session.save(replace(question(), **fields))
