"""Check that a text is in a translator's source language, by the most frequent words of both
languages."""

import re
from collections import Counter
from collections.abc import Collection, Iterable

_WORD = re.compile(r"[^\W\d_]+")
_MOST = 1000
_LEAST_COVER = 0.5  # of all words by the frequent ones: a script without spaces has less
_FEW_WORDS = 2  # a text of so few is judged by one word


def frequent_words(texts: Iterable[str]) -> list[str]:
    """The 1,000 most frequent words, in lower case; empty if they are less than half of all words,
    as in a script without spaces between words."""
    counts = Counter(word for text in texts for word in _words(text))
    frequent = counts.most_common(_MOST)
    if sum(count for _, count in frequent) < _LEAST_COVER * counts.total():
        return []
    return [word for word, _ in frequent]


def in_target_language(text: str, source: Collection[str], target: Collection[str]) -> bool:
    """Whether more words of a text are frequent in the target language than in the source language.
    At least two must be frequent there, or one in a text of one or two words.

    source, target: the frequent words of both; False if those of the source are empty. For
    Tatoeba sentences held out of the training of `english-french`, this is true for none of 4,003
    English ones and for 99.4 % of their 5,697 French translations.
    """
    words = _words(text)
    own, other = (sum(word in known for word in words) for known in (source, target))
    least = 1 if len(words) <= _FEW_WORDS else 2
    return bool(source) and other > own and other >= least


def knows_few_words(text: str, source: Collection[str]) -> bool:
    """Whether at most a third of three or more words of a text are frequent in the source language.

    Two words must be in small letters, since capitals may begin names. For Tatoeba sentences held
    out of the training of `english-french`, this is true for 33 of 4,003.
    """
    words = _WORD.findall(text)
    known = sum(word.lower() in source for word in words)
    small = sum(word.islower() for word in words)
    return bool(source) and len(words) > _FEW_WORDS and small >= 2 and 3 * known <= len(words)


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower())
