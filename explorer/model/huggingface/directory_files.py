"""What is in a model directory, read without the library: its config, weights and tokenizer."""

from collections.abc import Iterable
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from explorer.core import json_values
from explorer.core.errors import ModelDirectoryError

CONFIG = "config.json"

_WEIGHTS = ("model*.safetensors", "pytorch_model*.bin")
"""Safetensors come before pickles."""

_VOCABULARY = ("tokenizer.json", "vocab*", "*.model", "*.spm", "merges.txt", "bpe.codes")
_SETTINGS = ("tokenizer_config.json", "special_tokens_map.json")
_LARGEST_CONFIG = 16 * 2**20


def read_config(path: Path) -> dict[str, Any]:
    """`config.json` of a directory. Raises `ModelDirectoryError` where it names no model."""
    if not path.exists():
        raise ModelDirectoryError("no_directory", name=path.name)
    if not path.is_dir():
        raise ModelDirectoryError("not_a_directory", name=path.name)
    if not (path / CONFIG).is_file():
        key = "no_config" if any(path.iterdir()) else "empty_directory"
        raise ModelDirectoryError(key, name=path.name)
    try:
        described = _object(path / CONFIG)
    except (OSError, ValueError, RecursionError) as error:
        raise ModelDirectoryError("damaged_config", name=path.name) from error
    if not isinstance(described.get("model_type"), str):
        raise ModelDirectoryError("no_model_type", name=path.name)
    return described


def weight_files(path: Path) -> list[Path]:
    """The files with weights: safetensors if there are any, else pickles without code."""
    names = weights_among(file.name for file in path.iterdir())
    if not names:
        raise ModelDirectoryError("no_weights", name=path.name)
    return [path / name for name in names]


def weights_among(names: Iterable[str]) -> list[str]:
    """Those of the files of a directory that have its weights, in order; none without weights."""
    listed = list(names)
    for pattern in _WEIGHTS:
        if found := sorted(name for name in listed if fnmatchcase(name, pattern)):
            return found
    return []


def tokenizer_among(names: Iterable[str]) -> list[str]:
    """Those of the files of a directory that belong to its tokenizer, in order."""
    patterns = (*_VOCABULARY, *_SETTINGS)
    return sorted(name for name in names if _matches(name, patterns))


def mask_token(path: Path) -> str:
    """The mask token of a tokenizer as its settings name it; where they do not, the usual one."""
    for name in _SETTINGS:
        try:
            found = _object(path / name).get("mask_token")
        except (OSError, ValueError, RecursionError):
            continue
        text = found.get("content") if isinstance(found, dict) else found
        if isinstance(text, str) and text.strip():
            return text
    return "[MASK]" if (path / "vocab.txt").exists() else "<mask>"


def _matches(name: str, patterns: Iterable[str]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)


def _object(file: Path) -> dict[str, Any]:
    """A JSON object in a file. Raises `OSError`, `ValueError` or `RecursionError`."""
    if file.stat().st_size > _LARGEST_CONFIG:
        raise ValueError("too large")
    return json_values.parse_object(file.read_bytes())
