import tomllib

import pytest

from explorer.__main__ import main
from tests.support.pseudo_language import NAME, write_pseudo_language


def test_what_is_missing_is_printed_as_lines_of_the_file(tmp_path, capsys):
    path = tmp_path / "fr.toml"
    path.write_text('name = "Français"\nexplore.page = "Explorer"\n', "utf-8")
    assert main(["language", str(path)]) == 0
    told = capsys.readouterr()
    missing = tomllib.loads(told.out)
    assert missing["heads"]["page"] == "Heads"
    assert "page" not in missing["explore"]
    total = 1 + sum(map(len, missing.values()))
    assert f"fr.toml: Français, 1 of {total} sentences" in told.err


def test_a_whole_file_has_nothing_missing(tmp_path, capsys):
    assert main(["language", str(write_pseudo_language(tmp_path))]) == 0
    told = capsys.readouterr()
    assert told.out == ""
    assert f"{NAME}, all " in told.err


@pytest.mark.parametrize(
    ("lines", "status", "message"),
    [
        ('name = "Français"\nheads.page = "{têtes}"', 1, "heads.page is said in English, since"),
        ("name = Français", 2, "error: fr.toml cannot be read as TOML"),
    ],
)
def test_what_is_wrong_is_said_and_is_the_status(lines, status, message, tmp_path, capsys):
    path = tmp_path / "fr.toml"
    path.write_text(lines, "utf-8")
    assert main(["language", str(path)]) == status
    assert message in capsys.readouterr().err


def test_a_folder_is_no_language(tmp_path, capsys):
    assert main(["language", str(tmp_path)]) == 2
    assert "is a folder, and a file is expected" in capsys.readouterr().err
