"""Upper bound for how much longer the steps of a tokenizer may make a text before it is cut into
tokens. For example, eight steps that each replace a letter by ten of it make 10^8 letters of one.
"""

import base64
import struct
from collections.abc import Iterator, Mapping, Sequence
from math import inf
from typing import Any

LARGEST_GROWTH = 64.0
"""Characters that replacements may make of one; known tokenizers make three at most."""

MOST_STEPS = 64
"""Most steps of a tokenizer. Each may make a few characters of one."""

_MOST_BYTE_STEPS = 2
"""Most steps that write bytes as letters: each step makes two of such a letter."""

_LONGEST_PIECE = 256
"""Bytes that a table of characters may write for one character; ﷺ becomes 33."""


def may_grow(*parts: Mapping[str, Any] | None) -> bool:
    """Whether parts of a tokenizer, such as its normalizer, may make a text many times longer.

    parts: as the file of the tokenizer describes them.
    """
    every = [list(_steps(part)) for part in parts if part is not None]
    steps = [step for own in every for step in own]
    byte_steps = sum(step.get("type") == "ByteLevel" for step in steps)
    return (
        len(steps) > MOST_STEPS
        or byte_steps > _MOST_BYTE_STEPS
        or any(_longest_piece(step) > _LONGEST_PIECE for step in steps)
        or max((growth(own) for own in every), default=1.0) > LARGEST_GROWTH
    )


def growth(steps: Sequence[Mapping[str, Any]]) -> float:
    """Upper bound for the number of characters that the replacements among `steps`, one after the
    other, make of one; at least 1.

    Each character has a weight: a bound for the number of characters that the later steps make of
    it. The characters that a replacement reads share the weight of those that it writes. A regular
    expression may read any character, or none.
    """
    weights: dict[str, float] = {}
    rest = 1.0  # of every other character
    for step in reversed(steps):
        content, pattern = step.get("content"), step.get("pattern")
        if not isinstance(content, str) or not isinstance(pattern, Mapping):
            continue
        if len(content) > LARGEST_GROWTH * 1000:
            return inf
        written = sum(weights.get(character, rest) for character in content)
        if read := pattern.get("String"):
            share = written / len(read)
            weights |= {letter: max(weights.get(letter, rest), share) for letter in set(read)}
        else:
            rest += written
            weights = {letter: weight + written for letter, weight in weights.items()}
    return max(rest, *weights.values()) if weights else rest


def _steps(part: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The steps of a part, in order; a part of type "Sequence" holds a list of steps."""
    inner = next((value for value in part.values() if isinstance(value, list)), None)
    if part.get("type") != "Sequence" or inner is None:
        yield part
        return
    for step in inner:
        if isinstance(step, Mapping):
            yield from _steps(step)


def _longest_piece(step: Mapping[str, Any]) -> int:
    """The most bytes that a SentencePiece table of characters writes for one; 0 without a table.

    The table is the size of a trie, the trie, and then the replacements, each ended by a zero byte.
    """
    table = step.get("precompiled_charsmap")
    if not isinstance(table, str):
        return 0
    data = base64.b64decode(table)
    (size,) = struct.unpack("<I", data[:4].ljust(4, b"\0"))
    return max(map(len, data[4 + size :].split(b"\0")))
