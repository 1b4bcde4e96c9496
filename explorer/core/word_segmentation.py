"""Tokens grouped into words.

Where a word begins is read from the labels, by the mark that a vocabulary puts on them; it is known
from the model, because a text of one word may have none:

    ▁    SentencePiece (Kudo & Richardson 2018, arXiv 1808.06226): before a word's first piece;
         a byte without a piece of its own is called "<0xE4>", several "<0xE4><0xB8>"
    Ġ    byte-level BPE (GPT-2, BART): before a word's first piece, other bytes as letters
    ##   WordPiece (BERT): before every piece but a word's first
    @@   subword-nmt (fairseq): after every piece but a word's last
    </w> BPE of GPT and CLIP: after a word's last piece
    ￭    OpenNMT: on the side of a piece that is joined to its neighbour

A special (<bos>, <eos>, <pad>, </s>, [SEP] …) is a word of its own, and so is a piece of
punctuation alone. An apostrophe or a hyphen between letters is inside a word, as is a point or a
comma between digits: "l'homme" is one word, whether the pieces are "▁l'" + "homme" or "▁l" + "'" +
"homme". In scripts without spaces (Chinese, Japanese, Thai …) words are not marked, and each piece
counts as one. The bytes of a character belong together. A character that is not drawn by itself
(combining marks, joiners and other format characters, variation selectors, skin tones) belongs to
the character before it, and a zero-width joiner binds the next one as well.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from explorer.core.vocabulary import BYTE, SPECIALS

_FOREIGN_SPECIALS = ("<s>", "</s>", "<mask>", "<|endoftext|>", "[PAD]", "[CLS]", "[SEP]", "[MASK]")
KNOWN_SPECIALS = frozenset((*SPECIALS, *_FOREIGN_SPECIALS))
"""Specials of this and other vocabularies. A list, not a pattern, because text may have pieces
such as <b> and [A]; without <unk>, which stands for letters of the text."""

_AFTER = ("@@", "</w>", "￭")
"""Marks that stand elsewhere than before a piece; their labels are read as those with "▁"."""

_MARKS = ("▁", "Ġ", "##", *_AFTER)
PADDING_LABELS = ("<pad>", "[PAD]")
"""The labels of padding, that of the models trained here first."""

_BYTES = re.compile(r"(?:<0x[0-9A-F]{2}>)+")
_JOINS_LETTERS = frozenset("'’-‐‑")
_JOINS_DIGITS = frozenset(".,:")
_SPACELESS = ("CJK", "HIRAGANA", "KATAKANA", "THAI", "LAO", "KHMER", "MYANMAR")
_LONGEST_CHARACTER = 4  # bytes in UTF-8
_JOINER = "\u200d"  # makes one emoji of two
_SKIN_TONES = frozenset("\U0001f3fb\U0001f3fc\U0001f3fd\U0001f3fe\U0001f3ff")


@dataclass(frozen=True, slots=True)
class Word:
    """The tokens `start` to `stop` − 1, and the text they spell."""

    label: str
    start: int
    stop: int


@dataclass(frozen=True, slots=True)
class Unit:
    """The smallest group of tokens that spells whole characters. It is one token, or all byte
    tokens of one character. Following characters without their own form, such as combining accents,
    belong to it."""

    start: int
    stop: int
    text: str
    marked: bool  # the mark of the vocabulary says that a word begins here
    special: bool


def is_special(token: str) -> bool:
    """Whether a label is a special rather than text."""
    return token in KNOWN_SPECIALS


def byte_of(token: str) -> int | None:
    """Byte of a SentencePiece label such as "<0xE4>", or None for other labels."""
    byte = BYTE.fullmatch(token)
    return int(byte[1], 16) if byte else None


def is_punctuation(token: str) -> bool:
    """Whether a label is punctuation alone, without the mark of a word: characters of the Unicode
    categories P, which "$" and "+" are not."""
    bare = token.lstrip("▁Ġ")
    bare = bare.removeprefix("##") or bare
    for mark in _AFTER:
        bare = bare.removesuffix(mark) or bare
    bare = bare.removeprefix("￭") or bare
    return bare != "" and all(unicodedata.category(letter)[0] == "P" for letter in bare)


def known_mark(facts: Mapping[str, Any], tokens: Sequence[str]) -> str:
    """The mark of words in the labels of a model or a trace with these facts.

    `facts["word_mark"]`, from the tokenizer, because a text without a space does not show the mark;
    without this fact, the mark in `tokens`.
    """
    if facts.get("unit") == "words":
        return ""
    known = facts.get("word_mark")
    return str(known) if known in (*_MARKS, "") else mark_of(tokens)


def mark_of(tokens: Sequence[str]) -> str:
    """The mark of words in these labels, the first of `_MARKS` that some have; "" without any.
    Bytes are pieces of a vocabulary with "▁"."""
    for mark in _MARKS:
        if any(_has(token, mark) for token in tokens):
            return mark
    return "▁" if any(_BYTES.fullmatch(token) for token in tokens) else ""


def grouped(tokens: Sequence[str], mark: str | None = None) -> tuple[Word, ...]:
    """The words these tokens spell, in order; every token is in exactly one.

    mark: from `mark_of`; None = that of these tokens, "" = every token is a word.
    """
    mark = mark_of(tokens) if mark is None else mark
    if not mark:
        return tuple(Word(token, position, position + 1) for position, token in enumerate(tokens))
    units = _joined(spelling(tokens, mark))
    if not units:
        return ()
    starts = [position for position in range(len(units)) if _begins(units, position, mark)]
    ends = [*starts[1:], len(units)]
    return tuple(_word(units[start:end]) for start, end in zip(starts, ends, strict=True))


def spaced(tokens: Sequence[str], mark: str | None = None) -> tuple[Word, ...]:
    """The space-separated words of the text that these tokens spell, punctuation included.

    Each special is a word of its own. mark: as in `grouped`, but a text marked with "##" has lost
    its spaces.
    """
    mark = mark_of(tokens) if mark is None else mark
    if not mark:
        return grouped(tokens, mark)
    tokens, mark = _marked_before(tokens, mark)
    starts = [
        position
        for position, token in enumerate(tokens)
        if position == 0
        or is_special(token)
        or is_special(tokens[position - 1])
        or token.startswith(mark)
    ]
    ends = [*starts[1:], len(tokens)]
    return tuple(
        Word("".join(tokens[start:end]).removeprefix(mark), start, end)
        for start, end in zip(starts, ends, strict=True)
    )


def _has(token: str, mark: str) -> bool:
    if mark in _AFTER:
        before = mark == "￭" and token.startswith(mark)
        return (before or token.endswith(mark)) and len(token) > len(mark)
    return token.startswith(mark) and (mark != "##" or len(token) > len(mark))


def _marked_before(tokens: Sequence[str], mark: str) -> tuple[Sequence[str], str]:
    """The labels with "▁" before each word instead of a mark of `_AFTER`, and the mark that they
    have then."""
    if mark not in _AFTER:
        return tokens, mark
    found, begins = [], True
    for token in tokens:
        marked = _has(token, mark)
        text = token.removesuffix(mark) if marked else token
        if marked and mark == "￭" and text.startswith(mark):
            text, begins = text.removeprefix(mark), False
        found.append(f"▁{text}" if begins and not is_special(token) else text)
        goes_on = not marked if mark == "</w>" else marked and token.endswith(mark)
        begins = is_special(token) or not goes_on
    return found, "▁"


def _word(units: Sequence[Unit]) -> Word:
    label = "".join(unit.text for unit in units) or "▁"
    return Word(label, units[0].start, units[-1].stop)


def spelling(tokens: Sequence[str], mark: str) -> Iterator[Unit]:
    """Group the tokens into units: tokens that spell a character only together form one unit."""
    tokens, mark = _marked_before(tokens, mark)
    position = 0
    while position < len(tokens):
        if is_special(tokens[position]):
            yield Unit(position, position + 1, tokens[position], True, True)
            position += 1
            continue
        stop, text = _character(tokens, position, mark)
        marked = _has(tokens[position], mark) != (mark == "##")
        yield Unit(position, stop, text, marked, False)
        position = stop


def _joined(units: Iterable[Unit]) -> list[Unit]:
    """Join each unit without its own form, such as an accent, to its neighbour."""
    joined: list[Unit] = []
    for unit in units:
        if joined and _belongs(unit, joined[-1]):
            before = joined.pop()
            unit = replace(before, stop=unit.stop, text=before.text + unit.text)
        joined.append(unit)
    return joined


def _belongs(unit: Unit, before: Unit) -> bool:
    """Whether a unit forms one character with the unit before it."""
    if unit.special or unit.marked or before.special or not unit.text:
        return False
    if before.text.endswith(_JOINER) or _is_formless(unit.text[0]):
        return True
    return before.text != "" and _is_formless(before.text)


def _is_formless(text: str) -> bool:
    """Whether none of these characters has a form of its own."""
    return all(
        letter in _SKIN_TONES or unicodedata.category(letter) in ("Cf", "Mn", "Mc", "Me")
        for letter in text
    )


def _character(tokens: Sequence[str], position: int, mark: str) -> tuple[int, str]:
    """The end and the text of the shortest run of tokens from `position` on that spells whole
    characters; if no run does, the end of the single token, and its label."""
    raw = b""
    for stop in range(position, min(position + _LONGEST_CHARACTER, len(tokens))):
        if stop > position and (
            is_special(tokens[stop]) or _has(tokens[stop], mark) != (mark == "##")
        ):
            break
        raw += _bytes(tokens[stop], mark)
        try:
            return stop + 1, raw.decode().strip()
        except UnicodeDecodeError:
            continue
    return position + 1, tokens[position]


def _bytes(token: str, mark: str) -> bytes:
    """The bytes a token spells, with a space for its mark, or without its mark."""
    if mark == "Ġ":
        letters = byte_letters()
        known = all(letter in letters for letter in token)
        return bytes(letters[letter] for letter in token) if known else token.encode()
    if mark == "##":
        return token.removeprefix("##").encode()
    bare = token.removeprefix("▁")
    if _BYTES.fullmatch(bare):
        space = b" " if bare != token else b""
        return space + bytes(int(found, 16) for found in BYTE.findall(bare))
    return token.replace("▁", " ").encode()


@cache
def byte_letters() -> Mapping[str, int]:
    """Letter of byte-level BPE → byte. A printable byte is written as itself, any other as a letter
    from U+0100 on (Radford et al. 2019, `bytes_to_unicode`)."""
    printable = [
        *range(ord("!"), ord("~") + 1),
        *range(ord("¡"), ord("¬") + 1),
        *range(0xAE, 0x100),
    ]
    others = [byte for byte in range(0x100) if byte not in set(printable)]
    return {chr(byte): byte for byte in printable} | {
        chr(0x100 + position): byte for position, byte in enumerate(others)
    }


def _begins(units: Sequence[Unit], position: int, mark: str) -> bool:
    """Whether a word begins with the unit at `position`."""
    unit = units[position]
    if position == 0 or unit.special or unit.marked:
        return True
    before = units[position - 1]
    if before.special:
        return True
    if not before.text:  # a mark alone: the word begins there
        return False
    if mark == "##":  # this piece is marked as continuing a word
        return False
    alone = _is_alone(units, position) or _is_alone(units, position - 1)
    return alone or is_spaceless(unit.text[:1]) or is_spaceless(before.text[-1:])


def _is_alone(units: Sequence[Unit], position: int) -> bool:
    """Whether a unit is punctuation that is not part of a word or a number."""
    text = units[position].text
    visible = [letter for letter in text if not _is_formless(letter)]
    if not visible or not all(unicodedata.category(letter)[0] in "PS" for letter in visible):
        return False
    if units[position].marked or not 0 < position < len(units) - 1:
        return True
    before, after = units[position - 1], units[position + 1]
    if before.special or after.special or after.marked:
        return True
    one, other = before.text[-1:], after.text[:1]
    joins = text in _JOINS_LETTERS and one.isalnum() and other.isalnum()
    return not (joins or (text in _JOINS_DIGITS and one.isdecimal() and other.isdecimal()))


def is_spaceless(letter: str) -> bool:
    """Whether a letter is of a script without spaces between words."""
    return letter != "" and unicodedata.name(letter, "").startswith(_SPACELESS)
