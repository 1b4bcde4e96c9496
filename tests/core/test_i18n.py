import re
import string

import pytest

from explorer.core.i18n import LANGUAGES, isolated, say, section, table


def placeholders(sentence: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(sentence) if name}


@pytest.mark.parametrize("part", table())
def test_every_sentence_is_written_in_every_language_with_the_same_facts(part):
    entries = table()[part]
    assert entries
    for key, entry in entries.items():
        assert set(entry) == set(LANGUAGES), key
        assert all(entry.values()), key
        assert len({frozenset(placeholders(sentence)) for sentence in entry.values()}) == 1, key


OWN = [part for part in table() if not part.startswith("examples-chinese")]


@pytest.mark.parametrize("part", OWN)
def test_english_sentences_have_no_chinese(part):
    chinese = re.compile(r"[\u4e00-\u9fff]")
    for key, entry in table()[part].items():
        assert not chinese.search(entry["en"].replace("简体中文", "")), key


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


def test_text_from_right_to_left_is_set_apart_in_a_sentence():
    assert isolated("על") == "\u2068על\u2069"
    assert isolated("⁨על⁩ · 3") == "⁨על⁩ · 3"  # a sentence that has set it apart
    assert [isolated(text) for text in ("naïve", "猫", "10.8 →")] == ["naïve", "猫", "10.8 →"]
    assert [len(isolated(letter)) for letter in "אع٣"] == [3, 3, 3]
    said = say("player.page_title", source="החתול 3", target="10.8 على")
    assert said == "\u2068החתול 3\u2069 → \u206810.8 على\u2069 · attention"


@pytest.mark.parametrize(
    ("key", "facts", "said"),
    [
        ("train.queue", {"count": 1}, "a new run waits for 1 job"),
        ("train.queue", {"count": 2}, "a new run waits for 2 jobs"),
        ("train.queue", {"count": 11}, "a new run waits for 11 jobs"),
        ("heads.support", {"queries": 1, "sentences": 0}, "1 query, 0 sentences"),
        ("heads.support", {"queries": "1", "sentences": "1"}, "1 query, 1 sentence"),
        ("player.inside_keys", {"count": 1}, "1 unmasked key"),
        ("lessons.choices_count", {"card": 2, "count": 1, "most": 4}, "card 2 offers 1 choice,"),
        ("heads.changed_tags", {"count": 1, "tokens": 7}, "1 of 7 tokens gets another label."),
        (
            "huggingface.absent_parts",
            {"index": "i", "name": "n", "count": 1, "files": "f"},
            "“i” in “n” lists 1 file that is not there (f); download it, too.",
        ),
        (
            "errors.predictions_differ",
            {"got": 1, "expected": 2},
            "There is 1 predicted token for 2 target tokens;",
        ),
    ],
)
def test_words_agree_with_the_number_before_them(key, facts, said):
    assert say(key, **facts).startswith(said)
    assert "|" not in say(key, "zh", **facts).replace("以 | 分隔", "")
