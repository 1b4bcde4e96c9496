"""Names and numbers exchanged on both sides of a pair, and lines whose translation is a copy.

From a corpus with few names and numbers a model learns only those few. A name or number that
occurs on both sides of a pair is replaced on both by another one from a list, so that the model
learns to copy names it has not seen (placeholders for names: Crego et al. 2016, arXiv 1610.05540;
here the names themselves). Copied lines: Currey et al. 2017, "Copied Monolingual Data Improves
Low-Resource Neural Machine Translation", WMT.

The lists are in this folder, one entry a line, columns separated by tabs:

    names.tsv          kind (male, female, surname, city), Latin form, Chinese form if any
    chinese_names.tsv  role (surname, given), character, pinyin
    numerals.tsv       value, then the word for it in several languages
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TypeVar

import numpy as np

from explorer.core.vocabulary import is_chinese
from explorer.data.parallel_corpus import Pair

PERSONS = ("male", "female")

_ALIASES = {"Mary": ("Marie",)}  # other forms of a name, to be found but not put in
_BLENDED = 0.2  # share of the names that are made of two, so that there are endlessly many
_FULL = 0.15  # share of the persons that get a surname
_CHINESE = 0.15  # share of the persons with a Chinese name; half of them beside Chinese text
_RANGES = ((2, 13), (2, 60), (10, 100), (10, 100), (100, 1000), (1000, 2100), (2000, 100_000))
_SMALL_RANGES = 5
_MOST_ANCHORS = 4  # in one pair
_VOWELS = frozenset("aeiouàâéèêëîïôûüAEIOUÀÂÉÈÊËÎÏÔÛÜ")
_WORD = re.compile(r"[^\W\d_]+")
_DIGITS = re.compile(r"\d+")
_ELIDED = re.compile(r"\b(d|[Qq]u|[Ll]orsqu|[Pp]uisqu|[Jj]usqu)['’]$")
_ELIDABLE = re.compile(r"\b([dD]e|[Qq]ue|[Ll]orsque|[Pp]uisque)\s$")
_NUMERALS = "零〇一二三四五六七八九十百千万亿两几第"

Random = np.random.Generator
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Name:
    """A name in Latin letters and, where the list has it, in Chinese characters."""

    kind: str
    latin: str
    chinese: str = ""


@dataclass(frozen=True, slots=True)
class Anchor:
    """A name or number that occurs equally often on both sides of a pair.

    kind: that of a name, or "number".
    """

    kind: str
    source: str
    target: str


class Augmentation:
    """New pairs from the pairs of a corpus. Every choice comes from the generator given."""

    def __init__(self, pairs: Sequence[Pair]) -> None:
        self._pairs = pairs
        self._anchors = {
            number: anchors for number, pair in enumerate(pairs) if (anchors := find_anchors(pair))
        }
        self._elides = [
            _elides(texts)
            for texts in ([pair.source for pair in pairs], [pair.target for pair in pairs])
        ]
        self._source_is_chinese = _mostly_chinese(pair.source for pair in pairs)
        self._target_is_chinese = _mostly_chinese(pair.target for pair in pairs)

    def swapped(self, number: int, chance: float, random: Random) -> Pair:
        """The pair of that number; with `chance`, other names and numbers are in it."""
        pair = self._pairs[number]
        anchors = self._anchors.get(number)
        if anchors is None or random.random() >= chance:
            return pair
        for anchor in anchors:
            pair = self._swap(pair, anchor, random)
        return pair

    def sample(self, chance: float, seed: int) -> list[Pair]:
        """As many swapped pairs as an epoch has, for learning the pieces of their names."""
        random = np.random.default_rng(seed)
        numbers = [number for number in self._anchors if random.random() < chance]
        return [self.swapped(number, 1.0, random) for number in numbers]

    def copied(self, random: Random) -> Pair:
        """A line and its translation that differ at most in their script: a target sentence,
        a few names, or a few numbers."""
        kind = random.integers(4)
        if kind < 2:
            target = _choice(self._pairs, random).target
            return Pair(target, target)
        if kind == 2:
            numbers = [random_number(random) for _ in range(random.integers(1, 5))]
            text = str(random.choice([", ", " ", ":", "-"])).join(numbers)
            return Pair(text, text)
        names = [
            self._random_name(str(random.choice([*PERSONS, "city"])), random)
            for _ in range(random.integers(1, 4))
        ]
        return Pair(
            _joined((self._form(name, True) for name in names), self._source_is_chinese),
            _joined((self._form(name, False) for name in names), self._target_is_chinese),
        )

    def _swap(self, pair: Pair, anchor: Anchor, random: Random) -> Pair:
        if anchor.kind == "number":
            source, target = _new_numbers(anchor, random)
        else:
            name = self._random_name(anchor.kind, random)
            source = name.chinese if is_chinese(anchor.source) and name.chinese else name.latin
            target = name.chinese if is_chinese(anchor.target) and name.chinese else name.latin
        return Pair(
            _replaced(pair.source, anchor.source, source, elides=self._elides[0]),
            _replaced(pair.target, anchor.target, target, elides=self._elides[1]),
        )

    def _form(self, name: Name, of_source: bool) -> str:
        chinese = self._source_is_chinese if of_source else self._target_is_chinese
        return name.chinese if chinese and name.chinese else name.latin

    def _random_name(self, kind: str, random: Random) -> Name:
        """A name of a kind: from the list, blended from two, with a surname, or Chinese."""
        with_chinese = self._source_is_chinese or self._target_is_chinese
        if kind in PERSONS and random.random() < (0.5 if with_chinese else _CHINESE):
            return chinese_name(random)
        name = _choice(_names(kind, with_chinese and random.random() < 0.7), random)
        if kind in (*PERSONS, "surname") and random.random() < _BLENDED:
            return Name(kind, _blend(name.latin, _choice(_names(kind), random).latin))
        if kind in PERSONS and random.random() < _FULL:
            surname = _choice(_names("surname", bool(name.chinese)), random)
            both = f"{name.chinese}·{surname.chinese}" if name.chinese else ""
            return Name(kind, f"{name.latin} {surname.latin}", both)
        return name


def find_anchors(pair: Pair) -> tuple[Anchor, ...]:
    """The names and numbers of the lists that occur equally often on both sides; at most
    four."""
    found = [*_name_anchors(pair), *_number_anchors(pair)]
    return tuple(found[:_MOST_ANCHORS])


def chinese_name(random: Random) -> Name:
    """A Chinese name in characters and pinyin: surname and given name, or 小 and a character,
    or a given name alone."""
    surnames, given = _chinese_parts()
    first, second = _choice(given, random), _choice(given, random)
    kind = random.integers(4)
    if kind == 0:
        return Name("male", f"Xiao{first[1]}", f"小{first[0]}")
    both = (first[0] + second[0], _syllables(first[1], second[1]))
    if kind == 1:
        return Name("male", both[1].capitalize(), both[0])
    surname = _choice(surnames, random)
    name = both if kind == 2 else first
    return Name("male", f"{surname[1]} {name[1].capitalize()}", surname[0] + name[0])


def random_number(random: Random, *, small: bool = False) -> str:
    """Digits of a number as texts have them: mostly two, rarely more than four; of a small one,
    rarely three."""
    ranges = _RANGES[:_SMALL_RANGES] if small else _RANGES
    low, high = _choice(ranges, random)
    return str(random.integers(low, high))


def _name_anchors(pair: Pair) -> Iterable[Anchor]:
    known = _names_by_word()
    words = sorted({*_WORD.findall(pair.source), *_WORD.findall(pair.target)})
    for name in dict.fromkeys(known[word] for word in words if word in known):
        forms = [name.latin, *_ALIASES.get(name.latin, ()), *filter(None, [name.chinese])]
        yield from _anchors(name.kind, forms, pair)


def _number_anchors(pair: Pair) -> Iterable[Anchor]:
    runs = [_DIGITS.findall(text) for text in (pair.source, pair.target)]
    if runs[0] and sorted(runs[0]) == sorted(runs[1]):
        for run in dict.fromkeys(runs[0]):
            yield Anchor("number", run, run)
        return
    if runs[0] or runs[1]:
        return
    for words in _numerals():
        yield from _anchors("number", words, pair)


def _anchors(kind: str, forms: Sequence[str], pair: Pair) -> Iterable[Anchor]:
    """The anchor that has one of `forms` on each side, equally often."""
    source, target = _only(forms, pair.source), _only(forms, pair.target)
    if source and target and _count(pair.source, source) == _count(pair.target, target):
        yield Anchor(kind, source, target)


def _new_numbers(anchor: Anchor, random: Random) -> tuple[str, str]:
    """Other digits, the same for both sides: as many as there were, or for a word, any."""
    new = random_number(random, small=True)
    if anchor.source.isdigit():
        size = len(anchor.source)
        lowest = 10 ** (size - 1) if size > 1 and anchor.source[0] != "0" else 2
        new = str(random.integers(lowest, 10 ** min(size, 18))).zfill(size)
    return new, new


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


def _replaced(text: str, old: str, new: str, *, elides: bool) -> str:
    """`text` with `new` for `old`; French "de" and "que" lose their e before a vowel."""
    parts = _pattern(old).split(text)
    for number, before in enumerate(parts[:-1]):
        if not elides:
            continue
        vowel = new[0] in _VOWELS
        if vowel and (found := _ELIDABLE.search(before)):
            parts[number] = before[: found.end() - 2] + "'"
        elif not vowel and (found := _ELIDED.search(before)):
            parts[number] = before[:-1] + "e "
    return new.join(parts)


def _elides(texts: Sequence[str]) -> bool:
    """Whether these are French texts: "qu'" occurs in more than one of a thousand."""
    return 1000 * sum("qu'" in text or "qu’" in text for text in texts) > len(texts)


def _mostly_chinese(texts: Iterable[str]) -> bool:
    texts = list(texts)
    return 2 * sum(map(is_chinese, texts)) > len(texts)


def _joined(names: Iterable[str], chinese: bool) -> str:
    return ("、" if chinese else ", ").join(names)


def _blend(one: str, other: str) -> str:
    """The first half of one name and the second half of another."""
    return one[: (len(one) + 1) // 2] + other[len(other) // 2 :].lower()


def _syllables(first: str, second: str) -> str:
    """Two syllables of pinyin, with an apostrophe where the second begins with a vowel."""
    return f"{first}'{second}" if second[0] in "aeo" else first + second


def _choice(known: Sequence[T], random: Random) -> T:
    return known[int(random.integers(len(known)))]


@cache
def _names(kind: str, with_chinese: bool = False) -> tuple[Name, ...]:
    names = (name for name in _all_names() if name.kind == kind)
    return tuple(name for name in names if name.chinese or not with_chinese)


@cache
def _all_names() -> tuple[Name, ...]:
    return tuple(Name(*row) for row in _rows("names.tsv"))


@cache
def _names_by_word() -> Mapping[str, Name]:
    """The names by their Latin forms, aliases too; of equal forms the first."""
    found: dict[str, Name] = {}
    for name in _all_names():
        for form in (name.latin, *_ALIASES.get(name.latin, ())):
            found.setdefault(form, name)
    return found


@cache
def _chinese_parts() -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """Surnames and given characters, each with its pinyin."""
    rows = _rows("chinese_names.tsv")
    surnames, given = (
        [(row[1], row[2]) for row in rows if row[0] == role] for role in ("surname", "given")
    )
    return surnames, given


@cache
def _numerals() -> tuple[tuple[str, ...], ...]:
    """The words of each number in several languages."""
    return tuple(tuple(dict.fromkeys(row[1:])) for row in _rows("numerals.tsv"))


def _rows(file: str) -> list[list[str]]:
    text = (files("explorer.data") / file).read_text(encoding="utf-8")
    return [line.split("\t") for line in text.splitlines() if line]
