"""Pairs of sentences made from written patterns: greetings, introductions, ages, prices, times and
other sentences of a school day, which are rare in a corpus.

`sentence_patterns.tsv` has one entry a line, columns separated by tabs: the kind, then English,
French and Chinese, "" if there is none, and maybe another Chinese wording; `french_patterns.tsv`
has more, without Chinese. The kind "sentence" is a pattern with slots in braces; any other kind is
a word, in the form that its sentences need, for the slots of that name. Further slots:

    {male}, {female}, {surname}, {city}  a name of that kind
    {weekday} …                          a word of a class in words.tsv
    {3-12}                               a number of that range, in digits or, up to 99, in words
                                         (Chinese 二 for two, so counted things begin with 3)
    {digits 3-12}                        the same in digits alone

A letter after it makes a second slot of the kind: {male b}.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from functools import cache

from explorer.core.vocabulary import is_chinese
from explorer.data.anchors import joined_by
from explorer.data.name_lists import (
    LANGUAGES,
    Random,
    choice,
    list_rows,
    random_name,
    word_classes,
)
from explorer.data.parallel_corpus import Pair, normalised

SENTENCE = "sentence"

_FILES = ("sentence_patterns.tsv", "french_patterns.tsv")
_NAMES = ("male", "female", "surname", "city")
_SLOT = re.compile(r"\{([^{}]+)\}")
_SECOND = re.compile(r" [a-z]$")
_RANGE = re.compile(r"(digits )?(\d+)-(\d+)")
_IN_WORDS = 0.5  # share of the numbers that stand in words
_TRIES = 20  # tries for a sentence that is not among those to avoid

Forms = tuple[str, ...]
"""Forms of a sentence or a word: English, French, Chinese, and maybe another Chinese one."""


class SentencePatterns:
    """Pairs from the patterns that have both languages. All random choices use the generator
    given."""

    def __init__(self, languages: Sequence[str], avoided: Collection[str] = ()) -> None:
        """languages: of source and target, of `LANGUAGES`.
        avoided: normalised texts that neither side of a pair may be.
        """
        self._languages = tuple(languages)
        self._avoided = frozenset(avoided)
        entries = {kind: self._known(forms) for kind, forms in _entries().items()}
        self._sentences = entries.pop(SENTENCE)
        classes = {kind: self._known(forms) for kind, forms in word_classes().items()}
        self._words = {**classes, **entries}

    def __len__(self) -> int:
        return len(self._sentences)

    def pair(self, random: Random) -> Pair:
        """A random pattern with its slots filled.

        Raises `RuntimeError` if every try gives a text to avoid.
        """
        for _ in range(_TRIES):
            pair = self._filled(choice(self._sentences, random), random)
            if not {normalised(pair.source), normalised(pair.target)} & self._avoided:
                return pair
        raise RuntimeError("every pair tried has a text to avoid")

    def _filled(self, forms: Forms, random: Random) -> Pair:
        """A pattern with its slots filled."""
        texts = [self._form(forms, language, random) for language in self._languages]
        for slot in dict.fromkeys(_SLOT.findall(texts[0])):
            fillings = self._filling(slot, random)
            texts = [
                joined_by(text.split(f"{{{slot}}}"), filling, elides=language == "fr")
                for text, filling, language in zip(texts, fillings, self._languages, strict=True)
            ]
        return Pair(*map(_capitalised, texts))

    def _known(self, entries: Sequence[Forms]) -> list[Forms]:
        """The entries that have a form in both languages."""
        columns = [LANGUAGES.index(language) for language in self._languages]
        return [forms for forms in entries if all(forms[column] for column in columns)]

    def _form(self, forms: Forms, language: str, random: Random) -> str:
        """The form for a language; one of the two if there are two Chinese ones."""
        if language == "zh":
            return choice([form for form in forms[2:] if form], random)
        return forms[LANGUAGES.index(language)]

    def _filling(self, slot: str, random: Random) -> Sequence[str]:
        """A random filling of a slot, in each language."""
        kind = slot if slot in self._words else _SECOND.sub("", slot)
        if number := _RANGE.fullmatch(kind):
            return self._number(bool(number[1]), int(number[2]), int(number[3]), random)
        if kind in _NAMES:
            name = random_name(kind, random, with_chinese="zh" in self._languages)
            written = {"zh": name.chinese or name.latin}
            return [written.get(language, name.latin) for language in self._languages]
        forms = choice(self._words[kind], random)
        return [self._form(forms, language, random) for language in self._languages]

    def _number(self, digits: bool, low: int, high: int, random: Random) -> Sequence[str]:
        number = int(random.integers(low, high + 1))
        words = _numerals_by_value().get(number)
        if digits or words is None or random.random() >= _IN_WORDS:
            return [str(number)] * len(self._languages)
        return [
            words[-1 if language == "zh" else LANGUAGES.index(language)]
            for language in self._languages
        ]


def _capitalised(text: str) -> str:
    """The text with its first letter in upper case: a filling may begin the sentence."""
    return text if is_chinese(text[:1]) else text[:1].upper() + text[1:]


@cache
def _entries() -> Mapping[str, list[Forms]]:
    entries: dict[str, list[Forms]] = {SENTENCE: []}
    for name in _FILES:
        for kind, *forms in list_rows(name):
            entries.setdefault(kind, []).append(tuple(forms))
    return entries


@cache
def _numerals_by_value() -> Mapping[int, Forms]:
    return {int(value): tuple(forms) for value, *forms in list_rows("numerals.tsv")}
