"""Pieces grouped into words, and a trace of pieces merged into a trace of words.

Where a word begins is read off the labels, by the mark the vocabulary leaves on them:

    ▁    SentencePiece (Kudo & Richardson 2018, arXiv 1808.06226): before a word's first piece;
         a byte without a piece of its own is called "<0xE4>"
    Ġ    byte-level BPE (GPT-2, BART): before a word's first piece, other bytes as letters
    ##   WordPiece (BERT): before every piece but a word's first

A special (<bos>, <eos>, <pad>, </s>, [SEP] …) is a word of its own, and so is a piece of nothing
but punctuation. An apostrophe or a hyphen between letters is inside a word, as is a point or a
comma between digits: whether "l'homme" is cut at the apostrophe would otherwise depend on how
the vocabulary happens to cut it ("▁l'" + "homme", or "▁l" + "'" + "homme"), and what people see
between two spaces is one word. Scripts without spaces (Chinese, Japanese, Thai …) mark no words:
there each piece counts as one. The bytes of a character always belong together.
"""

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.masks import EDITED, LATER, OPEN, PADDING
from explorer.trace import Trace

_SPECIAL = re.compile(r"</?[a-z]+>|\[[A-Z]+\]|<\|[^|]*\|>")
_UNKNOWN = ("<unk>", "[UNK]")  # stand for letters of the text
_BYTE = re.compile(r"<0x([0-9A-F]{2})>")
_JOINS_LETTERS = frozenset("'’-‐‑")
_JOINS_DIGITS = frozenset(".,:")
_SPACELESS = ("CJK", "HIRAGANA", "KATAKANA", "THAI", "LAO", "KHMER", "MYANMAR")
_LONGEST_CHARACTER = 4  # bytes in UTF-8


@dataclass(frozen=True, slots=True)
class Word:
    """The tokens `start` to `stop` − 1, and what they spell."""

    label: str
    start: int
    stop: int


@dataclass(frozen=True, slots=True)
class _Unit:
    """The fewest tokens that spell whole characters: one, or the bytes of one character."""

    start: int
    stop: int
    text: str
    marked: bool  # the vocabulary says that a word begins here
    special: bool


def is_special(token: str) -> bool:
    """Whether a label is one of the vocabulary's own marks rather than text."""
    return token not in _UNKNOWN and _SPECIAL.fullmatch(token) is not None


def mark_of(tokens: Sequence[str]) -> str:
    """The mark with which these labels tell words apart: "▁", "Ġ" or "##"; "" without any."""
    marks = (mark for mark in ("▁", "Ġ", "##") if any(_has(token, mark) for token in tokens))
    return next(marks, "")


def grouped(tokens: Sequence[str], mark: str | None = None) -> tuple[Word, ...]:
    """The words these tokens spell, in order, every token in exactly one.

    mark: as `mark_of` has it; None = the one the tokens themselves bear. With "" every token is
    a word.
    """
    mark = mark_of(tokens) if mark is None else mark
    if not mark:
        return tuple(Word(token, place, place + 1) for place, token in enumerate(tokens))
    units = list(_units(tokens, mark))
    if not units:
        return ()
    starts = [place for place in range(len(units)) if _begins(units, place, mark)]
    ends = [*starts[1:], len(units)]
    return tuple(_word(units[start:end]) for start, end in zip(starts, ends, strict=True))


def source_words(trace: Trace) -> tuple[Word, ...]:
    """The words of the source, over its S positions."""
    return grouped(trace.source_tokens, _mark(trace))


def target_words(trace: Trace) -> tuple[Word, ...]:
    """The words fed in, over the T rows; of a word cut off at the longest output, what was."""
    return _target(trace)[0]


def has_words(trace: Trace) -> bool:
    """Whether any word has more than one piece, so that merging would change the picture."""
    everything = (*source_words(trace), *target_words(trace))
    return any(word.stop - word.start > 1 for word in everything)


