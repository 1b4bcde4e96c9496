import json

import numpy as np
import pytest

from explorer.components.labels import describe
from explorer.core import folders
from explorer.core.errors import CheckpointError, TraceError, VocabularyError
from explorer.core.trace import Trace
from explorer.model import checkpoint, uploaded_file
from explorer.model.catalog import UploadedModel, UploadedTrace
from explorer.model.checkpoint import piece_models, to_bytes
from explorer.model.uploaded_file import read_upload
from tests.support.odd_files import checkpoint_with


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


@pytest.mark.parametrize(
    ("name", "data", "error"),
    [
        ("x.trace", b"PK\x03\x04 nothing", TraceError),
        ("x.safetensors", b"\x80\x04 pickle", CheckpointError),
        ("x.safetensors", b"", CheckpointError),
    ],
)
def test_a_file_that_is_neither_is_refused_in_a_sentence(name, data, error):
    with pytest.raises(error, match="“x"):
        read_upload(name, data)


def test_a_trace_too_large_to_keep_is_refused_before_it_unfolds(monkeypatch):
    monkeypatch.setattr(uploaded_file, "LARGEST_UPLOADED", 2**20)
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

    monkeypatch.setattr(uploaded_file, "refuse_harmful", refuse)
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
