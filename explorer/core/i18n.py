"""Every sentence of the interface in every language, from one table.

The table is the folder `strings/`: one file a section, one entry a sentence, English and Chinese
next to each other so that neither is forgotten.
"""

import re
import tomllib
import unicodedata
from collections.abc import Mapping
from functools import cache

from explorer.core import folders

_PLURAL = re.compile(r"\{(\w+):([^{}|]*)\|([^{}|]*)\}")
_ISOLATE, _POP_ISOLATE = "\u2068", "\u2069"

LANGUAGES: Mapping[str, str] = {"en": "English", "zh": "简体中文"}


@cache
def table() -> dict[str, dict[str, dict[str, str]]]:
    """The whole table: section → key → language → sentence."""
    files = sorted(folders.STRINGS.glob("*.toml"))
    return {file.stem: tomllib.loads(file.read_text(encoding="utf-8")) for file in files}


def isolated(text: str) -> str:
    """`text` inside another one: what is written from right to left is set apart (U+2068, U+2069),
    so that numbers, signs and arrows beside it keep their places (Unicode Annex 9)."""
    alone = _ISOLATE not in text and any(map(_is_right_to_left, text))
    return f"{_ISOLATE}{text}{_POP_ISOLATE}" if alone else text


def _is_right_to_left(letter: str) -> bool:
    return unicodedata.bidirectional(letter) in ("R", "AL", "AN")


def say(key: str, language: str = "en", **facts: object) -> str:
    """The sentence called `key` ("section.name"), with `facts` filled in.

    A word may agree with a fact: of "{count:file|files}" the first is said where it is 1. Falls
    back to English in an unknown language. Raises `KeyError` for an unknown key.
    """
    section, name = key.split(".", 1)
    sentences = table()[section][name]
    sentence = sentences.get(language, sentences["en"])
    told = {name: isolated(fact) if isinstance(fact, str) else fact for name, fact in facts.items()}
    if not told:
        return sentence
    return _PLURAL.sub(lambda word: _agreeing(word, facts), sentence).format(**told)


def _agreeing(word: re.Match[str], facts: Mapping[str, object]) -> str:
    """The word for one or for another number, as the fact that it names is."""
    name, one, several = word.groups()
    return one if str(facts[name]) == "1" else several


def section(name: str, language: str = "en") -> dict[str, str]:
    """All sentences of one section in one language, their facts not filled in."""
    return {key: say(f"{name}.{key}", language) for key in table()[name]}
