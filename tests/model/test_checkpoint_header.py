import json
import struct
from dataclasses import asdict
from typing import Any

import pytest
from safetensors.torch import load, save

from explorer.core.errors import CheckpointError
from explorer.core.vocabulary import SymbolVocabulary
from explorer.model.checkpoint import Checkpoint, to_bytes
from explorer.model.checkpoint_header import LARGEST_HEADER, parse_header, read_header
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
