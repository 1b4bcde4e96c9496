import re

import numpy as np
import pytest

from explorer.data.name_lists import LANGUAGES, list_rows, word_classes
from explorer.data.parallel_corpus import normalised
from explorer.data.sentence_patterns import SENTENCE, SentencePatterns

SLOT = re.compile(r"\{([^{}]+)\}")
KINDS = {"male", "female", "surname", "city"}
ROWS = list_rows("sentence_patterns.tsv") + list_rows("french_patterns.tsv")
DIRECTIONS = [("en", "fr"), ("zh", "en"), ("en", "zh")]


def made(languages: tuple[str, str], count: int, seed: int = 0, **settings: set[str]):
    random = np.random.default_rng(seed)
    patterns = SentencePatterns(languages, **settings)
    return [patterns.pair(random) for _ in range(count)]


def test_every_entry_has_three_languages_and_the_same_known_slots_in_each():
    words = {row[0] for row in ROWS} | KINDS | set(word_classes())
    for row in ROWS:
        assert 4 <= len(row) <= 6, row
        slots = [sorted(SLOT.findall(form)) for form in row[1:] if form]
        assert all(found == slots[0] for found in slots), row
        for slot in slots[0]:
            kind = slot if slot in words else re.sub(r" [a-z]$", "", slot)
            assert kind in words or re.fullmatch(r"(digits )?\d+-\d+", kind), row
        assert row[0] == SENTENCE or not slots[0], row


@pytest.mark.parametrize("languages", DIRECTIONS)
def test_no_slot_is_left_in_a_pair(languages):
    for pair in made(languages, 3000):
        assert not re.search(r"[{}]", pair.source + pair.target), pair
        assert pair.source.strip() == pair.source
        assert pair.target.strip() == pair.target


@pytest.mark.parametrize("languages", DIRECTIONS)
def test_the_numbers_of_slots_stand_on_both_sides(languages):
    """Digits on one side alone are those of a word: "March 8th", "三月八号"."""
    digits = [
        [sorted(set(re.findall(r"\d+", text))) for text in (pair.source, pair.target)]
        for pair in made(languages, 3000)
    ]
    both = [pair for pair in digits if all(pair)]
    assert len(both) > 300
    assert sum(map(any, digits)) - len(both) < 60
    assert all({*source} & {*target} for source, target in both)


def test_every_pattern_of_a_direction_is_used():
    expected = sum(row[0] == SENTENCE and bool(row[1] and row[2]) for row in ROWS)
    assert len(SentencePatterns(("en", "fr"))) == expected
    assert len({pair.source for pair in made(("en", "fr"), 5000)}) > 2000


def test_french_elides_before_a_name_with_a_vowel():
    targets = [pair.target for pair in made(("en", "fr"), 8000)]
    assert any(re.search(r"\bd'[AEIOU]", text) for text in targets)
    assert not [text for text in targets if re.search(r"\b[dD]e [AEIOUÉ]\w+", text)]


def test_names_stand_in_characters_in_chinese_and_in_pinyin_in_english():
    pairs = [p for p in made(("zh", "en"), 3000) if re.match("我叫[\u4e00-\u9fff·]+。", p.source)]
    assert any(re.search(r"[A-Z][a-z]+", pair.target) for pair in pairs)


def test_a_text_to_avoid_is_never_made():
    known = {normalised(pair.source) for pair in made(("en", "fr"), 200)}
    again = made(("en", "fr"), 2000, seed=1, avoided=known)
    assert not known & {normalised(pair.source) for pair in again}
    targets = {normalised(pair.target) for pair in made(("en", "fr"), 200)}
    again = made(("en", "fr"), 2000, seed=1, avoided=targets)
    assert not targets & {normalised(pair.target) for pair in again}


def test_choices_follow_the_generator():
    assert made(("en", "fr"), 20, seed=4) == made(("en", "fr"), 20, seed=4)
    assert made(("en", "fr"), 20, seed=4) != made(("en", "fr"), 20, seed=5)


def test_all_languages_are_those_of_the_lists():
    assert {language for pair in DIRECTIONS for language in pair} == set(LANGUAGES)
