"""Config, weight files and tokenizer files of a model directory, read without the library."""

from collections.abc import Iterable
from contextlib import suppress
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from explorer.core import json_values
from explorer.core.errors import FileError, ModelDirectoryError
from explorer.core.files import opened, printable

CONFIG = "config.json"
ADAPTER = "adapter_config.json"
TOKENIZER = "tokenizer.json"

WEIGHTS = ("model*.safetensors", "pytorch_model*.bin")
"""Safetensors come before pickles."""

_SETTINGS = ("tokenizer_config.json", "special_tokens_map.json")
_TOKENIZER = (TOKENIZER, "vocab*", "*.model", "*.spm", "merges.txt", "bpe.codes", *_SETTINGS)

FORMATS = {
    "*.gguf": ("GGUF", "llama.cpp"),
    "quantize_config.json": ("GPTQ", "gptqmodel"),
    "quant_config.json": ("AWQ", "gptqmodel"),
    "tf_model*.h5": ("TensorFlow", "TensorFlow"),
    "*.ckpt.index": ("TensorFlow", "TensorFlow"),
    "flax_model*.msgpack": ("Flax", "JAX"),
    "*.onnx": ("ONNX", "ONNX Runtime"),
    "onnx": ("ONNX", "ONNX Runtime"),
    "openvino_model.*": ("OpenVINO", "OpenVINO"),
    "consolidated.*": ("Meta's or Mistral's own format", "their own code"),
    "*.npz": ("Marian", "marian-nmt"),
    "model.bin": ("CTranslate2", "CTranslate2"),
    "dict.*.txt": ("fairseq", "fairseq"),
}
"""Pattern of a file name → the format of the weights, and what opens it."""

_CONFIG_TYPES = {"architectures": list, "model_type": str}
"""Entries of a config that decide how it is opened; each may be missing or null."""

_POINTER = b"version https://git-lfs.github.com/spec/"


def read_config(path: Path) -> dict[str, Any]:
    """`config.json` of a directory. Raises `ModelDirectoryError` and `FileError`."""
    if not path.is_dir():
        key = "not_a_directory" if path.exists() else "no_directory"
        raise ModelDirectoryError(key, name=path.name)
    if not (path / CONFIG).exists():
        raise other_format(path) or _without_config(path)
    try:
        described = json_values.read_object(path / CONFIG)
        for key, kind in _CONFIG_TYPES.items():
            if not isinstance(described.get(key), kind | None):
                raise ValueError(f"{key} is no {kind.__name__}")
        return described
    except (ValueError, RecursionError) as error:
        raise ModelDirectoryError("damaged_config", name=path.name, reason=str(error)) from error


def _without_config(path: Path) -> ModelDirectoryError:
    """Error about a directory without `config.json`: weights alone, as a Trainer saves an adapted
    model, the folder above a model, as of sentence-transformers, or another one."""
    if weights := _weights_in(path):
        file = printable(weights[0])
        return ModelDirectoryError("weights_alone", name=path.name, file=file)
    inside = sorted(file.parent for file in path.glob(f"*/{CONFIG}"))
    if found := next(filter(_weights_in, inside), None):
        return ModelDirectoryError("model_inside", name=path.name, folder=printable(found.name))
    return ModelDirectoryError("no_config", name=path.name)


def weight_files(path: Path) -> list[Path]:
    """The files with weights. Raises `ModelDirectoryError` without any, and on a pointer that Git
    writes in the place of a large file, and `FileError`."""
    files = [path / name for name in _weights_in(path)]
    if not files:
        raise other_format(path) or ModelDirectoryError("no_weights", name=path.name)
    for file in files:
        with opened(file) as stream:
            if stream.read(len(_POINTER)) == _POINTER:
                named = {"name": path.name, "file": printable(file.name)}
                raise ModelDirectoryError("lfs_pointer", **named)
    return files


def other_format(path: Path) -> ModelDirectoryError | None:
    """Error that names what the directory of another program or an adapter holds, or None."""
    names = sorted(file.name for file in path.iterdir())
    if ADAPTER in names:
        return ModelDirectoryError("adapter", name=path.name)
    for pattern, (form, program) in FORMATS.items():
        if found := [name for name in names if fnmatchcase(name, pattern)]:
            facts = {"file": printable(found[0]), "format": form, "program": program}
            return ModelDirectoryError("other_format", name=path.name, **facts)
    return None


def weights_among(names: Iterable[str]) -> list[str]:
    """The weight files among the `names` of a directory, in order; empty without weights."""
    listed = list(names)
    kinds = ([name for name in listed if fnmatchcase(name, pattern)] for pattern in WEIGHTS)
    return sorted(next(filter(None, kinds), []))


def _weights_in(path: Path) -> list[str]:
    return weights_among(file.name for file in path.iterdir())


def tokenizer_among(names: Iterable[str]) -> list[str]:
    """The tokenizer files among the `names` of a directory, in order."""
    return sorted(name for name in names if any(fnmatchcase(name, one) for one in _TOKENIZER))


def mask_token(path: Path) -> str:
    """The mask token in the settings of a tokenizer, by default the usual one of its kind."""
    for name in _SETTINGS:
        with suppress(FileError, ValueError, RecursionError):
            found = json_values.read_object(path / name).get("mask_token")
            text = found.get("content") if isinstance(found, dict) else found
            if isinstance(text, str) and text.strip():
                return text
    return "[MASK]" if (path / "vocab.txt").exists() else "<mask>"
