"""A model in one safetensors file: weights, config, vocabularies and facts.

Loading executes nothing from the file: it has numbers, and JSON in its header.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, NoReturn

import torch
from safetensors import SafetensorError
from safetensors.torch import load as load_tensors
from safetensors.torch import save as save_tensors
from torch import Tensor

from explorer.core.errors import CheckpointError, ConfigError, VocabularyError
from explorer.core.files import reading, write_atomically
from explorer.core.sentencepiece_vocabulary import PieceVocabulary
from explorer.core.vocabulary import SymbolVocabulary, Vocabulary
from explorer.model.config import ModelConfig
from explorer.model.transformer import Transformer

FORMAT_VERSION = 1
LARGEST_FILE = 512 * 2**20
"""Bytes. A larger file is not read."""

_MARK = "attention-explorer"
_PIECES = {"source": "source_pieces", "target": "target_pieces"}  # names of tensors of bytes


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A Transformer with its vocabularies and where it comes from.

    facts: JSON values, such as task, steps, exact match, the command that made it.
    """

    model: Transformer
    source_vocabulary: Vocabulary
    target_vocabulary: Vocabulary
    facts: Mapping[str, Any]


def save_checkpoint(checkpoint: Checkpoint, path: str | Path, *, half: bool = False) -> None:
    """Write `checkpoint` to `path` atomically; see `to_bytes`. Raises `FileError`."""
    write_atomically(Path(path), to_bytes(checkpoint, half=half))


def to_bytes(checkpoint: Checkpoint, *, half: bool = False) -> bytes:
    """The bytes of a checkpoint file; `half`: weights as float16, half the size."""
    kind = torch.float16 if half else torch.float32
    tensors = {name: weight.detach().to(kind).cpu() for name, weight in _weights(checkpoint.model)}
    pieces: dict[str, Tensor] = {}
    description = {
        "config": asdict(checkpoint.model.config),
        "source_vocabulary": _describe(checkpoint.source_vocabulary, "source", pieces),
        "target_vocabulary": _describe(checkpoint.target_vocabulary, "target", pieces),
        "facts": dict(checkpoint.facts),
    }
    metadata = {name: json.dumps(part, ensure_ascii=False) for name, part in description.items()}
    return save_tensors(
        {name: tensor.contiguous() for name, tensor in (tensors | pieces).items()},
        {"format": _MARK, "version": str(FORMAT_VERSION), **metadata},
    )


def load_checkpoint(path: str | Path) -> Checkpoint:
    """The checkpoint in a file. Raises `FileError`, and `CheckpointError` when it holds none."""
    path = Path(path)
    with reading(path):
        _refuse_large(path.stat().st_size, path.name)
        data = path.read_bytes()
    return from_bytes(data, path.name)


def from_bytes(data: bytes, name: str) -> Checkpoint:
    """The checkpoint in the bytes of a file called `name`. Raises `CheckpointError`."""
    _refuse_large(len(data), name)
    header = _header(data, name)
    metadata = header.pop("__metadata__", {})
    if not isinstance(metadata, dict) or metadata.get("format") != _MARK:
        raise CheckpointError("foreign_checkpoint", name=name)
    if metadata.get("version") != str(FORMAT_VERSION):
        version = str(metadata.get("version"))[:16]
        raise CheckpointError("checkpoint_version", name=name, got=version, expected=FORMAT_VERSION)
    try:
        tensors = load_tensors(data)
    except (SafetensorError, ValueError, TypeError, KeyError, RuntimeError) as error:
        raise CheckpointError("damaged_checkpoint", name=name) from error
    config, source, target, facts = _description(metadata, tensors, name)
    weights = {key: tensor for key, tensor in tensors.items() if key not in _PIECES.values()}
    return Checkpoint(_model(config, weights, name), source, target, facts)


def _weights(model: Transformer) -> list[tuple[str, Tensor]]:
    """Each parameter once with its name; tied ones have their first name."""
    return [(name, weight) for name, weight in model.named_parameters()]


