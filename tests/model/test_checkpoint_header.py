import io
import json
import struct
import zipfile
from dataclasses import asdict
from typing import Any

import pytest
import torch
from safetensors.torch import load, save, save_file

from explorer.core.errors import CheckpointError
from explorer.core.vocabulary import SymbolVocabulary
from explorer.model import checkpoint_header
from explorer.model.checkpoint import Checkpoint, to_bytes
from explorer.model.checkpoint_header import (
    LARGEST_FILE,
    LARGEST_HEADER,
    asks_for_memory,
    parse_header,
    read_header,
    refuse_other_kinds,
)
from explorer.model.state_dict import read_weights
from explorer.public.studied_model import import_state_dict
from tests.support.small_trace import small_trace
from tests.support.tiny_configs import PRIMES


@pytest.fixture
def data(make_model) -> bytes:
    source, target = (
        SymbolVocabulary(tuple("abcdefghij")),
        SymbolVocabulary(tuple("abcdefghijklmn")),
    )
    return to_bytes(Checkpoint(make_model(PRIMES), source, target, {"task": "copy"}))


def json_header(data: bytes) -> dict[str, Any]:
    (length,) = struct.unpack("<Q", data[:8])
    return json.loads(data[8 : 8 + length])


def with_header(data: bytes, header: dict[str, Any]) -> bytes:
    """The file with another JSON header before the same tensors."""
    (length,) = struct.unpack("<Q", data[:8])
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data[8 + length :]


def test_a_header_describes_the_model_without_the_rest_of_the_file(data, tmp_path):
    path = tmp_path / "x.safetensors"
    path.write_bytes(data)
    header = read_header(path)
    assert header.config == PRIMES
    assert header.facts == {"task": "copy"}
    assert header.symbols("source") == tuple("abcdefghij")
    assert header.symbols("target") == tuple("abcdefghijklmn")
    assert header.pieces == {}
    (length,) = struct.unpack("<Q", data[:8])
    assert parse_header(data[: 8 + length], len(data), "x") == header


def test_the_counted_weights_must_be_those_of_the_config(data):
    config = json.dumps({**asdict(PRIMES), "encoder_layers": PRIMES.encoder_layers + 1})
    metadata = json_header(data)["__metadata__"]
    other = save(load(data), metadata | {"config": config})
    with pytest.raises(CheckpointError) as caught:
        parse_header(other, len(other), "x")
    assert caught.value.key == "mismatched_weights"


@pytest.mark.parametrize(
    "tensor",
    [
        3,
        {"shape": [2]},
        {"shape": [-1], "data_offsets": [0, 4]},
        {"shape": [1.5], "data_offsets": [0, 4]},
        {"shape": [1], "data_offsets": [4, 0]},
        {"shape": [1], "data_offsets": [0, 10**9]},
    ],
)
def test_a_tensor_outside_of_the_file_or_without_sizes_is_refused(data, tensor):
    other = with_header(data, {**json_header(data), "logits.bias": tensor})
    with pytest.raises(CheckpointError) as caught:
        parse_header(other, len(other), "x")
    assert caught.value.key == "damaged_checkpoint"


def test_a_header_over_the_limit_is_not_parsed():
    start = struct.pack("<Q", LARGEST_HEADER + 1) + b"{"
    with pytest.raises(CheckpointError) as caught:
        parse_header(start, LARGEST_HEADER * 2, "x")
    assert caught.value.key == "header_too_large"


def other_kinds() -> dict[str, bytes]:
    """By the key of the sentence about them, files that are no checkpoints."""
    archive = io.BytesIO()
    torch.save({"weight": torch.ones(2)}, archive)
    return {
        "is_trace": small_trace().to_bytes(),
        "is_page": "\ufeff\n<!DOCTYPE html>\n<html lang='en'>".encode(),
        "is_pickle": archive.getvalue(),
        "no_checkpoint": b"# Words, not numbers\n",
    }


def test_another_kind_of_file_is_called_what_it_is(tmp_path):
    for key, data in other_kinds().items():
        path = tmp_path / f"{key}.safetensors"
        path.write_bytes(data)
        for read in (
            lambda p: read_header(p),
            lambda p: parse_header(p.read_bytes(), 10**6, p.name),
        ):
            with pytest.raises(CheckpointError) as caught:
                read(path)
            assert (caught.value.key, caught.value.facts) == (key, {"name": path.name})


def test_what_torch_did_not_write_is_called_what_it_is(data, tmp_path):
    kinds = other_kinds() | {"is_safetensors": data}
    for key in ("is_trace", "is_page", "is_safetensors"):
        (tmp_path / key).write_bytes(kinds[key])
        with (tmp_path / key).open("rb") as file, pytest.raises(CheckpointError) as caught:
            refuse_other_kinds(file, "x")
        assert caught.value.key == key
    for key in ("is_pickle", "no_checkpoint"):
        file = io.BytesIO(kinds[key])
        refuse_other_kinds(file, "x")
        assert file.tell() == 0


def gpt2(prefix: str = "") -> dict[str, torch.Tensor]:
    """The names of the weights in nanoGPT and, without a prefix, in GPT-2 of the library."""
    names = ("wte", "h.0.ln_1", "h.0.attn.c_attn", "h.0.mlp.c_fc")
    mask = torch.ones(1, 1, 2, 2, dtype=torch.uint8)
    weights = {f"{prefix}{name}.weight": torch.ones(2, 2) for name in names}
    return {f"{prefix}h.0.attn.bias": mask, **weights}


@pytest.mark.parametrize("prefix", ["", "transformer.", "_orig_mod.transformer."])
def test_weights_in_the_layout_of_gpt2_name_wrap(prefix, tmp_path):
    """Wherever they are given; also in a file that is larger than a checkpoint may be."""
    weights, path = gpt2(prefix), tmp_path / "x.safetensors"
    loop = {"model": weights, "optimizer": {"state": {}}, "iter_num": 3}
    save_file(weights, path)
    torch.save(loop, tmp_path / "x.pt")
    with (tmp_path / "x.pt").open("ab") as file:
        file.truncate(LARGEST_FILE + 1)
    options = {"heads": 1, "specials": (0, 1, 2)}
    for read, name in (
        (lambda: read_header(path), path.name),
        (lambda: read_header(tmp_path / "x.pt"), "x.pt"),
        (lambda: parse_header(path.read_bytes(), 10**6, "x"), "x"),
        (lambda: read_weights(tmp_path / "x.pt", "x"), "x"),
        (lambda: import_state_dict(path, "annotated", **options), path.name),
        (lambda: import_state_dict(loop, "annotated", **options), "state_dict"),
    ):
        with pytest.raises(CheckpointError, match=r"explorer\.wrap") as caught:
            read()
        assert (caught.value.key, caught.value.facts) == ("gpt2_weights", {"name": name})
        assert "explorer.wrap" in caught.value.in_language("zh")


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
    monkeypatch.setattr(checkpoint_header, "_LARGEST_PICKLE", 100)
    assert not asks_for_memory(file)
    monkeypatch.setattr(checkpoint_header, "_LARGEST_PICKLE", 99)
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
