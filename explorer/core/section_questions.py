"""What a section of the page Heads is asked, beyond the text and the head: one word of an address,
"ask", that each section writes and checks in its own way.

Links in circulation hold these words: a change of them breaks those.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, urlencode

from explorer.core.address_fields import Kind, asked, choice, declared, words_of

PATCHED_SITES = ("heads", "residual")
"""What can be patched of two texts; without one of them, nothing is."""

KEY_PARTS = ("end", "special", "content", "punctuation", "same token")
"""What a key can be: the end of its text; the beginning, the end or another special token; any
other token; punctuation alone; at another position, the token of the query."""

LARGEST_OFFSET = 999
LONGEST_LABEL = 64
"""Characters of a token that is searched for."""

_OFFSET = re.compile(r"-?[0-9]{1,3}", re.ASCII)
_LABEL = Kind("text", lambda word: word if 0 < len(word) <= LONGEST_LABEL else None, unset="")


@dataclass(frozen=True, slots=True)
class CellQuestion:
    """The cells that a corpus is searched for; see `AttentionIndex.search`.

    query, key: labels of tokens, "" = any. offset: None = any. part: one of `KEY_PARTS`, "" = any.
    """

    query: str = asked(_LABEL, "")
    key: str = asked(_LABEL, "")
    offset: int | None = asked(
        Kind("number", lambda word: int(word) if _OFFSET.fullmatch(word) else None), None
    )
    part: str = asked(choice(KEY_PARTS), "")


def _cell_question(word: str) -> CellQuestion | None:
    """The question in "key=cat&offset=-1"."""
    named = dict(parse_qsl(word, keep_blank_values=True))
    fields = declared(CellQuestion)
    read = {name: fields[name].kind.read(value) for name, value in named.items() if name in fields}
    return CellQuestion(**read) if len(read) == len(named) and None not in read.values() else None


QUESTIONS: Mapping[str, Kind] = {
    "compare": choice(PATCHED_SITES),
    "search": Kind(
        "text", _cell_question, lambda one: urlencode(words_of(one)), unset=CellQuestion()
    ),
}
"""The section → how what it is asked is written and checked; of two texts for "compare"."""


def written(section: str, question: Any) -> str:
    """What a section is asked as a word; "" = what it is asked at first."""
    kind = QUESTIONS[section]
    return kind.write(question) if kind.is_written(question) else ""
