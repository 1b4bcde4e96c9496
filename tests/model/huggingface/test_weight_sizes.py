"""Sizes in a config against those of the weights beside it."""

import json
from pathlib import Path

import pytest

from explorer.core.errors import ModelDirectoryError
from explorer.model.huggingface.weight_sizes import refuse_other_sizes, tensor_sizes
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


@pytest.mark.parametrize(
    "described",
    [{"n_layer": 1001}, {"vocab_size": 13}, {"text_config": {"hidden_size": 2**70}}],
)
def test_a_config_of_other_sizes_is_refused(described, file):
    with pytest.raises(ModelDirectoryError) as refused:
        refuse_other_sizes(file.parent, described, [file])
    assert refused.value.key == "other_sizes"


@pytest.mark.parametrize("described", [{}, {"n_layer": 1000, "vocab_size": 12, "n_ctx": 2**70}])
def test_a_config_that_fits_is_not_refused(described, file):
    refuse_other_sizes(file.parent, described, [file])
