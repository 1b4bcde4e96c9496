"""Sizes in a config against those of the weights beside it."""

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import torch
from torch import nn

from explorer.core.errors import ModelDirectoryError
from explorer.model.huggingface import weight_sizes
from explorer.model.huggingface.weight_sizes import (
    refuse_other_sizes,
    sizes_within,
    tensor_sizes,
)
from tests.support.odd_files import DEEP


def weights(path: Path, header: str) -> Path:
    """A safetensors file with this header and no numbers."""
    path.write_bytes(len(header).to_bytes(8, "little") + header.encode())
    return path


def shapes(*own: object) -> str:
    tensors = {str(number): {"shape": shape} for number, shape in enumerate(own)}
    return json.dumps({"__metadata__": {"format": "pt"}} | tensors)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return weights(tmp_path / "model.safetensors", shapes([2, 3], [5], []))


def test_the_numbers_of_each_tensor_are_counted(file):
    assert tensor_sizes(file) == [6, 5, 1]


@pytest.mark.parametrize(
    "header",
    [
        *("", "{", "[]", "null", DEEP, '{"a": ' + DEEP + "}", '{"a": 3}', '{"a": {}}'),
        *(shapes(shape) for shape in ("x", None, ["x"], [None], 2**70)),
        "{" + ",".join(f'"{number}":[]' for number in range(500_000)) + "}",
    ],
)
def test_a_damaged_header_has_no_sizes(header, tmp_path):
    assert tensor_sizes(weights(tmp_path / "model.safetensors", header)) is None


def test_pickles_and_missing_files_have_no_sizes(tmp_path):
    assert tensor_sizes(tmp_path / "pytorch_model.bin") is None
    assert tensor_sizes(tmp_path / "missing.safetensors") is None
    (tmp_path / "short.safetensors").write_bytes(b"123")
    assert tensor_sizes(tmp_path / "short.safetensors") is None


def refuse(described: object, file: Path) -> None:
    (file.parent / "config.json").write_text(json.dumps(described))
    refuse_other_sizes(file.parent, [file])


@pytest.mark.parametrize(
    "described",
    [
        *({"n_layer": 1001}, {"vocab_size": 13}, {"text_config": {"hidden_size": 2**70}}),
        *({"num_labels": 10**9}, {"num_labels": 2**70}, {"vision": {"num_labels": 50_001}}),
        {"id2label": {str(number): "x" for number in range(50_001)}},
        *({"attention_types": [[["global"], 10**9]]}, {"num_experts": 2**24 + 1}),
    ],
)
def test_a_config_of_other_sizes_is_refused(described, file):
    with pytest.raises(ModelDirectoryError) as refused:
        refuse(described, file)
    assert refused.value.key == "other_sizes"


@pytest.mark.parametrize(
    "described",
    [
        *({}, {"n_layer": 1000, "vocab_size": 12, "n_positions": 10_485_760, "num_labels": 20_000}),
        {
            "rope_theta": 2**70,
            "sliding_window": 2**63,
            "eos_token_id": [2**31],
            "max_length": 10**9,
        },
    ],
)
def test_a_config_that_fits_is_not_refused(described, file):
    refuse(described, file)


def test_more_labels_than_a_pickle_can_tell_are_refused(tmp_path):
    (tmp_path / "pytorch_model.bin").write_bytes(bytes(9))
    with pytest.raises(ModelDirectoryError):
        refuse({"num_labels": 10**9}, tmp_path / "pytorch_model.bin")


def built(*shapes: tuple[int, ...], buffers: tuple[tuple[int, ...], ...] = ()) -> nn.Module:
    """A module of these tensors that take no memory, as the library builds one first."""
    module = nn.Module()
    for number, shape in enumerate(shapes):
        weight = nn.Parameter(torch.empty(shape, device="meta"))
        module.register_parameter(f"weight {number}", weight)
    for number, shape in enumerate(buffers):
        module.register_buffer(f"buffer {number}", torch.empty(shape, device="meta"))
    return module


def test_safetensors_without_a_header_are_damaged(tmp_path):
    file = weights(tmp_path / "model.safetensors", '{"a": [' + "1," * 500_000 + "1]}")
    with pytest.raises(ModelDirectoryError) as refused:
        refuse({}, file)
    assert refused.value.key == "damaged_weights"


def test_a_header_over_the_limit_is_not_read(file, monkeypatch):
    monkeypatch.setattr(weight_sizes, "_LARGEST_HEADER", 10)
    assert tensor_sizes(file) is None


@pytest.mark.parametrize("name", ["model.safetensors", "pytorch_model.bin"])
def test_a_model_that_is_built_larger_than_its_files_ends_there(name, tmp_path):
    file = weights(tmp_path / name, shapes([2, 3], [5], []))
    with sizes_within(tmp_path, [file]):
        built((2, 3), (5,), (), buffers=((4096, 4096),))
    for tensors in ([(2**26,)], [(1,)] * 30_000):
        with pytest.raises(ModelDirectoryError) as refused, sizes_within(tmp_path, [file]):
            built(*tensors)
        assert refused.value.key == "other_sizes"
    with pytest.raises(ModelDirectoryError), sizes_within(tmp_path, [file]):
        built(buffers=((2**13, 2**13),))
    built((2**26,))


def test_what_another_thread_builds_meanwhile_does_not_count(file):
    with sizes_within(file.parent, [file]), ThreadPoolExecutor(1) as other:
        assert other.submit(built, (2**26,)).result()