def merge(trace: Trace) -> Trace:
    """`trace` with words for pieces.

    For words Q of query pieces and K of key pieces:

        A'[Q, K] = 1/|Q| · Σ_{q ∈ Q} Σ_{k ∈ K} A[q, k]

    the sum over key pieces, because what a query puts on the pieces of a word it puts on the
    word; the mean over query pieces, because each of them shares out 1. So rows still sum to 1:
    Σ_K A'[Q, K] = 1/|Q| · Σ_q Σ_k A[q, k] = 1/|Q| · |Q|.

    A cell is closed where all its piece cells are (padding wins over later, later over edited).
    A target row is the word fed in. What it predicts is what its last piece predicts, shown as
    the whole next word; the candidates of a step are that piece's, so they are first *pieces* of
    the next word, and `losses` are theirs. Where the right alignment of any piece is known, it
    is the word's. `facts["unit"]` is "words". Scores, values and head outputs are left behind:
    no sum or mean of them is what a head computed.

    `integrity` measures the merged arrays; what the model measured carries over, and of a trace
    that was tampered with the merged one says so too.
    """
    source = source_words(trace)
    target, predicted = _target(trace)
    axes = {"encoder": (source, source), "decoder": (target, target), "cross": (target, source)}
    arrays: dict[str, NDArray[Any]] = {}
    for site in trace.sites:
        arrays[f"{site}.attention"] = merged_weights(trace.attention(site), *axes[site])
        arrays[f"{site}.closed"] = _merged_closed(trace.arrays[f"{site}.closed"], *axes[site])
    if trace.gold is not None:
        arrays["gold"] = _any_cell(trace.gold, target, source)
    steps, candidates = _merged_steps(trace, target)
    changed = not trace.integrity().set_index("check").loc["unchanged_since_capture", "ok"]
    return Trace(
        source_tokens=tuple(word.label for word in source),
        target_tokens=tuple(word.label for word in target),
        predicted_tokens=predicted,
        text=trace.text,
        arrays=arrays | steps,
        candidate_tokens=candidates,
        measured=trace.measured,
        facts={**trace.facts, "unit": "words"},
        digest=trace.digest if changed else "",  # another trace's: it will not fit
    )


def merged_weights(
    weights: NDArray[np.float32], queries: Sequence[Word], keys: Sequence[Word]
) -> NDArray[np.float32]:
    """(…, query, key) of pieces → of words: summed over keys, averaged over queries."""
    summed = np.add.reduceat(weights, _starts(keys), axis=-1, dtype=np.float64)
    sizes = np.array([word.stop - word.start for word in queries])
    mean = np.add.reduceat(summed, _starts(queries), axis=-2) / sizes[:, None]
    return mean.astype(np.float32)


def _merged_closed(
    closed: NDArray[np.uint8], queries: Sequence[Word], keys: Sequence[Word]
) -> NDArray[np.uint8]:
    """Codes of `REASONS` of words: open where any piece cell is."""
    has = {code: _any_cell(closed == code, queries, keys) for code in (OPEN, PADDING, LATER)}
    return np.select(list(has.values()), list(has), EDITED).astype(np.uint8)


def _any_cell(
    cells: NDArray[np.bool_], queries: Sequence[Word], keys: Sequence[Word]
) -> NDArray[np.bool_]:
    """(…, query, key) of pieces → of words: True where any piece cell is."""
    columns = np.logical_or.reduceat(cells, _starts(keys), axis=-1)
    merged: NDArray[np.bool_] = np.logical_or.reduceat(columns, _starts(queries), axis=-2)
    return merged


def _merged_steps(
    trace: Trace, target: Sequence[Word]
) -> tuple[dict[str, NDArray[Any]], tuple[str, ...]]:
    """The candidates at the last piece of each word, one step a word."""
    if "steps.step" not in trace.arrays:
        return {}, ()
    last = np.array([word.stop for word in target])  # step of the last piece
    step = trace.arrays["steps.step"]
    kept = np.isin(step, last)
    columns = {
        name: array[kept] for name, array in trace.arrays.items() if name.startswith("steps.")
    }
    columns["steps.step"] = np.searchsorted(last, step[kept]) + 1
    return columns, tuple(np.array(trace.candidate_tokens, dtype=object)[kept])


def _target(trace: Trace) -> tuple[tuple[Word, ...], tuple[str, ...]]:
    """The words fed in, and what each predicts.

    The last prediction was not fed in, yet it may go on with the last word or show that an
    apostrophe is inside one: so it takes part in the grouping.
    """
    mark, fed = _mark(trace), trace.target_tokens
    predicted = trace.predicted_tokens
    if not fed:
        return (), ()
    if predicted[:-1] != fed[1:]:  # of another text: each row's own guess, or none at all
        words = grouped(fed, mark)
        guesses = [predicted[word.stop - 1 : word.stop] for word in words] if predicted else []
        return words, tuple(_spelt(guess, mark) for guess in guesses)
    words = grouped((*fed, *predicted[-1:]), mark)
    labels = [word.label for word in words[1:]]
    last = words[-1]
    if last.start == len(fed):
        return words[:-1], tuple(labels)
    begun = Word(_spelt(fed[last.start :], mark), last.start, len(fed))
    return (*words[:-1], begun), (*labels, _spelt(predicted[-1:], mark))


