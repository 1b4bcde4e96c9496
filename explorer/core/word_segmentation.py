"""Tokens grouped into words.

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
there each piece counts as one. The bytes of a character always belong together, and so do the
characters of what is read as one: what is not seen by itself (combining marks, joiners and other
format characters, variation selectors, skin tones) belongs to the character before it, and a
zero-width joiner binds the next one too.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache

from explorer.core.vocabulary import SPECIALS

_OTHERS = ("<s>", "</s>", "<mask>", "<|endoftext|>", "[PAD]", "[CLS]", "[SEP]", "[MASK]")
KNOWN_SPECIALS = frozenset((*SPECIALS, *_OTHERS))
"""The vocabularies' own marks, ours and others'. A list and no pattern, for text has pieces such
as <b> and [A]; <unk> is not among them, as it stands for letters of the text."""

_BYTE = re.compile(r"<0x([0-9A-F]{2})>")
_JOINS_LETTERS = frozenset("'’-‐‑")
_JOINS_DIGITS = frozenset(".,:")
_SPACELESS = ("CJK", "HIRAGANA", "KATAKANA", "THAI", "LAO", "KHMER", "MYANMAR")
_LONGEST_CHARACTER = 4  # bytes in UTF-8
_JOINER = "\u200d"  # makes one picture of two emoji
_SKIN_TONES = frozenset("\U0001f3fb\U0001f3fc\U0001f3fd\U0001f3fe\U0001f3ff")


@dataclass(frozen=True, slots=True)
class Word:
    """The tokens `start` to `stop` − 1, and what they spell."""

    label: str
    start: int
    stop: int


@dataclass(frozen=True, slots=True)
class _Unit:
    """The fewest tokens that spell whole characters: one, or the bytes of one character, with
    those of the characters that are not seen without it."""

    start: int
    stop: int
    text: str
    marked: bool  # the vocabulary says that a word begins here
    special: bool


def is_special(token: str) -> bool:
    """Whether a label is one of the vocabulary's own marks rather than text."""
    return token in KNOWN_SPECIALS


def byte_of(token: str) -> int | None:
    """The byte a SentencePiece label stands for, of a character that has no piece; else None."""
    byte = _BYTE.fullmatch(token)
    return int(byte[1], 16) if byte else None


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
    units = _joined(_units(tokens, mark))
    if not units:
        return ()
    starts = [place for place in range(len(units)) if _begins(units, place, mark)]
    ends = [*starts[1:], len(units)]
    return tuple(_word(units[start:end]) for start, end in zip(starts, ends, strict=True))


def _has(token: str, mark: str) -> bool:
    return token.startswith(mark) and (mark != "##" or len(token) > len(mark))


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


def _joined(units: Iterable[_Unit]) -> list[_Unit]:
    """The units, each that is not seen by itself as one with its neighbour."""
    joined: list[_Unit] = []
    for unit in units:
        if joined and _belongs(unit, joined[-1]):
            before = joined.pop()
            unit = replace(before, stop=unit.stop, text=before.text + unit.text)
        joined.append(unit)
    return joined


def _belongs(unit: _Unit, before: _Unit) -> bool:
    """Whether a unit makes one character with the one before it."""
    if unit.special or unit.marked or before.special or not unit.text:
        return False
    if before.text.endswith(_JOINER) or _is_unseen(unit.text[0]):
        return True
    return before.text != "" and _is_unseen(before.text)


def _is_unseen(text: str) -> bool:
    """Whether none of these characters is seen by itself."""
    return all(
        letter in _SKIN_TONES or unicodedata.category(letter) in ("Cf", "Mn", "Mc", "Me")
        for letter in text
    )


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
    byte = byte_of(token)
    return token.replace("▁", " ").encode() if byte is None else bytes([byte])


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
    seen = [letter for letter in text if not _is_unseen(letter)]
    if not seen or not all(unicodedata.category(letter)[0] in "PS" for letter in seen):
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
