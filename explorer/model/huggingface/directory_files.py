"""What is in a model directory, read without the library: its config, weights and tokenizer."""

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
"""Bytes of a file of a tokenizer; that of 262,000 entries and 514,000 merges has 33 million."""


def refuse_odd_files(path: Path) -> None:
    """Raise `ModelDirectoryError` on a pipe or device in a directory, which the library might wait
    for without end, and on a file that it reads whole and that is too large for that; to be called
    before the library looks into the directory."""
    for file, status in _files(path):
        named = {"name": path.name, "file": printable(file)}
        if not stat.S_ISREG(status.st_mode):
            raise ModelDirectoryError("odd_file", **named)
        limit = _limit(file)
        if limit is not None and status.st_size > limit:
            sizes = {"size": byte_count(status.st_size), "limit": byte_count(limit)}
            raise ModelDirectoryError("large_file", **named, **sizes)


def _files(path: Path) -> Iterator[tuple[str, os.stat_result]]:
    """What is in a directory and its templates and is no folder; links to nothing are left out."""
    for folder in (path, path / _TEMPLATES):
        with reading(folder):
            listed = sorted(folder.iterdir()) if folder.is_dir() else []
        for file in listed:
            with suppress(OSError):
                status = file.stat()
                if not stat.S_ISDIR(status.st_mode):
                    yield file.name, status


def _limit(name: str) -> int | None:
    """The most bytes of a file that is read whole; None for others."""
    if _matches(name, (CONFIG, *_SETTINGS, *_OTHER)):
        return LARGEST_CONFIG
    return LARGEST_VOCABULARY if _matches(name, _VOCABULARY) else None


def read_config(path: Path) -> dict[str, Any]:
    """`config.json` of a directory. Raises `ModelDirectoryError` where there is none, or none that
    can be read."""
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
