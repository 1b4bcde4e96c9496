import re
import string

import pytest

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
def test_english_sentences_have_no_chinese(key, entry):
    assert not re.search(r"[\u4e00-\u9fff]", entry["en"].replace("简体中文", "")), key


def test_facts_are_filled_in_and_an_unknown_language_falls_back_to_english():
    english = say("errors.not_divisible", d_model=10, heads=3)
    assert "10" in english
    assert "3" in english
    assert say("errors.not_divisible", "fr", d_model=10, heads=3) == english
    assert say("errors.not_divisible", "zh", d_model=10, heads=3) != english


def test_an_unknown_key_is_an_error():
    with pytest.raises(KeyError):
        say("errors.no_such_sentence")


def test_a_section_keeps_its_placeholders():
    assert section("errors")["not_divisible"] == table()["errors"]["not_divisible"]["en"]
