import pytest

from explorer.core.language_file import LanguageFile, read_language_file

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