def _refuse_large(size: int, name: str) -> None:
    if size > LARGEST_FILE:
        limit = LARGEST_FILE // 2**20
        raise CheckpointError("checkpoint_too_large", name=name, size=size // 2**20, limit=limit)


def _header(data: bytes, name: str) -> dict[str, Any]:
    """The JSON header of a safetensors file, read before any size in it is trusted."""
    length = int.from_bytes(data[:8], "little")
    if not 2 <= length <= len(data) - 8 or data[8:9] != b"{":
        pickled = data[:2] == b"PK" or data[:1] == b"\x80"  # zip or pickle: what torch.save writes
        raise CheckpointError("is_pickle" if pickled else "damaged_checkpoint", name=name)
    try:
        header = json.loads(data[8 : 8 + length])
    except (ValueError, RecursionError) as error:
        raise CheckpointError("damaged_checkpoint", name=name) from error
    if not isinstance(header, dict):
        raise CheckpointError("damaged_checkpoint", name=name)
    return header


def _describe(vocabulary: Vocabulary, side: str, pieces: dict[str, Tensor]) -> dict[str, Any]:
    """A vocabulary as JSON; the bytes of a SentencePiece model are added to `pieces` once."""
    if isinstance(vocabulary, SymbolVocabulary):
        return vocabulary.to_json()
    assert isinstance(vocabulary, PieceVocabulary)
    tensor = torch.frombuffer(bytearray(vocabulary.proto), dtype=torch.uint8)
    for known, other in pieces.items():
        if torch.equal(tensor, other):
            return _pieces_entry(vocabulary, known)
    pieces[_PIECES[side]] = tensor
    return _pieces_entry(vocabulary, _PIECES[side])


def _pieces_entry(vocabulary: PieceVocabulary, tensor: str) -> dict[str, Any]:
    stamp = sha256(vocabulary.proto).hexdigest()
    return {"kind": "sentencepiece", "tensor": tensor, "sha256": stamp}


def _vocabulary(entry: dict[str, Any], tensors: Mapping[str, Tensor], name: str) -> Vocabulary:
    """The vocabulary that `_describe` wrote. Raises `VocabularyError`, `CheckpointError`."""
    if entry.get("kind") != "sentencepiece":
        return SymbolVocabulary.from_json(entry)
    tensor = tensors.get(str(entry.get("tensor")))
    if tensor is None or tensor.dtype != torch.uint8:
        raise CheckpointError("damaged_checkpoint", name=name)
    proto = tensor.numpy().tobytes()
    if sha256(proto).hexdigest() != entry.get("sha256"):  # damaged bytes are not parsed
        raise CheckpointError("damaged_checkpoint", name=name)
    return PieceVocabulary(proto)


def _description(
    metadata: dict[str, Any], tensors: Mapping[str, Tensor], name: str
) -> tuple[ModelConfig, Vocabulary, Vocabulary, dict[str, Any]]:
    try:
        parts = {
            key: json.loads(metadata[key])
            for key in ("config", "source_vocabulary", "target_vocabulary", "facts")
        }
        config = ModelConfig.from_json(parts["config"])
        source = _vocabulary(parts["source_vocabulary"], tensors, name)
        target = _vocabulary(parts["target_vocabulary"], tensors, name)
        facts = dict(parts["facts"])
    except (ConfigError, VocabularyError, CheckpointError):
        raise
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise CheckpointError("damaged_facts", name=name) from error
    for vocabulary, entries in (
        (source, config.source_vocabulary),
        (target, config.target_vocabulary),
    ):
        if len(vocabulary) != entries:
            _refuse_weights(name, "vocabulary", len(vocabulary), entries)
    return config, source, target, facts


def _model(config: ModelConfig, weights: Mapping[str, Tensor], name: str) -> Transformer:
    """The Transformer of `config` with `weights`, which must fit it exactly.

    They are counted first, so that no more memory is allocated than the file has weights.
    """
    held = sum(weight.numel() for weight in weights.values())
    if held != config.parameters:
        _refuse_weights(name, "count", held, config.parameters)
    model = Transformer(config)
    own = dict(_weights(model))
    for key in own.keys() | weights.keys():
        expected, got = (list(w[key].shape) if key in w else "none" for w in (own, weights))
        if expected != got:
            _refuse_weights(name, key[:64], got, expected)
        if not weights[key].isfinite().all():
            raise CheckpointError("damaged_checkpoint", name=name)
    with torch.no_grad():
        for key, weight in own.items():
            weight.copy_(weights[key])
    return model.eval()


def _refuse_weights(name: str, weight: str, got: object, expected: object) -> NoReturn:
    raise CheckpointError(
        "mismatched_weights", name=name, weight=weight, got=got, expected=expected
    )
