import io
import zipfile

import pytest
import torch

from explorer.model import pickled_weights
from explorer.model.pickled_weights import asks_for_memory

ARRAY = b"\x80\x02cbuiltins\nbytearray\n\x8a\x05\x00\x00\x00\x00\x03\x85R."
"""A pickle of 12 GB of zeros."""


def archive(pickled: bytes, method: int = zipfile.ZIP_STORED) -> io.BytesIO:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as members:
        members.writestr("x/data.pkl", pickled)
    return file


@pytest.mark.parametrize(
    "file", [io.BytesIO(ARRAY), archive(ARRAY), archive(bytes(99), zipfile.ZIP_DEFLATED)]
)
def test_a_file_that_asks_for_memory_is_told(file):
    assert asks_for_memory(file)


def test_a_pickle_that_is_too_long_to_look_through_is_told(monkeypatch):
    file = archive(b"." * 100)
    monkeypatch.setattr(pickled_weights, "_LARGEST_PICKLE", 100)
    assert not asks_for_memory(file)
    monkeypatch.setattr(pickled_weights, "_LARGEST_PICKLE", 99)
    assert asks_for_memory(file)


@pytest.mark.parametrize("zipped", [True, False])
def test_weights_are_not(zipped):
    file = io.BytesIO()
    weights = {"a.weight": torch.ones(3, 3), "b": torch.zeros(2)}
    torch.save(weights, file, _use_new_zipfile_serialization=zipped)
    assert not asks_for_memory(file)
    assert torch.load(file, weights_only=True).keys() == weights.keys()


@pytest.mark.parametrize("data", [b"", b"PK\x03\x04", b"x" * 100])
def test_what_is_no_pickle_asks_for_nothing(data):
    assert not asks_for_memory(io.BytesIO(data))
