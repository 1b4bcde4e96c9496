"""Names, titles, words and spellings to put into a pair of sentences, from the lists in this
folder: one entry a line, columns separated by tabs.

    names.tsv          kind (male, female, surname, city), Latin form, Chinese form if any
    chinese_names.tsv  role (surname, given), character, pinyin
    titles.tsv         kind, then the title in English, French and Chinese; {} is the surname
    numerals.tsv       value, then the word for it in English, French and Chinese, maybe two
    words.tsv          class, then a word in English, French (or nothing) and Chinese, maybe two
    spellings.tsv      American, British
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TypeVar

import numpy as np

PERSONS = ("male", "female")
LANGUAGES = ("en", "fr", "zh")
"""Languages of the columns of titles and words, in their order."""

ALIASES: Mapping[str, tuple[str, ...]] = {"Mary": ("Marie",)}
"""Other forms of a name: found in a text, but never used as a replacement."""

_BLENDED = 0.2  # share of the names that are made of two, so that there are endlessly many
_FULL = 0.15  # share of the persons that get a surname
_CHINESE = 0.15  # share of the persons with a Chinese name; half of them beside Chinese text

Random = np.random.Generator
_Item = TypeVar("_Item")


@dataclass(frozen=True, slots=True)
class Name:
    """A name in Latin letters and, if the list has it, in Chinese characters."""

    kind: str
    latin: str
    chinese: str = ""


def random_name(kind: str, random: Random, *, with_chinese: bool) -> Name:
    """A name of a kind: from the list, blended from two, with a surname, or Chinese.

    with_chinese: for use beside Chinese text, so that most names have a Chinese form.
    """
    if kind in (*PERSONS, "surname") and random.random() < (0.5 if with_chinese else _CHINESE):
        return chinese_surname(random) if kind == "surname" else chinese_name(random)
    name = choice(_names(kind, with_chinese and random.random() < 0.7), random)
    if kind in (*PERSONS, "surname") and random.random() < _BLENDED:
        return Name(kind, _blend(name.latin, choice(_names(kind), random).latin))
    if kind in PERSONS and random.random() < _FULL:
        surname = choice(_names("surname", bool(name.chinese)), random)
        both = f"{name.chinese}·{surname.chinese}" if name.chinese else ""
        return Name(kind, f"{name.latin} {surname.latin}", both)
    return name


def chinese_name(random: Random) -> Name:
    """A Chinese name in characters and pinyin: surname and given name, or 小 and a character,
    or a given name alone."""
    surnames, given = _chinese_parts()
    first, second = choice(given, random), choice(given, random)
    kind = random.integers(4)
    if kind == 0:
        return Name("male", f"Xiao{first[1]}", f"小{first[0]}")
    both = (first[0] + second[0], _syllables(first[1], second[1]))
    if kind == 1:
        return Name("male", both[1].capitalize(), both[0])
    surname = choice(surnames, random)
    name = both if kind == 2 else first
    return Name("male", f"{surname[1]} {name[1].capitalize()}", surname[0] + name[0])


def chinese_surname(random: Random) -> Name:
    """A Chinese surname in characters and pinyin."""
    surnames, _ = _chinese_parts()
    character, pinyin = choice(surnames, random)
    return Name("surname", pinyin, character)


def titled_name(kind: str, languages: Sequence[str], random: Random) -> tuple[str, ...]:
    """A surname with a title for a person of a kind, in each of `languages` (of `LANGUAGES`)."""
    surname = choice(_names("surname", "zh" in languages), random)
    title = dict(zip(LANGUAGES, choice(_titles(kind), random), strict=True))
    forms = {"zh": surname.chinese or surname.latin}
    return tuple(title[one].format(forms.get(one, surname.latin)) for one in languages)


@cache
def names_by_word() -> Mapping[str, Name]:
    """The names by their Latin forms, aliases too; of equal forms the first."""
    found: dict[str, Name] = {}
    for name in _all_names():
        for form in (name.latin, *ALIASES.get(name.latin, ())):
            found.setdefault(form, name)
    return found


@cache
def numerals() -> tuple[tuple[str, ...], ...]:
    """The words of each number: English, French, Chinese, and maybe another Chinese one."""
    return tuple(tuple(row[1:]) for row in list_rows("numerals.tsv"))


@cache
def word_classes() -> Mapping[str, tuple[tuple[str, ...], ...]]:
    """By class, words that can replace each other.

    English, French ("" if another word of the class would need other words around it), Chinese,
    and maybe another Chinese one.
    """
    classes: dict[str, list[tuple[str, ...]]] = {}
    for kind, *forms in list_rows("words.tsv"):
        classes.setdefault(kind, []).append(tuple(forms))
    return {kind: tuple(words) for kind, words in classes.items()}


@cache
def british_spellings() -> Mapping[str, str]:
    """American spelling → British."""
    return {row[0]: row[1] for row in list_rows("spellings.tsv")}


def choice(known: Sequence[_Item], random: Random) -> _Item:
    """One of `known`."""
    return known[int(random.integers(len(known)))]


def _blend(one: str, other: str) -> str:
    """The first half of one name and the second half of another."""
    return one[: (len(one) + 1) // 2] + other[len(other) // 2 :].lower()


def _syllables(first: str, second: str) -> str:
    """Two syllables of pinyin, with an apostrophe if the second begins with a vowel."""
    return f"{first}'{second}" if second[0] in "aeo" else first + second


@cache
def _names(kind: str, with_chinese: bool = False) -> tuple[Name, ...]:
    names = (name for name in _all_names() if name.kind == kind)
    return tuple(name for name in names if name.chinese or not with_chinese)


@cache
def _all_names() -> tuple[Name, ...]:
    return tuple(Name(*row) for row in list_rows("names.tsv"))


@cache
def _chinese_parts() -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """Surnames and given characters, each with its pinyin."""
    rows = list_rows("chinese_names.tsv")
    surnames, given = (
        [(row[1], row[2]) for row in rows if row[0] == role] for role in ("surname", "given")
    )
    return surnames, given


@cache
def _titles(kind: str) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(row[1:]) for row in list_rows("titles.tsv") if row[0] == kind)


def list_rows(file: str) -> list[list[str]]:
    text = (files("explorer.data") / file).read_text(encoding="utf-8")
    return [line.split("\t") for line in text.splitlines() if line]
