"""Config, weight files and tokenizer files of a model directory, read without the library."""

import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import suppress
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from explorer.core import json_values
from explorer.core.errors import FileError, ModelDirectoryError
from explorer.core.files import byte_count, printable, read_bytes, reading

CONFIG = "config.json"

_WEIGHTS = ("model*.safetensors", "pytorch_model*.bin")
"""Safetensors come before pickles."""

_VOCABULARY = ("tokenizer.json", "vocab*", "*.model", "*.spm", "merges.txt", "bpe.codes")
_SETTINGS = ("tokenizer_config.json", "special_tokens_map.json")
_TEMPLATES = "additional_chat_templates"
"""A folder in the directory; the library reads its files with the tokenizer."""

_OTHER = ("*config*.json", "*.index.json", "added_tokens.json", "*.jinja", "*.tiktoken")

LARGEST_CONFIG = 16 * 2**20
"""Bytes."""

LARGEST_VOCABULARY = 64 * 2**20
"""Bytes of a tokenizer file; one with 262,000 entries and 514,000 merges has 33 million."""


def refuse_odd_files(path: Path) -> None:
    """Raise `ModelDirectoryError` on a pipe or device in a directory, for which the library might
    wait for ever, and on a too large file that the library reads whole.

    Call this before the library reads the directory.
    """
    for file, status in _files(path):
        named = {"name": path.name, "file": printable(file)}
        if not stat.S_ISREG(status.st_mode):
            raise ModelDirectoryError("odd_file", **named)
        limit = _limit(file)
        if limit is not None and status.st_size > limit:
            sizes = {"size": byte_count(status.st_size), "limit": byte_count(limit)}
            raise ModelDirectoryError("large_file", **named, **sizes)


def _files(path: Path) -> Iterator[tuple[str, os.stat_result]]:
    """Files in a directory and in its folder of templates, without folders and broken links."""
    for folder in (path, path / _TEMPLATES):
        with reading(folder):
            listed = sorted(folder.iterdir()) if folder.is_dir() else []
        for file in listed:
            with suppress(OSError):
                status = file.stat()
                if not stat.S_ISDIR(status.st_mode):
                    yield file.name, status


def _limit(name: str) -> int | None:
    """The most bytes of a file that is read whole, or None for other files."""
    if _matches(name, (CONFIG, *_SETTINGS, *_OTHER)):
        return LARGEST_CONFIG
    return LARGEST_VOCABULARY if _matches(name, _VOCABULARY) else None


def read_config(path: Path) -> dict[str, Any]:
    """`config.json` of a directory. Raises `ModelDirectoryError` if it is missing or cannot be
    read."""
    if not path.exists():
        raise ModelDirectoryError("no_directory", name=path.name)
    if not path.is_dir():
        raise ModelDirectoryError("not_a_directory", name=path.name)
    if not (path / CONFIG).exists():
        key = "no_config" if any(path.iterdir()) else "empty_directory"
        raise ModelDirectoryError(key, name=path.name)
    try:
        return _object(path / CONFIG)
    except (FileError, ValueError, RecursionError) as error:
        raise ModelDirectoryError("damaged_config", name=path.name) from error


def weight_files(path: Path) -> list[Path]:
    """The files with weights: safetensors if there are any, else pickles.

    Raises `ModelDirectoryError` without weights.
    """
    names = weights_among(file.name for file in path.iterdir())
    if not names:
        raise ModelDirectoryError("no_weights", name=path.name)
    return [path / name for name in names]


def weights_among(names: Iterable[str]) -> list[str]:
    """The weight files among the `names` of a directory, in order; empty without weights."""
    listed = list(names)
    for pattern in _WEIGHTS:
        if found := sorted(name for name in listed if fnmatchcase(name, pattern)):
            return found
    return []


def tokenizer_among(names: Iterable[str]) -> list[str]:
    """The tokenizer files among the `names` of a directory, in order."""
    patterns = (*_VOCABULARY, *_SETTINGS)
    return sorted(name for name in names if _matches(name, patterns))


def mask_token(path: Path) -> str:
    """The mask token in the settings of a tokenizer, by default the usual one of its kind."""
    for name in _SETTINGS:
        try:
            found = _object(path / name).get("mask_token")
        except (FileError, ValueError, RecursionError):
            continue
        text = found.get("content") if isinstance(found, dict) else found
        if isinstance(text, str) and text.strip():
            return text
    return "[MASK]" if (path / "vocab.txt").exists() else "<mask>"


def _matches(name: str, patterns: Iterable[str]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)


def _object(file: Path) -> dict[str, Any]:
    """A JSON object in a file. Raises `FileError`, `ValueError` or `RecursionError`."""
    return json_values.parse_object(read_bytes(file, LARGEST_CONFIG))
