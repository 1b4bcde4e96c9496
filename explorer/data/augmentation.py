"""New pairs for a corpus: its pairs with other names, numbers and words on both sides, other
spellings, lines whose translation is a copy, and sentences made from written patterns.

From a corpus with few names and numbers a model learns only those few. A name or number that
occurs on both sides of a pair is replaced on both by another one from a list, so that the model
learns to copy names it has not seen (placeholders for names: Crego et al. 2016, arXiv 1610.05540;
here the names themselves); a weekday, colour or animal by another of its class, so that rare ones
are seen in more sentences (Fadaee et al. 2017, 1705.00440, who choose them by a language model).
Copied lines: Currey et al. 2017, "Copied Monolingual Data Improves Low-Resource Neural Machine
Translation", WMT.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence

import numpy as np

from explorer.core.vocabulary import is_chinese
from explorer.data.anchors import NUMBER, Anchor, find_anchors, replaced
from explorer.data.name_lists import (
    LANGUAGES,
    PERSONS,
    Name,
    Random,
    british_spellings,
    choice,
    numerals,
    random_name,
    titled_name,
    word_classes,
)
from explorer.data.parallel_corpus import Pair
from explorer.data.sentence_patterns import SentencePatterns

_TITLED = 0.06  # share of the persons that become a surname with a title
_WORDS = 0.6  # share of the numbers in words that are replaced by words, not digits
_SMALL_WORDS = 0.7  # share of those words that are of numbers up to twenty
_TWENTY = 19  # words for numbers up to twenty
_RANGES = ((2, 13), (2, 60), (10, 100), (10, 100), (100, 1000), (1000, 2100), (2000, 100_000))
_SMALL_RANGES = 5
_MOST_DIGITS = 18  # drawn by a generator at once; further ones are 0
_LETTERS = re.compile(r"[A-Za-z]+")
_OWN_WORDS = {
    "fr": ("je", "il", "elle", "nous", "vous", "le", "les", "une", "est", "et", "pas", "qu"),
    "en": ("the", "he", "she", "it", "you", "my", "is", "are", "and", "to", "of"),
}
_LEAST_OWN = 0.06


class Augmentation:
    """New pairs from the pairs of a corpus. All random choices use the generator given."""

    def __init__(self, pairs: Sequence[Pair], avoided: Collection[str] = ()) -> None:
        """avoided: normalised texts that neither side of a pair made from a pattern may be."""
        self._pairs = pairs
        self._languages = (
            language_of([pair.source for pair in pairs]),
            language_of([pair.target for pair in pairs]),
        )
        self._anchors = {
            number: anchors for number, pair in enumerate(pairs) if (anchors := find_anchors(pair))
        }
        self._respelled = self._british_sources()
        known = all(language in LANGUAGES for language in self._languages)
        self._patterns = SentencePatterns(self._languages, avoided) if known else None

    @property
    def unknown_sides(self) -> tuple[int, ...]:
        """The sides, 0 or 1, with an unknown language: they get no patterns and no other words."""
        return tuple(side for side, language in enumerate(self._languages) if not language)

    def swapped(self, number: int, chance: float, random: Random) -> Pair:
        """The pair of that number, changed with probability `chance`.

        A changed pair has other names, numbers and words, and British spelling in an English
        source.
        """
        pair = self._pairs[number]
        anchors, respelled = self._anchors.get(number, ()), self._respelled.get(number)
        if not (anchors or respelled) or random.random() >= chance:
            return pair
        if respelled:
            pair = Pair(respelled, pair.target)
        for anchor in anchors:
            pair = self._swap(pair, anchor, random)
        return pair

    def patterned(self, random: Random) -> Pair:
        """A pair made from a sentence pattern. Requires both languages to be known."""
        assert self._patterns is not None
        return self._patterns.pair(random)

    def sample(self, chance: float, patterned: float, seed: int) -> list[Pair]:
        """Swapped pairs and pairs from patterns, as many as in one epoch.

        The vocabulary is learnt from them too, so that it has pieces for their words.
        """
        random = np.random.default_rng(seed)
        numbers = sorted({*self._anchors, *self._respelled})
        chosen = [number for number in numbers if random.random() < chance]
        swapped = [self.swapped(number, 1.0, random) for number in chosen]
        lines = round(patterned * len(self._pairs))
        return swapped + [self.patterned(random) for _ in range(lines)]

    def copied(self, random: Random) -> Pair:
        """A line with a copy of it as its translation; the two differ at most in their script.

        A target sentence, a few names, or a few numbers.
        """
        kind = random.integers(4)
        if kind < 2:
            target = choice(self._pairs, random).target
            return Pair(target, target)
        if kind == 2:
            numbers = [random_number(random) for _ in range(random.integers(1, 5))]
            text = str(random.choice([", ", " ", ":", "-"])).join(numbers)
            return Pair(text, text)
        names = [
            self._random_name(str(random.choice([*PERSONS, "city"])), random)
            for _ in range(random.integers(1, 4))
        ]
        return Pair(*(_joined(names, language == "zh") for language in self._languages))

    def _swap(self, pair: Pair, anchor: Anchor, random: Random) -> Pair:
        if anchor.kind == NUMBER:
            source, target = self._new_numbers(anchor, random)
        elif anchor.kind in word_classes():
            source, target = self._new_words(anchor, random)
        else:
            source, target = self._new_names(anchor, random)
        elides = [language == "fr" for language in self._languages]
        return Pair(
            replaced(pair.source, anchor.source, source, elides=elides[0]),
            replaced(pair.target, anchor.target, target, elides=elides[1]),
        )

    def _new_names(self, anchor: Anchor, random: Random) -> Iterable[str]:
        """Another name of its kind for both sides, or a surname with a title."""
        known = all(language in LANGUAGES for language in self._languages)
        if known and anchor.kind in PERSONS and random.random() < _TITLED:
            return titled_name(anchor.kind, self._languages, random)
        name = self._random_name(anchor.kind, random)
        old = (anchor.source, anchor.target)
        return [name.chinese if is_chinese(one) and name.chinese else name.latin for one in old]

    def _new_numbers(self, anchor: Anchor, random: Random) -> tuple[str, str]:
        """Another number for both sides.

        Digits are replaced by equally many digits; a word by any digits, or by the words for
        another number.
        """
        if anchor.source.isdigit():
            size = len(anchor.source)
            drawn = min(size, _MOST_DIGITS)
            lowest = 10 ** (drawn - 1) if drawn > 1 and anchor.source[0] != "0" else 2
            new = str(random.integers(lowest, 10**drawn)).zfill(drawn).ljust(size, "0")
            return new, new
        known = all(language in LANGUAGES for language in self._languages)
        if known and random.random() < _WORDS:
            small = random.random() < _SMALL_WORDS
            return self._forms(choice(numerals()[: _TWENTY if small else None], random))
        new = random_number(random, small=True)
        return new, new

    def _new_words(self, anchor: Anchor, random: Random) -> tuple[str, str]:
        """Another word of its class, or the same word if a language is not known."""
        if not all(language in LANGUAGES for language in self._languages):
            return anchor.source, anchor.target
        forms = map(self._forms, word_classes()[anchor.kind])
        return choice([both for both in forms if all(both)], random)

    def _forms(self, words: Sequence[str]) -> tuple[str, str]:
        """The words of source and target language, from words in the order of `LANGUAGES`."""
        source, target = (words[LANGUAGES.index(language)] for language in self._languages)
        return source, target

    def _random_name(self, kind: str, random: Random) -> Name:
        return random_name(kind, random, with_chinese="zh" in self._languages)

    def _british_sources(self) -> dict[int, str]:
        """Number of a pair → its English source in British spelling, if that differs."""
        if self._languages[0] != "en":
            return {}
        known = british_spellings()
        texts = {
            number: _LETTERS.sub(lambda word: known.get(word[0], word[0]), pair.source)
            for number, pair in enumerate(self._pairs)
        }
        return {n: text for n, text in texts.items() if text != self._pairs[n].source}


def language_of(texts: Sequence[str]) -> str:
    """ "zh" if most texts are Chinese; "fr" or "en" if some frequent words of that language make up
    more than 6 % of all words (in Tatoeba's sentences 17 to 19 %); else ""."""
    if 2 * sum(map(is_chinese, texts)) > len(texts):
        return "zh"
    counts = Counter(word for text in texts for word in _LETTERS.findall(text.lower()))
    shares = {
        language: sum(counts[word] for word in words) / max(1, counts.total())
        for language, words in _OWN_WORDS.items()
    }
    likeliest = max(shares, key=lambda language: shares[language])
    return likeliest if shares[likeliest] > _LEAST_OWN else ""


def random_number(random: Random, *, small: bool = False) -> str:
    """A random number in digits, distributed as in texts: mostly two digits, rarely more than four.

    small: rarely three.
    """
    ranges = _RANGES[:_SMALL_RANGES] if small else _RANGES
    low, high = choice(ranges, random)
    return str(random.integers(low, high))


def _joined(names: Iterable[Name], chinese: bool) -> str:
    forms = (name.chinese if chinese and name.chinese else name.latin for name in names)
    return ("、" if chinese else ", ").join(forms)
