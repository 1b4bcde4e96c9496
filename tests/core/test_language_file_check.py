import logging
import tomllib

import pytest

from explorer.core import folders
from explorer.core.errors import FileError, LanguageError
from explorer.core.i18n import table
from explorer.core.language_file_check import check_language, log_unusable_languages
from tests.support.pseudo_language import NAME, write_pseudo_language


def checked(tmp_path, lines, name="fr.toml"):
    path = tmp_path / name
    path.write_text(lines, "utf-8")
    return check_language(path)


def test_a_file_with_a_name_alone_lacks_each_sentence_of_the_table(tmp_path):
    found = checked(tmp_path, 'name = "Français"\n')
    english = {
        section: {key: sentences["en"] for key, sentences in entries.items()}
        for section, entries in table().items()
    }
    assert tomllib.loads("\n".join(found.missing)) == english
    assert found.total == len(found.missing) == sum(map(len, english.values()))
    assert found.name == "Français"
    assert found.faults == ()


def test_a_line_that_is_there_is_not_missing_and_each_that_is_not_used_says_why(tmp_path):
    found = checked(
        tmp_path,
        """name = "Français"
explore.page = "Explorer"
train.queue = "{count} attendent"
heads.support = "{queries} requêtes"
heads.page = 7
heads.title = " "
explore.nothing = "Rien"
nothing.page = "Rien"
size = 3
""",
    )
    lines = {line.split(" = ")[0] for line in found.missing}
    assert len(lines) == found.total - 2
    assert not {"explore.page", "train.queue"} & lines
    assert {"heads.support", "heads.page"} <= lines
    assert [(fault.key, fault.facts["line"]) for fault in found.faults] == [
        ("unknown_key", "explore.nothing"),
        ("other_facts", "heads.support"),
        ("no_text", "heads.page"),
        ("unknown_key", "heads.title"),
        ("unknown_key", "nothing.page"),
        ("unknown_key", "size"),
    ]
    said = str(found.faults[1])
    assert "has {queries} {queries:query|queries} {sentences} " in said
    assert said.endswith("this one {queries}.")


@pytest.mark.parametrize(
    ("name", "lines", "key"),
    [
        ("french.toml", 'name = "Français"', "bad_code"),
        ("fr.txt", 'name = "Français"', "bad_code"),
        ("zh.toml", 'name = "中文"', "own_language"),
        ("fr.toml", "name = Français", "no_toml"),
        ("fr.toml", "", "no_name"),
        ("fr.toml", 'name = "  "', "no_name"),
    ],
)
def test_a_file_that_is_not_offered_says_why(tmp_path, name, lines, key, monkeypatch, caplog):
    with pytest.raises(LanguageError) as caught:
        checked(tmp_path, lines, name)
    assert caught.value.key == key
    assert caught.value.in_language("zh") != str(caught.value)
    if name.endswith(".toml"):
        monkeypatch.setenv(folders.LANGUAGES_VARIABLE, str(tmp_path))
        with caplog.at_level(logging.WARNING, "explorer"):
            log_unusable_languages()
        assert str(caught.value) in caplog.text


def test_a_file_that_cannot_be_read_says_so(tmp_path):
    with pytest.raises(FileError):
        check_language(tmp_path / "fr.toml")
    (tmp_path / "fr.toml").write_bytes(b'name = "Fran\xe7ais"')
    with pytest.raises(FileError):
        check_language(tmp_path / "fr.toml")


def test_all_that_is_translated_fits_and_so_does_each_language_that_ships(tmp_path):
    whole = check_language(write_pseudo_language(tmp_path))
    assert (whole.name, whole.missing, whole.faults) == (NAME, (), ())
    for path in folders.SHIPPED_LANGUAGES.glob("*"):
        assert check_language(path).faults == ()
