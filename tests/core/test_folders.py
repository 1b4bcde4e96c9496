import os
from pathlib import Path

import pytest

from explorer.core import folders

MADE = {folders.RUNS_VARIABLE: folders.runs, folders.REPORTS_VARIABLE: folders.reports}


@pytest.mark.parametrize("variable", MADE)
def test_what_is_made_goes_to_the_current_folder_or_where_a_variable_says(
    variable, monkeypatch, tmp_path
):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv(variable, raising=False)
    assert MADE[variable]().parent == tmp_path
    monkeypatch.setenv(variable, "")
    assert MADE[variable]().parent == tmp_path
    monkeypatch.setenv(variable, "elsewhere")
    assert MADE[variable]() == tmp_path / "elsewhere"


def test_what_ships_is_found_from_any_folder(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv(folders.CHECKPOINTS_VARIABLE, raising=False)
    assert (folders.checkpoints() / "reverse.safetensors").is_file()
    assert (folders.shipped_reports() / "reverse.json").is_file()
    assert (folders.shipped_runs() / "reverse" / "config.json").is_file()
    assert (folders.STRINGS / "errors.toml").is_file()


def test_checkpoints_inside_the_package_come_first(monkeypatch, tmp_path):
    package = tmp_path / "explorer"
    monkeypatch.setattr(folders, "PACKAGE", package)
    monkeypatch.setattr(folders, "IMPORT_ROOT", tmp_path)
    assert folders.shipped_checkpoints() == tmp_path / "checkpoints"
    (package / "checkpoints").mkdir(parents=True)
    assert folders.shipped_checkpoints() == package / "checkpoints"


def test_a_named_folder_replaces_the_checkpoints_but_not_the_shipped_runs(monkeypatch, tmp_path):
    monkeypatch.setenv(folders.CHECKPOINTS_VARIABLE, str(tmp_path))
    assert folders.checkpoints() == tmp_path
    assert folders.shipped_reports() == tmp_path / "heads"
    assert folders.shipped_runs() == Path(folders.shipped_checkpoints() / "recorded")


def test_folders_of_models_are_named_as_in_path(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv(folders.MODELS_VARIABLE, raising=False)
    assert folders.models() == ()
    monkeypatch.setenv(folders.MODELS_VARIABLE, os.pathsep.join(("a", "", str(tmp_path))))
    assert folders.models() == (tmp_path / "a", tmp_path)


def test_lessons_of_named_folders_follow_those_that_ship(monkeypatch, tmp_path):
    monkeypatch.delenv(folders.LESSONS_VARIABLE, raising=False)
    assert folders.lessons() == (folders.SHIPPED_LESSONS,)
    monkeypatch.setenv(folders.LESSONS_VARIABLE, str(tmp_path))
    assert folders.lessons() == (folders.SHIPPED_LESSONS, tmp_path)


def test_files_of_languages_are_those_that_ship_then_those_of_named_folders(monkeypatch, tmp_path):
    monkeypatch.delenv(folders.LANGUAGES_VARIABLE, raising=False)
    shipped = folders.language_files()
    assert shipped == tuple(sorted(folders.SHIPPED_LANGUAGES.glob("*.toml")))
    for name in ("pt-BR.toml", "fr.toml", "fr.txt"):
        (tmp_path / name).touch()
    (tmp_path / "es.toml").mkdir()
    monkeypatch.setenv(folders.LANGUAGES_VARIABLE, str(tmp_path))
    assert folders.language_files() == (*shipped, tmp_path / "fr.toml", tmp_path / "pt-BR.toml")
