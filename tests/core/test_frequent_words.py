import pytest

from explorer.core.frequent_words import frequent_words, looks_foreign
from tests.support.toy_sentences import SENTENCES

ENGLISH, FRENCH = zip(*SENTENCES, strict=True)


def test_the_most_frequent_words_come_first_in_lower_case():
    assert frequent_words(["The cat. The dog!", "the end, a dog"])[:2] == ["the", "dog"]
    assert len(frequent_words(f"word{n % 26 * 'x'}{n // 26 * 'y'} a a" for n in range(676))) == 600


def test_a_script_without_spaces_has_no_frequent_words():
    lines = [f"{chr(0x4E00 + n)}{chr(0x5E00 + n)}。" for n in range(2000)]
    assert frequent_words(lines) == []


@pytest.mark.parametrize(("known", "other"), [(ENGLISH, FRENCH), (FRENCH, ENGLISH)])
def test_sentences_of_another_language_look_foreign(known, other):
    frequent = frozenset(frequent_words(known))
    assert not any(looks_foreign(text, frequent) for text in known)
    assert all(looks_foreign(text, frequent) for text in other)


def test_nothing_is_said_of_two_words_or_without_a_list():
    assert not looks_foreign("Bonjour Marie !", {"the"})
    assert not looks_foreign("Je vois le chien.", frozenset())
    assert looks_foreign("Je vois le chien.", {"the"})
    assert not looks_foreign("I see xyz.", {"i"})  # a third
