"""One file = one model: weights, config, vocabularies and facts in one safetensors file.

Loading never executes code: safetensors holds numbers, the description beside them is JSON.
"""

import json
import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NoReturn

import torch
from safetensors import SafetensorError
from safetensors.torch import load as load_tensors
from safetensors.torch import save as save_tensors
from torch import Tensor

from explorer.errors import CheckpointError, ConfigError, VocabularyError
from explorer.model import ModelConfig, Transformer
from explorer.vocabulary import SymbolVocabulary

FORMAT_VERSION = 1
LARGEST_FILE = 512 * 2**20
"""Bytes. A larger file is not opened."""

_MARK = "attention-explorer"


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A Transformer, what its ids mean, and where it comes from.

    facts: JSON values: task, steps, exact match, the command that made it, …
    """

    model: Transformer
    source_vocabulary: SymbolVocabulary
    target_vocabulary: SymbolVocabulary
    facts: Mapping[str, Any]


def save_checkpoint(checkpoint: Checkpoint, path: str | Path) -> None:
    """Write `checkpoint` to `path`, whole or not at all. Raises `CheckpointError`."""
    write_atomically(Path(path), to_bytes(checkpoint))


def to_bytes(checkpoint: Checkpoint) -> bytes:
    """The contents of a checkpoint file."""
    description = {
        "config": asdict(checkpoint.model.config),
        "source_vocabulary": checkpoint.source_vocabulary.to_json(),
        "target_vocabulary": checkpoint.target_vocabulary.to_json(),
        "facts": dict(checkpoint.facts),
    }
    metadata = {name: json.dumps(part, ensure_ascii=False) for name, part in description.items()}
    return save_tensors(
        {name: weight.detach().cpu().contiguous() for name, weight in _weights(checkpoint.model)},
        {"format": _MARK, "version": str(FORMAT_VERSION), **metadata},
    )


def load_checkpoint(path: str | Path) -> Checkpoint:
    """The checkpoint in a file. Raises `CheckpointError` when it holds none of ours."""
    path = Path(path)
    try:
        size = path.stat().st_size
        _refuse_large(size, path.name)
        data = path.read_bytes()
    except OSError as error:
        raise CheckpointError("unreadable_file", name=path.name) from error
    return from_bytes(data, path.name)


def from_bytes(data: bytes, name: str) -> Checkpoint:
    """The checkpoint in the bytes of a file called `name`; see `load_checkpoint`."""
    _refuse_large(len(data), name)
    header = _header(data, name)
    metadata = header.pop("__metadata__", {})
    if not isinstance(metadata, dict) or metadata.get("format") != _MARK:
        raise CheckpointError("foreign_checkpoint", name=name)
    if metadata.get("version") != str(FORMAT_VERSION):
        version = str(metadata.get("version"))[:16]
        raise CheckpointError("checkpoint_version", name=name, got=version, expected=FORMAT_VERSION)
    config, source, target, facts = _description(metadata, name)
    try:
        weights = load_tensors(data)
    except (SafetensorError, ValueError, TypeError, KeyError, RuntimeError) as error:
        raise CheckpointError("damaged_checkpoint", name=name) from error
    return Checkpoint(_model(config, weights, name), source, target, facts)


def write_atomically(path: Path, data: bytes) -> None:
    """Replace the file at `path` by `data`; a reader sees the old file or the new one whole.

    Raises `CheckpointError` when it cannot be written.
    """
    with _said(path):
        with _new_file_beside(path) as file:
            half = Path(file.name)
            try:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            except OSError:
                half.unlink()
                raise
        half.chmod(0o644)  # closed by now: Windows replaces no open file
        half.replace(path)


def refuse_unwritable(path: Path) -> None:
    """Raise `CheckpointError` now when a file at `path` could not be written later."""
    with _said(path):
        if path.is_dir():
            raise IsADirectoryError(21, "it is a folder")
        with _new_file_beside(path) as file:
            name = file.name
        Path(name).unlink()


def _new_file_beside(path: Path) -> "tempfile._TemporaryFileWrapper[bytes]":
    path.parent.mkdir(parents=True, exist_ok=True)
    return tempfile.NamedTemporaryFile(dir=path.parent, prefix=path.name, delete=False)


@contextmanager
def _said(path: Path) -> Iterator[None]:
    """What the system refuses is told as a sentence about `path`."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise CheckpointError("unwritable_file", name=path.name, reason=reason) from error


def _weights(model: Transformer) -> list[tuple[str, Tensor]]:
    """Each parameter once, by name: tied ones under their first name."""
    return [(name, weight) for name, weight in model.named_parameters()]


def _refuse_large(size: int, name: str) -> None:
    if size > LARGEST_FILE:
        limit = LARGEST_FILE // 2**20
        raise CheckpointError("checkpoint_too_large", name=name, size=size // 2**20, limit=limit)


def _header(data: bytes, name: str) -> dict[str, Any]:
    """The JSON at the head of a safetensors file; nothing is allocated on its word."""
    if data[:2] == b"PK" or data[:1] == b"\x80":  # a zip or a pickle: torch.save wrote it
        raise CheckpointError("is_pickle", name=name)
    length = int.from_bytes(data[:8], "little")
    if len(data) < 8 or not 2 <= length <= len(data) - 8:
        raise CheckpointError("damaged_checkpoint", name=name)
    try:
        header = json.loads(data[8 : 8 + length])
    except (ValueError, RecursionError) as error:
        raise CheckpointError("damaged_checkpoint", name=name) from error
    if not isinstance(header, dict):
        raise CheckpointError("damaged_checkpoint", name=name)
    return header


def _description(
    metadata: dict[str, Any], name: str
) -> tuple[ModelConfig, SymbolVocabulary, SymbolVocabulary, dict[str, Any]]:
    try:
        parts = {
            key: json.loads(metadata[key])
            for key in ("config", "source_vocabulary", "target_vocabulary", "facts")
        }
        config = ModelConfig.from_json(parts["config"])
        source = SymbolVocabulary.from_json(parts["source_vocabulary"])
        target = SymbolVocabulary.from_json(parts["target_vocabulary"])
        facts = dict(parts["facts"])
    except (ConfigError, VocabularyError):
        raise
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise CheckpointError("damaged_facts", name=name) from error
    for vocabulary, entries in (
        (source, config.source_vocabulary),
        (target, config.target_vocabulary),
    ):
        if len(vocabulary) != entries:
            _refuse_weight(name, "vocabulary", len(vocabulary), entries)
    return config, source, target, facts


def _model(config: ModelConfig, weights: Mapping[str, Tensor], name: str) -> Transformer:
    """The Transformer of `config` with `weights`, which must be exactly its own.

    They are counted first: no more is reserved than the file itself holds.
    """
    held = sum(weight.numel() for weight in weights.values())
    if held != config.parameters:
        _refuse_weight(name, "count", held, config.parameters)
    model = Transformer(config)
    own = dict(_weights(model))
    for key in own.keys() | weights.keys():
        expected, got = (list(w[key].shape) if key in w else "none" for w in (own, weights))
        if expected != got:
            _refuse_weight(name, key[:64], got, expected)
        if not weights[key].isfinite().all():
            raise CheckpointError("damaged_checkpoint", name=name)
    with torch.no_grad():
        for key, weight in own.items():
            weight.copy_(weights[key])
    return model.eval()


def _refuse_weight(name: str, weight: str, got: object, expected: object) -> NoReturn:
    raise CheckpointError(
        "mismatched_weights", name=name, weight=weight, got=got, expected=expected
    )
