import re

import numpy as np
import pytest

from explorer.data.name_lists import (
    british_spellings,
    chinese_name,
    names_by_word,
    numerals,
    random_name,
    titled_name,
    word_classes,
)


def generator(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def test_a_chinese_name_is_written_syllable_by_syllable():
    for seed in range(100):
        name = chinese_name(generator(seed))
        assert 2 <= len(name.chinese) <= 3
        assert re.fullmatch(r"[A-Zü][a-zü]*( [A-Z][a-zü']*)?|[A-Z][a-zü']*", name.latin), name


@pytest.mark.parametrize("kind", ["male", "female", "surname", "city"])
def test_there_are_far_more_names_than_the_list_has(kind):
    latin = {random_name(kind, generator(seed), with_chinese=False).latin for seed in range(400)}
    assert len(latin) > 100
    assert all(re.match(r"[^\W\d_]", name) for name in latin)


def test_a_title_stands_with_one_surname_in_every_language():
    for seed in range(50):
        english, french, chinese = titled_name("female", ("en", "fr", "zh"), generator(seed))
        assert english.split()[0] in ("Mrs.", "Ms.", "Miss", "Dr.", "Aunt")
        assert french.split()[0] in ("Mme", "Madame", "Mlle", "Dr", "Tante")
        assert english.split()[1:] == french.split()[1:]
        assert re.fullmatch(r"[\u4e00-\u9fff]+", chinese)


def test_numbers_and_names_have_their_forms():
    assert ("twelve", "douze", "十二") in numerals()
    assert numerals()[0] == ("two", "deux", "两", "二")
    assert names_by_word()["Marie"] == names_by_word()["Mary"]


def test_words_of_a_class_are_different_and_have_a_chinese_form():
    for kind, words in word_classes().items():
        assert len(words) > 3, kind
        assert len({word[0] for word in words}) == len(words), kind
        assert all(word[0][0] not in "aeiou" for word in words if kind == "job")  # a doctor
        for english, french, *chinese in words:
            assert re.fullmatch("[A-Za-z]+", english)
            assert re.fullmatch("[a-zéêèûôâç]*", french)
            assert chinese
            assert all(re.fullmatch(r"[\u4e00-\u9fff]+", form) for form in chinese)


def test_numbers_in_words_go_to_ninety_nine():
    assert [words[0] for words in numerals()][:19][-1] == "twenty"
    assert ("seventy-one", "soixante et onze", "七十一") in numerals()
    assert len(numerals()) == 98


def test_british_spellings_differ_and_are_no_american_ones():
    known = british_spellings()
    assert known["favorite"] == "favourite"
    assert all(one != other for one, other in known.items())
    assert not set(known) & set(known.values())
