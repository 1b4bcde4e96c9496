import pytest

from explorer.core.frequent_words import frequent_words, in_target_language, knows_no_word
from tests.support.toy_sentences import SENTENCES

ENGLISH, FRENCH = zip(*SENTENCES, strict=True)


def test_the_most_frequent_words_come_first_in_lower_case():
    assert frequent_words(["The cat. The dog!", "the end, a dog"])[:2] == ["the", "dog"]
    texts = [
        f"{chr(0x3B1 + n % 24)}{chr(0x430 + n // 24 % 32)}{n // 768 * 'x'} a a a"
        for n in range(1500)
    ]
    assert len(frequent_words(texts)) == 1000
    assert frequent_words(texts)[0] == "a"


def test_a_script_without_spaces_has_no_frequent_words():
    lines = [f"{chr(0x4E00 + n)}{chr(0x5E00 + n)}。" for n in range(4000)]
    assert frequent_words(lines) == []


@pytest.mark.parametrize(("known", "other"), [(ENGLISH, FRENCH), (FRENCH, ENGLISH)])
def test_sentences_of_the_other_language_are_told(known, other):
    source, target = frozenset(frequent_words(known)), frozenset(frequent_words(other))
    assert not any(in_target_language(text, source, target) for text in known)
    assert all(in_target_language(text, source, target) for text in other)
    assert not any(in_target_language(text, frozenset(), target) for text in other)


def test_words_of_both_languages_count_for_both():
    assert not in_target_language("On a pain.", {"on", "a", "pain"}, {"on", "a"})
    assert in_target_language("On a pain.", {"on", "a"}, {"on", "a", "pain"})


def test_one_known_word_of_four_is_enough():
    assert knows_no_word("wir gehen heute schwimmen", {"i", "go"})
    assert not knows_no_word("wir gehen heute schwimmen", {"heute"})
    assert not knows_no_word("Hello Anna, hello Peter, hello Tom!", {"the"})  # names tell nothing
    assert not knows_no_word("Cats chase mice.", {"the"})  # so few may all be rare
    assert not knows_no_word("wir gehen heute schwimmen", frozenset())
