"""Every sentence of the interface in every language, from one table.

The table is the folder `strings/`: one file a section, one entry a sentence, English and Chinese
next to each other so that neither is forgotten. A further language is one file in `languages/`; a
sentence that it lacks is shown in English. Such a file has its name, and a line for each sentence,
whose key begins with the name of the section:

    name = "Français"
    explore.page = "Explorer"
    train.queue = "{count} {count:tâche attend|tâches attendent}"
"""

import locale
import os
import re
import sys
import tomllib
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, reduce
from pathlib import Path
from typing import Any

from explorer.core import folders

_ISOLATE, _POP_ISOLATE = "\u2068", "\u2069"

OWN_LANGUAGES: Mapping[str, str] = {"en": "English", "zh": "简体中文"}
"""The languages of the table: code → own name."""

_TAGS: Mapping[str, str] = {"zh": "zh-Hans"}

PLURAL = re.compile(r"\{(\w+):([^{}|]*)\|([^{}|]*)\}")
"""A word that agrees with a fact: name of the fact, word for 1, word for other numbers."""

_FACT = re.compile(r"\{\{|\}\}|\{(\w+)(:[^{}]*)?\}")
"""A fact with its format, as in `str.format`, or an escaped brace."""

_CODE = re.compile(r"[a-z]{2,3}(-[A-Za-z0-9]{2,8})*", re.ASCII)


@dataclass(frozen=True, slots=True)
class LanguageFile:
    """The contents of a language file.

    code: of the language (BCP 47), as in links and in the `lang` attribute; the file's name.
    name: the language's own name; "" if the file does not give it.
    sections: section → key → sentence; unchecked, so values may have any type.
    """

    code: str
    name: str
    sections: Mapping[str, Any]

    @property
    def has_code(self) -> bool:
        """Whether the file's name is the code of a language."""
        return bool(_CODE.fullmatch(self.code))

    def sentence(self, section: str, key: str, english: str) -> str:
        """The sentence under a key; "" if there is none with the facts of the English one."""
        entries = self.sections.get(section)
        text = entries.get(key) if isinstance(entries, Mapping) else None
        fits = isinstance(text, str) and text.strip() and _filled_as(text) == _filled_as(english)
        return text if fits and isinstance(text, str) else ""


def read_language_file(path: Path) -> LanguageFile:
    """Read a language file. Raises `OSError`, and `ValueError` if it is not TOML."""
    try:
        sections = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    name = sections.pop("name", "")
    return LanguageFile(
        path.stem, " ".join(name.split()) if isinstance(name, str) else "", sections
    )


def _filled_as(sentence: str) -> tuple[set[str], set[str], list[str]]:
    """Parts that two sentences must share for `str.format`.

    Names of facts, facts with a format, and literal braces.
    """
    plain = PLURAL.sub("", sentence)
    facts = _FACT.findall(plain)
    names = {name for name, *_ in (*facts, *PLURAL.findall(sentence)) if name}
    formats = {f"{name}{form}" for name, form in facts if form}
    own = [found[0] for found in _FACT.finditer(plain) if not found[1]]
    return names, formats, own + re.findall(r"[{}]", _FACT.sub("", plain))


def _further_languages() -> Iterator[LanguageFile]:
    """The languages of all usable files; `language_file_check` reports the errors of the others."""
    for path in folders.language_files():
        try:
            language = read_language_file(path)
        except (OSError, ValueError):
            continue
        if language.has_code and language.name and language.code not in OWN_LANGUAGES:
            yield language


_FURTHER: Mapping[str, LanguageFile] = {one.code: one for one in _further_languages()}

LANGUAGES: Mapping[str, str] = {**OWN_LANGUAGES, **{c: one.name for c, one in _FURTHER.items()}}
"""All languages: code → own name."""


@cache
def table() -> dict[str, dict[str, dict[str, str]]]:
    """The whole table: section → key → language → sentence. A further language may lack some."""
    files = sorted(folders.STRINGS.glob("*.toml"))
    found = {file.stem: tomllib.loads(file.read_text(encoding="utf-8")) for file in files}
    for code, further in _FURTHER.items():
        for name, entries in found.items():
            for key, sentences in entries.items():
                if sentence := further.sentence(name, key, sentences["en"]):
                    sentences[code] = sentence
    return found


def html_language(language: str) -> str:
    """The `lang` attribute of a page."""
    return _TAGS.get(language, language)


def nearest_language(tag: str) -> str:
    """The language for a browser's language tag such as "fr-CA"; English if there is none."""
    wanted = tag.lower()
    same = (code for code in LANGUAGES if code.lower() == wanted)
    near = (code for code in LANGUAGES if _first_subtag(code) == _first_subtag(wanted))
    return next(same, next(near, "en"))


def terminal_language() -> str:
    """The language of this person's terminal: of the locale, on Windows of its menus."""
    if sys.platform == "win32":
        import ctypes

        code = ctypes.windll.kernel32.GetUserDefaultUILanguage()
        named = locale.windows_locale.get(code, "")
    else:
        named = next(filter(None, map(os.environ.get, ("LC_ALL", "LC_MESSAGES", "LANG"))), "")
    return nearest_language(named.partition(".")[0].replace("_", "-"))


def _first_subtag(tag: str) -> str:
    return tag.partition("-")[0]


def isolated(text: str) -> str:
    """`text` for use inside another text.

    A text from right to left is isolated (U+2068, U+2069), so that numbers, signs and arrows
    beside it keep their places (Unicode Annex 9).
    """
    alone = _ISOLATE not in text and any(map(_is_right_to_left, text))
    return f"{_ISOLATE}{text}{_POP_ISOLATE}" if alone else text


def _is_right_to_left(letter: str) -> bool:
    return unicodedata.bidirectional(letter) in ("R", "AL", "AN")


def say(key: str, /, language: str = "en", **facts: object) -> str:
    """The sentence called `key` ("section.name"), with `facts` filled in.

    A word may agree with a fact: "{count:file|files}" gives the first form for 1, else the second.
    Falls back to English in an unknown language. Raises `KeyError` for an unknown key.
    """
    section, name = key.split(".", 1)
    sentences = table()[section][name]
    sentence = sentences.get(language, sentences["en"])
    told = {name: isolated(fact) if isinstance(fact, str) else fact for name, fact in facts.items()}
    if not told:
        return sentence
    return PLURAL.sub(lambda word: _agreeing(word, facts), sentence).format(**told)


def in_a_row(sentences: Sequence[str], language: str) -> str:
    """Sentences joined by a space, or by nothing in a language without spaces."""
    return reduce(
        lambda one, two: say("explore.two_sentences", language, one=one, two=two), sentences
    )


def _agreeing(word: re.Match[str], facts: Mapping[str, object]) -> str:
    """The first form of a word if the fact that it names is 1, else the second."""
    name, one, several = word.groups()
    return one if str(facts[name]) == "1" else several


@cache
def section(name: str, language: str = "en") -> Mapping[str, str]:
    """All sentences of one section in one language, their facts not filled in."""
    return {key: say(f"{name}.{key}", language) for key in table()[name]}
