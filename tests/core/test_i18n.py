import re
import string

import pytest

from explorer.core.errors import ExplorerError
from explorer.core.i18n import LANGUAGES, say, section, table


def placeholders(sentence: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(sentence) if name}


def sentences() -> list[tuple[str, dict[str, str]]]:
    return [(f"{part}.{key}", entry) for part in table() for key, entry in table()[part].items()]


@pytest.mark.parametrize(("key", "entry"), sentences())
def test_every_sentence_is_written_in_every_language_with_the_same_facts(key, entry):
    assert set(entry) == set(LANGUAGES), key
    assert all(entry.values()), key
    assert len({frozenset(placeholders(sentence)) for sentence in entry.values()}) == 1, key


OWN = [(key, entry) for key, entry in sentences() if not key.startswith("examples-chinese")]


@pytest.mark.parametrize(("key", "entry"), OWN)
def test_english_has_no_chinese_in_its_own_words(key, entry):
    assert not re.search(r"[\u4e00-\u9fff]", entry["en"].replace("简体中文", "")), key


def test_facts_are_filled_in_and_an_unspoken_language_falls_back_to_english():
    english = say("errors.not_divisible", d_model=10, heads=3)
    assert "10" in english
    assert "3" in english
    assert say("errors.not_divisible", "fr", d_model=10, heads=3) == english
    assert say("errors.not_divisible", "zh", d_model=10, heads=3) != english


def test_an_unknown_key_is_an_error():
    with pytest.raises(KeyError):
        say("errors.no_such_sentence")


def test_a_section_comes_unfilled():
    assert section("errors")["not_divisible"] == table()["errors"]["not_divisible"]["en"]


def test_an_error_speaks_both_languages():
    error = ExplorerError("not_divisible", d_model=10, heads=3)
    assert str(error) == say("errors.not_divisible", d_model=10, heads=3)
    assert error.in_language("zh") == say("errors.not_divisible", "zh", d_model=10, heads=3)
