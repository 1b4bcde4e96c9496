"""Names, numbers and words that occur on both sides of a pair, and their replacement."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from explorer.core.vocabulary import is_chinese
from explorer.data.name_lists import ALIASES, names_by_word, numerals, word_classes
from explorer.data.parallel_corpus import Pair

NUMBER = "number"
"""The kind of an anchor that is digits or a word for a number."""

_MOST_ANCHORS = 4  # in one pair
_VOWELS = frozenset("aeiouàâéèêëîïôûüAEIOUÀÂÉÈÊËÎÏÔÛÜ")
_WITHOUT_ELISION = ("onze",)
_WORD = re.compile(r"[^\W\d_]+")
_DIGITS = re.compile(r"\d+")
_ELIDED = re.compile(r"\b(d|[Qq]u|[Ll]orsqu|[Pp]uisqu|[Jj]usqu)['’]$")
_ELIDABLE = re.compile(r"\b([dD]e|[Qq]ue|[Ll]orsque|[Pp]uisque)\s$")
_NUMERALS = "零〇一二三四五六七八九十百千万亿两几第"


@dataclass(frozen=True, slots=True)
class Anchor:
    """A name, number or word that occurs equally often on both sides of a pair.

    kind: the kind of a name, the class of a word, or `NUMBER`.
    """

    kind: str
    source: str
    target: str


def find_anchors(pair: Pair) -> tuple[Anchor, ...]:
    """The names, numbers and words of the lists that occur equally often on both sides; at most
    four."""
    found = [*_name_anchors(pair), *_digit_anchors(pair), *_word_anchors(pair)]
    return tuple(found[:_MOST_ANCHORS])


def replaced(text: str, old: str, new: str, *, elides: bool) -> str:
    """`text` with `new` for `old`; French "de" and "que" lose their e before a vowel."""
    return joined_by(_pattern(old).split(text), new, elides=elides)


def joined_by(parts: Sequence[str], new: str, *, elides: bool) -> str:
    """The parts of a text with `new` between them; French "de" and "que" lose their e before a
    vowel."""
    befores = list(parts)
    for number, before in enumerate(befores[:-1]):
        if not elides:
            continue
        vowel = new[0] in _VOWELS and new not in _WITHOUT_ELISION
        if vowel and (found := _ELIDABLE.search(before)):
            befores[number] = before[: found.end() - 2] + "'"
        elif not vowel and (found := _ELIDED.search(before)):
            befores[number] = before[:-1] + "e "
    return new.join(befores)


def _name_anchors(pair: Pair) -> Iterable[Anchor]:
    known = names_by_word()
    words = sorted({*_WORD.findall(pair.source), *_WORD.findall(pair.target)})
    for name in dict.fromkeys(known[word] for word in words if word in known):
        forms = [name.latin, *ALIASES.get(name.latin, ()), *filter(None, [name.chinese])]
        yield from _anchors(name.kind, forms, pair)


def _digit_anchors(pair: Pair) -> Iterable[Anchor]:
    runs = [_DIGITS.findall(text) for text in (pair.source, pair.target)]
    if sorted(runs[0]) == sorted(runs[1]):
        for run in dict.fromkeys(runs[0]):
            yield Anchor(NUMBER, run, run)


def _word_anchors(pair: Pair) -> Iterable[Anchor]:
    """Words for numbers, unless digits occur, and words of the classes."""
    known, text = _words_by_start(), f"{pair.source} {pair.target}"
    digits = _DIGITS.search(text)
    for start in sorted(known.keys() & _WORD.findall(text)):
        for kind, words in known[start]:
            if kind == NUMBER and digits:
                continue
            for anchor in _anchors(kind, list(dict.fromkeys(filter(None, words))), pair):
                if anchor.source != anchor.target:  # else both languages spell it alike
                    yield anchor


@cache
def _words_by_start() -> Mapping[str, Sequence[tuple[str, tuple[str, ...]]]]:
    """The class and all forms of words, by the English form up to its hyphen."""
    found: dict[str, list[tuple[str, tuple[str, ...]]]] = {}
    for kind, members in {NUMBER: numerals(), **word_classes()}.items():
        for words in members:
            found.setdefault(words[0].split("-")[0], []).append((kind, words))
    return found


def _anchors(kind: str, forms: Sequence[str], pair: Pair) -> Iterable[Anchor]:
    """The anchor that has one of `forms` on each side, equally often."""
    source, target = _only(forms, pair.source), _only(forms, pair.target)
    if source and target and _count(pair.source, source) == _count(pair.target, target):
        yield Anchor(kind, source, target)


def _only(forms: Iterable[str], text: str) -> str:
    """The one of `forms` that occurs in `text`; "" when none or several do."""
    present = [form for form in forms if form in text and _count(text, form)]
    return present[0] if len(present) == 1 else ""


def _count(text: str, form: str) -> int:
    return len(_pattern(form).findall(text))


@cache
def _pattern(form: str) -> re.Pattern[str]:
    """Matches `form` as a whole word; a Chinese numeral only if no other numeral is beside it."""
    if is_chinese(form):
        around = _NUMERALS if form[0] in _NUMERALS else ""
        return re.compile(f"(?<![{around}]){form}(?![{around}])" if around else form)
    return re.compile(rf"(?<![\w-]){re.escape(form)}(?![\w-])")
