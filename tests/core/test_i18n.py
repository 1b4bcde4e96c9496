import json
import os
import re
import string
import subprocess
import sys

import pytest

from explorer.core import folders
from explorer.core.i18n import (
    LANGUAGES,
    OWN_LANGUAGES,
    LanguageFile,
    html_language,
    in_a_row,
    isolated,
    nearest_language,
    read_language_file,
    say,
    section,
    table,
)

ENGLISH = "{count} {count:file|files} of {size:,} bytes in {{braces}}"


def written(tmp_path, text, name="fr.toml"):
    path = tmp_path / name
    path.write_text(text, "utf-8")
    return read_language_file(path)


def test_a_file_has_a_name_and_a_line_for_each_sentence(tmp_path):
    found = written(
        tmp_path, 'name = " Français "\nexplore.page = "Explorer"\n[heads]\npage = "Têtes"\n'
    )
    assert found == LanguageFile(
        "fr", "Français", {"explore": {"page": "Explorer"}, "heads": {"page": "Têtes"}}
    )
    assert found.sentence("explore", "page", "Explore") == "Explorer"
    assert found.sentence("explore", "title", "Attention explorer") == ""
    assert found.sentence("train", "page", "Train") == ""


@pytest.mark.parametrize(
    ("text", "taken"),
    [
        ("{size:,} octets en {{accolades}} : {count} {count:fichier|fichiers}", True),
        ("{count} fichiers de {size:,} octets en {{accolades}}", True),
        ("{count} fichiers de {size} octets en {{accolades}}", False),  # another format
        ("{count} fichiers en {{accolades}}", False),
        ("{count} fichiers de {size:,} octets de {model} en {{accolades}}", False),
        ("{count} fichiers de {size:,} octets", False),
        ("{count} fichiers de {size:,} octets en {{accolades}", False),
        ("{count} fichiers de {size:,} octets en {{accolades}} {", False),
        ("{count} {nombre:fichier|fichiers} de {size:,} octets en {{accolades}}", False),
        ("", False),
        (" ", False),
        (7, False),
        (["{count}"], False),
    ],
)
def test_a_sentence_is_taken_where_it_is_filled_in_as_the_english_one(text, taken):
    file = LanguageFile("fr", "Français", {"train": {"files": text}})
    assert file.sentence("train", "files", ENGLISH) == (text if taken else "")


def test_what_is_no_table_of_sentences_says_nothing(tmp_path):
    found = written(tmp_path, "name = 7\nexplore = 'page'\n")
    assert found.name == ""
    assert found.sentence("explore", "page", "Explore") == ""


@pytest.mark.parametrize("text", ["name = Français", "[" * 5000, "a = 1\na = 2"])
def test_what_is_no_toml_is_a_value_error(tmp_path, text):
    with pytest.raises(ValueError, match=r"."):
        written(tmp_path, text)


@pytest.mark.parametrize(
    ("code", "known"),
    [("fr", True), ("fil", True), ("pt-BR", True), ("zh-Hant", True), ("zh-Hant-TW", True)]
    + [(bad, False) for bad in ("", "f", "FR", "french", "fr_FR", "fr-", "fr.x", 'fr"', "../fr")],
)
def test_a_file_is_called_by_the_code_of_its_language(code, known):
    assert LanguageFile(code, "Français", {}).has_code is known


def placeholders(sentence: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(sentence) if name}


@pytest.mark.parametrize("part", table())
def test_every_sentence_is_written_in_english_and_chinese_with_the_same_facts(part):
    entries = table()[part]
    assert entries
    for key, entry in entries.items():
        assert set(OWN_LANGUAGES) <= set(entry) <= set(LANGUAGES), key
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


FRENCH = """name = "Français"
explore.page = "Explorer"
train.queue = "{count} {count:tâche attend|tâches attendent}"
heads.support = "{queries} requêtes"
heads.page = 7
"""

TOLD = """
import json
from explorer.core.i18n import LANGUAGES, nearest_language, say, section
from explorer.components.html_export import html_page
from tests.support.example_traces import example_trace
print(json.dumps({
    "languages": LANGUAGES,
    "near": [nearest_language(tag) for tag in ("fr-CA", "fr", "pt-PT", "de", "zh-TW")],
    "said": [say("explore.page", "fr"), say("train.queue", "fr", count=1),
             say("train.queue", "fr", count=2), say("heads.support", "fr", queries=1, sentences=2),
             say("explore.title", "fr")],
    "section": section("heads", "fr")["page"],
    "page": html_page(example_trace(), "fr")[:60],
}))
"""


def test_a_file_adds_a_language_and_what_it_does_not_say_is_said_in_english(tmp_path):
    (tmp_path / "fr.toml").write_text(FRENCH, "utf-8")
    (tmp_path / "pt-BR.toml").write_text("name = 'Português'\n", "utf-8")
    (tmp_path / "es.toml").write_text("name = Español\n", "utf-8")  # no TOML
    (tmp_path / "it.toml").write_text("explore.page = 'Esplora'\n", "utf-8")  # no name
    (tmp_path / "zh.toml").write_text("name = '中文'\nexplore.page = '查'\n", "utf-8")
    environment = {**os.environ, folders.LANGUAGES_VARIABLE: str(tmp_path)}
    root = folders.IMPORT_ROOT
    run = [sys.executable, "-c", TOLD]
    told = json.loads(subprocess.check_output(run, cwd=root, env=environment, encoding="utf-8"))
    assert told["languages"] == {**LANGUAGES, "fr": "Français", "pt-BR": "Português"}
    assert told["near"] == ["fr", "fr", "pt-BR", "en", "zh"]
    assert told["said"] == [
        "Explorer",
        "1 tâche attend",
        "2 tâches attendent",
        say("heads.support", queries=1, sentences=2),
        say("explore.title"),
    ]
    assert told["section"] == "Heads"
    assert '<html lang="fr">' in told["page"]


@pytest.mark.parametrize(
    ("tag", "near"), [("en-US", "en"), ("ZH-hans", "zh"), ("zh", "zh"), ("xx", "en"), ("", "en")]
)
def test_a_browser_is_answered_in_the_nearest_language(tag, near):
    assert nearest_language(tag) == near


def test_sentences_in_a_row_have_a_space_between_them_where_the_language_has_one():
    assert in_a_row(["One.", "Two.", "Three."], "en") == "One. Two. Three."
    assert in_a_row(["一。", "二。"], "zh") == "一。二。"
    assert in_a_row(["One."], "en") == "One."


def test_pages_in_chinese_say_that_they_are_in_simplified_characters():
    assert [html_language(one) for one in ("en", "zh", "fr")] == ["en", "zh-Hans", "fr"]


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
        ("train.queue", {"count": 1}, "1 job before a new run"),
        ("train.queue", {"count": 2}, "2 jobs before a new run"),
        ("train.queue", {"count": 11}, "11 jobs before a new run"),
        ("heads.support", {"queries": 1, "sentences": 0}, "1 query, 0 sentences"),
        ("heads.support", {"queries": "1", "sentences": "1"}, "1 query, 1 sentence"),
        ("player.inside_keys", {"count": 1}, "1 unmasked key"),
        ("lessons.choices_count", {"card": 2, "count": 1, "most": 4}, "card 2 offers 1 choice,"),
        ("heads.changed_tags", {"count": 1, "tokens": 7}, "1 of 7 tokens gets another label."),
        (
            "huggingface.unused_weights",
            {"model_class": "A", "count": 1, "names": "w"},
            "“A” has no place for 1 weight of the files (w); it is left out, as the library does.",
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