def _mark(trace: Trace) -> str:
    return mark_of((*trace.source_tokens, *trace.target_tokens, *trace.predicted_tokens))


def _starts(words: Sequence[Word]) -> NDArray[np.intp]:
    return np.array([word.start for word in words], dtype=np.intp)


def _has(token: str, mark: str) -> bool:
    return token.startswith(mark) and (mark != "##" or len(token) > len(mark))


def _spelt(tokens: Sequence[str], mark: str) -> str:
    """What these tokens spell."""
    return "".join(word.label for word in grouped(tokens, mark))


def _word(units: Sequence[_Unit]) -> Word:
    label = "".join(unit.text for unit in units) or "▁"
    return Word(label, units[0].start, units[-1].stop)


def _units(tokens: Sequence[str], mark: str) -> Iterator[_Unit]:
    """The tokens, those that only together spell a character as one."""
    place = 0
    while place < len(tokens):
        if is_special(tokens[place]):
            yield _Unit(place, place + 1, tokens[place], True, True)
            place += 1
            continue
        stop, text = _character(tokens, place, mark)
        marked = _has(tokens[place], mark) != (mark == "##")
        yield _Unit(place, stop, text, marked, False)
        place = stop


def _character(tokens: Sequence[str], place: int, mark: str) -> tuple[int, str]:
    """Where the token at `place`, with the next where it needs them, spells whole characters,
    and what; the token alone, by its label, where it never does."""
    raw = b""
    for stop in range(place, min(place + _LONGEST_CHARACTER, len(tokens))):
        if stop > place and (
            is_special(tokens[stop]) or _has(tokens[stop], mark) != (mark == "##")
        ):
            break
        raw += _bytes(tokens[stop], mark)
        try:
            return stop + 1, raw.decode().strip()
        except UnicodeDecodeError:
            continue
    return place + 1, tokens[place]


def _bytes(token: str, mark: str) -> bytes:
    """What a token spells, its mark as a space or left out."""
    if mark == "Ġ":
        letters = _byte_letters()
        known = all(letter in letters for letter in token)
        return bytes(letters[letter] for letter in token) if known else token.encode()
    if mark == "##":
        return token.removeprefix("##").encode()
    byte = _BYTE.fullmatch(token)
    return bytes([int(byte[1], 16)]) if byte else token.replace("▁", " ").encode()


@cache
def _byte_letters() -> Mapping[str, int]:
    """The letter byte-level BPE writes for each byte → the byte: itself where it can be seen,
    else one from U+0100 on (Radford et al. 2019, `bytes_to_unicode`)."""
    seen = [*range(ord("!"), ord("~") + 1), *range(ord("¡"), ord("¬") + 1), *range(0xAE, 0x100)]
    unseen = [byte for byte in range(0x100) if byte not in set(seen)]
    return {chr(byte): byte for byte in seen} | {
        chr(0x100 + place): byte for place, byte in enumerate(unseen)
    }


def _begins(units: Sequence[_Unit], place: int, mark: str) -> bool:
    """Whether a word begins with the unit at `place`."""
    unit = units[place]
    if place == 0 or unit.special or unit.marked:
        return True
    before = units[place - 1]
    if before.special:
        return True
    if not before.text:  # a mark alone: what follows is the word it announces
        return False
    if mark == "##":  # and this piece says that it goes on
        return False
    alone = _is_alone(units, place) or _is_alone(units, place - 1)
    return alone or _is_spaceless(unit.text[:1]) or _is_spaceless(before.text[-1:])


def _is_alone(units: Sequence[_Unit], place: int) -> bool:
    """Whether a unit is punctuation and no part of a word or a number."""
    text = units[place].text
    if not text or not all(unicodedata.category(letter)[0] in "PS" for letter in text):
        return False
    if units[place].marked or not 0 < place < len(units) - 1:
        return True
    before, after = units[place - 1], units[place + 1]
    if before.special or after.special or after.marked:
        return True
    one, other = before.text[-1:], after.text[:1]
    joins = text in _JOINS_LETTERS and one.isalnum() and other.isalnum()
    return not (joins or (text in _JOINS_DIGITS and one.isdecimal() and other.isdecimal()))


def _is_spaceless(letter: str) -> bool:
    """Whether a letter is of a script that sets no spaces between words."""
    return letter != "" and unicodedata.name(letter, "").startswith(_SPACELESS)
