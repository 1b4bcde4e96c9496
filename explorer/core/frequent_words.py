"""Whether a text is in the language that a model learned from, by its most frequent words."""

import re
from collections import Counter
from collections.abc import Collection, Iterable

_WORD = re.compile(r"[^\W\d_]+")
_MOST = 600
_LEAST_COVER = 0.5  # of all words by the frequent ones: a script without spaces has less
_FEWEST_WORDS = 3  # in a text of which anything is said
_FEWEST_FREQUENT = 1 / 3


def frequent_words(texts: Iterable[str]) -> list[str]:
    """The 600 most frequent words, in lower case; none where they are less than half of all words,
    as in a script without spaces between words."""
    counts = Counter(word for text in texts for word in _words(text))
    frequent = counts.most_common(_MOST)
    if sum(count for _, count in frequent) < _LEAST_COVER * counts.total():
        return []
    return [word for word, _ in frequent]


def looks_foreign(text: str, frequent: Collection[str]) -> bool:
    """Whether fewer than a third of the words of a text, of at least three, are among `frequent`.

    Of Tatoeba sentences held out of an English training, these are 0.7 % of 3,933 English ones and
    96.7 % of their 5,613 French translations.
    """
    words = _words(text)
    if not frequent or len(words) < _FEWEST_WORDS:
        return False
    return sum(word in frequent for word in words) < _FEWEST_FREQUENT * len(words)


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower())
