import json
import sys

import numpy as np
import pytest

import explorer
from explorer.__main__ import main
from explorer.components.labels import describe
from explorer.core import folders
from explorer.core.errors import (
    CheckpointError,
    FileError,
    ModelDirectoryError,
    TraceError,
    VocabularyError,
)
from explorer.core.trace import Trace
from explorer.jobs.training_run import create_run
from explorer.jobs.training_worker import run_training
from explorer.model import checkpoint, opening
from explorer.model.catalog import UploadedModel, UploadedTrace
from explorer.model.checkpoint import piece_models, save_checkpoint, to_bytes
from explorer.model.explorable import ExplorableModel
from explorer.model.huggingface.opening.hub import EXTRA
from explorer.model.opening import load, read_upload
from tests.support.huggingface_families import saved, tiny_model
from tests.support.odd_files import checkpoint_with
from tests.support.tiny_configs import TINY


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


@pytest.mark.parametrize("name", ["", "state.safetensors", "config.json", "metrics.jsonl"])
def test_what_belongs_to_a_run_names_its_checkpoint(name, tmp_path, capsys):
    run = create_run(tmp_path / "run", TINY)
    run_training(run)
    assert main(["trace", str(run.folder / name), "1 2"]) == 2
    printed = capsys.readouterr().err
    assert f"open its checkpoint “{run.checkpoint_path}” instead" in printed
    assert load(run.checkpoint_path).name == "checkpoint"


def test_a_damaged_checkpoint_of_a_run_is_called_damaged(tmp_path):
    run = create_run(tmp_path / "run", TINY)
    run_training(run)
    run.checkpoint_path.write_bytes(run.checkpoint_path.read_bytes()[:-9])
    with pytest.raises(CheckpointError) as caught:
        load(run.checkpoint_path)
    assert caught.value.key == "damaged_checkpoint"


def test_a_checkpoint_becomes_a_directory(explorable, tmp_path):
    assert explorer.export_huggingface(explorable, str(tmp_path / "x")) <= 1e-4
    assert explorer.load(tmp_path / "x").trace("1 2").text == explorable.trace("1 2").text


def test_what_cannot_be_exported_is_refused(explorable, tmp_path, monkeypatch):
    with pytest.raises(FileError):
        explorer.export_huggingface(explorable, 3)
    with pytest.raises(ModelDirectoryError) as caught:
        explorer.export_huggingface("reverse", tmp_path / "x")
    assert caught.value.key == "export_other"
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(ModelDirectoryError) as caught:
        explorer.export_huggingface(explorable, tmp_path / "x")
    assert "pip install" in str(caught.value)


def test_an_uploaded_checkpoint_is_a_model_to_choose(explorable):
    upload = read_upload("../my model.safetensors", to_bytes(explorable.checkpoint))
    assert isinstance(upload, UploadedModel)
    assert upload.name == "my model"
    assert upload.model.trace("1").text == explorable.trace("1").text
    assert describe(upload, "en").startswith("my model · 1+2 layers · 3 heads")
    assert describe(upload, "en").endswith("uploaded")


def test_an_uploaded_trace_comes_without_a_model(explorable):
    trace = explorable.trace("1 2 3")
    upload = read_upload("example.trace", trace.to_bytes())
    assert isinstance(upload, UploadedTrace)
    assert upload.name == "example.trace"
    assert upload.trace.digest == trace.digest
    assert describe(upload, "en") == "example.trace · trace without its model"


def test_an_uploaded_archive_of_numpy_is_a_trace(tmp_path):
    weights = np.full((2, 3, 4, 4), 0.25, np.float32)
    np.savez(tmp_path / "x.npz", encoder=weights, source_tokens=list("abcd"))
    upload = read_upload("x.NPZ", (tmp_path / "x.npz").read_bytes())
    assert isinstance(upload, UploadedTrace)
    assert upload.name == "x.npz"
    np.testing.assert_array_equal(upload.trace.attention("encoder"), weights)


@pytest.mark.parametrize(
    ("name", "data", "error"),
    [
        ("x.npz", b"PK\x03\x04 nothing", TraceError),
        ("x.trace", b"PK\x03\x04 nothing", TraceError),
        ("x.safetensors", b"\x80\x04 pickle", CheckpointError),
        ("x.safetensors", b"", CheckpointError),
    ],
)
def test_a_file_that_is_neither_is_refused_in_a_sentence(name, data, error):
    with pytest.raises(error, match="“x"):
        read_upload(name, data)


def test_a_trace_too_large_to_keep_is_refused_before_it_unfolds(monkeypatch):
    monkeypatch.setattr(opening, "LARGEST_UPLOADED", 2**20)
    large = Trace.from_arrays(["a"] * 300, encoder=np.full((1, 4, 300, 300), 1 / 300)).to_bytes()
    monkeypatch.setattr(np, "load", None)  # unpacking the file would fail
    with pytest.raises(TraceError, match="more than 1 MB"):
        read_upload("large.trace", large)


def test_uploaded_pieces_are_parsed_in_a_child_first(monkeypatch):
    parsed: list[str] = []
    data = (folders.shipped_checkpoints() / "english-french-early.safetensors").read_bytes()
    proto, *others = piece_models(data, "x")
    assert not others  # shared by both sides

    def refuse(given: bytes, name: str) -> None:
        assert given == proto
        parsed.append("child")
        raise VocabularyError("slow_pieces", name=name)

    monkeypatch.setattr(opening, "refuse_harmful", refuse)
    monkeypatch.setattr(checkpoint, "PieceVocabulary", lambda proto: parsed.append("here"))
    with pytest.raises(VocabularyError, match="more time or memory"):
        read_upload("x.safetensors", data)
    assert parsed == ["child"]


def test_uploaded_pieces_are_parsed_once_here_for_both_sides(monkeypatch):
    made = []
    vocabulary = checkpoint.PieceVocabulary
    monkeypatch.setattr(
        checkpoint, "PieceVocabulary", lambda proto: made.append(proto) or vocabulary(proto)
    )
    path = folders.shipped_checkpoints() / "english-french-early.safetensors"
    upload = read_upload(path.name, path.read_bytes())
    assert upload.model.trace("The cat sleeps.").text
    assert len(made) == 1


def test_pieces_elsewhere_than_in_their_tensor_are_not_parsed():
    data = (folders.shipped_checkpoints() / "english-french-early.safetensors").read_bytes()
    header = json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")])
    entry = json.loads(header["__metadata__"]["source_vocabulary"])
    odd = checkpoint_with(data, source_vocabulary=json.dumps(entry | {"tensor": "logits.bias"}))
    with pytest.raises(CheckpointError):
        read_upload("x.safetensors", odd)
