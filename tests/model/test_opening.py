import sys

import pytest

import explorer
from explorer.__main__ import main
from explorer.core import folders
from explorer.core.errors import FileError, ModelDirectoryError
from explorer.core.trace import Trace
from explorer.model.checkpoint import save_checkpoint
from explorer.model.explorable import ExplorableModel
from explorer.model.opening import EXTRA, load
from tests.support.huggingface_families import saved, tiny_model


def test_a_file_is_a_checkpoint_and_a_directory_a_model_of_the_library(explorable, tmp_path):
    save_checkpoint(explorable.checkpoint, tmp_path / "tiny.safetensors")
    assert isinstance(explorer.load(tmp_path / "tiny.safetensors"), ExplorableModel)
    folder = saved(tiny_model("llama"), tmp_path / "llama")
    model = explorer.load(str(folder), name="mine")
    trace = model.trace("5 6 7", max_new_tokens=2)
    assert trace.facts["model"] == "mine"
    assert trace.integrity().set_index("check").ok["equals_library"]


def test_a_name_without_a_file_is_that_of_a_model_that_ships(explorable, tmp_path, monkeypatch):
    assert load("sort").name == "sort"
    monkeypatch.chdir(tmp_path)
    for file in ("sort", "other"):
        save_checkpoint(explorable.checkpoint, tmp_path / file)
    assert load("sort", "own").checkpoint.source_vocabulary == explorable.source_vocabulary
    monkeypatch.setenv(folders.CHECKPOINTS_VARIABLE, str(tmp_path))
    (tmp_path / "other").rename("listed.safetensors")
    assert load("listed").name == "listed"
    with pytest.raises(
        FileError, match=r"“reverse” is neither .* those that ship are listed\. .*--download"
    ):
        load("reverse")
    with pytest.raises(ModelDirectoryError, match="no file or directory “x/listed”, and no model"):
        load("x/listed")
    for name in ("x/y/listed.pt", "../listed", "reverse.safetensors", "x" * 5000 + ".safetensors"):
        with pytest.raises(FileError, match="cannot be read"):
            load(name)


@pytest.mark.parametrize("path", [5, None])
def test_what_is_no_path_is_refused_in_a_sentence(path):
    with pytest.raises(FileError, match=r"A path is a text"):
        explorer.load(path)


def test_an_empty_path_and_a_folder_without_a_name_are_told_apart(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(FileError, match="path is an empty text"):
        explorer.load("")
    (tmp_path / "notes.txt").touch()
    with pytest.raises(ModelDirectoryError, match=f"“{tmp_path.name}” has no config"):
        explorer.load(".")


def test_without_the_library_one_line_says_how_to_add_it(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(ModelDirectoryError) as caught:
        load(tmp_path)
    assert EXTRA in str(caught.value)


def test_the_command_traces_a_directory(tmp_path, capsys):
    folder = saved(tiny_model("marian"), tmp_path / "marian")
    page, file = tmp_path / "x.html", tmp_path / "x.trace"
    given = ["trace", str(folder), "5 6 7", "--max-new-tokens", "3"]
    assert main([*given, "--out", str(page)]) == 0
    assert "note: " in capsys.readouterr().err
    assert "<html" in page.read_text(encoding="utf-8")[:200]
    assert main([*given, "--ablate", "cross.1.2", "--out", str(file)]) == 0
    assert Trace.load(file).facts["interventions"] == ["ablate cross.1.2"]
    assert main(["trace", str(tmp_path), "x"]) == 2
    assert "config.json" in capsys.readouterr().err


def test_a_file_inside_a_model_directory_names_the_directory(tmp_path):
    folder = saved(tiny_model("marian"), tmp_path / "marian")
    for name in ("config.json", "model.safetensors"):
        with pytest.raises(ModelDirectoryError) as caught:
            load(folder / name)
        assert caught.value.key == "inside_directory"
        assert str(folder) in str(caught.value)
