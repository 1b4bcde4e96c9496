"""Every sentence of the interface in every language, from one table.

The table is the folder `strings/`: one file a section, one entry a sentence, English and Chinese
next to each other so that neither is forgotten. A further language is one file in `languages/`, see
`language_file`; a sentence that it lacks is shown in English.
"""

import re
import tomllib
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, reduce

from explorer.core import folders
from explorer.core.language_file import PLURAL, LanguageFile, read_language_file

_ISOLATE, _POP_ISOLATE = "\u2068", "\u2069"

OWN_LANGUAGES: Mapping[str, str] = {"en": "English", "zh": "简体中文"}
"""The languages of the table: code → own name."""

_TAGS: Mapping[str, str] = {"zh": "zh-Hans"}


def _further_languages() -> Iterator[LanguageFile]:
    """The languages of all usable files; `language_check` reports the errors of the others."""
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


def say(key: str, language: str = "en", **facts: object) -> str:
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


def section(name: str, language: str = "en") -> dict[str, str]:
    """All sentences of one section in one language, their facts not filled in."""
    return {key: say(f"{name}.{key}", language) for key in table()[name]}
