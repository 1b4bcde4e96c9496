import numpy as np
import pytest

from explorer.core.errors import CheckpointError, TraceError
from explorer.core.trace import Trace
from explorer.model import uploaded_file
from explorer.model.catalog import UploadedModel, UploadedTrace, describe
from explorer.model.checkpoint import to_bytes
from explorer.model.uploaded_file import read_upload


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
    monkeypatch.setattr(uploaded_file, "LARGEST_TRACE", 2**20)
    large = Trace.from_arrays(["a"] * 300, encoder=np.full((1, 4, 300, 300), 1 / 300)).to_bytes()
    monkeypatch.setattr(np, "load", None)  # unpacking the file would fail
    with pytest.raises(TraceError, match="more than 1 MB"):
        read_upload("large.trace", large)
