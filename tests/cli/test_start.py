import os
from pathlib import Path

import pytest

from explorer.__main__ import main
from explorer.app.server import launch
from explorer.core import folders


@pytest.mark.parametrize(
    ("arguments", "options"),
    [([], {}), (["start"], {}), (["start", "--port", "8600"], {"server.port": 8600})],
)
def test_the_app_is_served(arguments, options, monkeypatch):
    served = []
    monkeypatch.setattr(launch, "serve", lambda given: served.append(given) or 0)
    assert main(arguments) == 0
    assert served == [options]


@pytest.mark.parametrize(
    ("arguments", "served"),
    [
        ([], (None, "", "", False, None)),
        (["--port", "8600"], (8600, "", "", False, None)),
        (["--address", "127.0.0.1", "--name", "x.org"], (None, "127.0.0.1", "x.org", False, None)),
        (["--new-key"], (None, "", "", True, None)),
        (["--guests", "300"], (None, "", "", False, 300)),
    ],
)
def test_a_class_is_served_where_the_options_say(arguments, served, monkeypatch):
    calls = []

    def serve_class(*given: object, new_key: bool, guests: int | None) -> int:
        calls.append((*given, new_key, guests))
        return 0

    monkeypatch.setattr(launch, "serve_class", serve_class)
    assert main(["class", *arguments]) == 0
    assert calls == [served]


def test_the_options_of_both_are_listed(capsys):
    for command, options in {
        "start": ["--port", "--models"],
        "class": ["--port", "--address", "--name", "--guests", "--models", "--lessons"],
    }.items():
        with pytest.raises(SystemExit):
            main([command, "--help"])
        printed = capsys.readouterr().out
        assert all(option in printed for option in options)


@pytest.fixture
def listed(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Path, ...]]:
    """The folders of models that each started server lists."""
    starts: list[tuple[Path, ...]] = []
    for name in ("serve", "serve_class"):
        monkeypatch.setattr(launch, name, lambda *_, **__: starts.append(folders.models()) or 0)
    monkeypatch.setenv(folders.MODELS_VARIABLE, "")  # set by the command: undone after the test
    return starts


def test_the_named_folders_are_listed_and_an_empty_one_gets_a_line(
    listed, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    for name in ("a model", "empty"):
        (tmp_path / name).mkdir()
    (tmp_path / "a model" / "config.json").write_text("{}")
    (tmp_path / "a model" / "model.safetensors").touch()
    assert main(["start"]) == 0
    assert main(["start", "--models", "a model"]) == 0
    assert capsys.readouterr().err == ""
    assert main(["class", "--models", "a model", str(tmp_path / "empty"), "--port", "8600"]) == 0
    assert listed == [(), (tmp_path / "a model",), (tmp_path / "a model", tmp_path / "empty")]
    assert "no model in or below" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "words"),
    [("none", "no directory"), ("file", "is a file"), (f"a{os.pathsep}b", "rename the folder")],
)
def test_what_is_no_folder_is_refused(name, words, listed, tmp_path, capsys):
    (tmp_path / "file").touch()
    (tmp_path / f"a{os.pathsep}b").mkdir()
    assert main(["start", "--models", str(tmp_path / name)]) == 2
    assert words in capsys.readouterr().err
    assert listed == []


def test_the_lessons_of_a_folder_are_listed_and_broken_ones_named(
    listed, tmp_path, monkeypatch, capsys
):
    monkeypatch.setenv(folders.LESSONS_VARIABLE, "")
    (tmp_path / "bad.en.md").write_text("no title")
    (tmp_path / "empty").mkdir()
    assert main(["start", "--lessons", str(tmp_path), str(tmp_path / "empty")]) == 0
    told = capsys.readouterr().err.splitlines()
    assert len(told) == 2
    assert told[0].startswith("The lesson “bad.en.md” is left out")
    assert "has no lessons" in told[1]
    assert folders.lessons() == (folders.SHIPPED_LESSONS, tmp_path, tmp_path / "empty")
    assert main(["class", "--lessons", str(tmp_path / "none")]) != 0
    assert "no such folder" in capsys.readouterr().err
