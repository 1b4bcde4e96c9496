"""A model in one safetensors file: weights, config, vocabularies and facts.

Loading executes nothing from the file: it has numbers, and JSON in its header.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal, NoReturn

import torch
from safetensors import SafetensorError
from safetensors.torch import load as load_tensors
from safetensors.torch import save as save_tensors
from torch import Tensor

from explorer.core.errors import CheckpointError, VocabularyError
from explorer.core.files import as_path, read_bytes, write_atomically
from explorer.core.sentencepiece_vocabulary import PieceVocabulary
from explorer.core.vocabulary import BOS, EOS, SymbolVocabulary, Vocabulary
from explorer.model.checkpoint_header import (
    FORMAT_VERSION,
    MARK,
    PIECES,
    CheckpointHeader,
    parse_header,
    read_header,
    refuse_large,
)
from explorer.model.config import ModelConfig
from explorer.model.listed_model import ModelSummary
from explorer.model.transformer import Transformer
from explorer.model.wrapped_names import bare

_SPARE_NUMBERS = 10_000_000
"""Numbers (40 MB of float32) that a model may hold beyond those that its file accounts for."""


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A Transformer with its vocabularies and its origin.

    facts: JSON values, such as task, steps, exact match, the command that made it.
    """

    model: Transformer
    source_vocabulary: Vocabulary
    target_vocabulary: Vocabulary
    facts: Mapping[str, Any]

    @property
    def summary(self) -> ModelSummary:
        """Its summary in the list of models."""
        symbols = getattr(self.source_vocabulary, "symbols", ())
        return ModelSummary.of(asdict(self.model.config), symbols, self.facts)

    def ids(self, text: str, side: Literal["source", "target"], *, ended: bool = True) -> list[int]:
        """Ids of `text`, EOS last if `ended`. Raises `VocabularyError` if it cannot be read or is
        too long."""
        vocabulary = self.source_vocabulary if side == "source" else self.target_vocabulary
        ids = [*vocabulary.encode(text), *([EOS] if ended else [])]
        self._refuse_long(ids, f"long_{side}")
        return ids

    def read(self, text: str) -> tuple[list[int], list[int]]:
        """Ids of `text` for the encoder, with their end, and for the decoder, the prompt: in a
        decoder alone the source is empty, in any other model the prompt. Raises as `ids`."""
        if not self.model.config.decoder_only:
            return self.ids(text, "source"), []
        prompt = self.target_vocabulary.encode(text)
        self._refuse_long([BOS, *prompt], "long_prompt")
        return [], prompt

    def _refuse_long(self, ids: Sequence[int], key: str) -> None:
        limit = self.model.config.max_length
        if len(ids) > limit:
            raise VocabularyError(key, got=len(ids), limit=limit)

    def __repr__(self) -> str:
        sizes = f"{self.source_vocabulary!r} → {self.target_vocabulary!r}"
        return f"Checkpoint({self.model.config!r}, {sizes})"


def save_checkpoint(checkpoint: Checkpoint, path: str | Path, *, half: bool = False) -> None:
    """Write `checkpoint` to `path` atomically; see `to_bytes`. Raises `FileError`."""
    write_atomically(as_path(path), to_bytes(checkpoint, half=half))


def to_bytes(checkpoint: Checkpoint, *, half: bool = False) -> bytes:
    """The bytes of a checkpoint file; `half`: weights as float16, half the size."""
    kind = torch.float16 if half else torch.float32
    tensors = {name: weight.detach().to(kind).cpu() for name, weight in _weights(checkpoint.model)}
    pieces: dict[str, Tensor] = {}
    description = {
        "config": checkpoint.model.config.to_json(),
        "source_vocabulary": _describe(checkpoint.source_vocabulary, "source", pieces),
        "target_vocabulary": _describe(checkpoint.target_vocabulary, "target", pieces),
        "facts": dict(checkpoint.facts),
    }
    metadata = {name: json.dumps(part, ensure_ascii=False) for name, part in description.items()}
    data = save_tensors(
        {name: tensor.contiguous() for name, tensor in (tensors | pieces).items()},
        {"format": MARK, "version": str(FORMAT_VERSION), **metadata},
    )
    return _with_sorted_metadata(data)


def _with_sorted_metadata(data: bytes) -> bytes:
    """A safetensors file with its metadata by name, so that one checkpoint always has the same
    bytes: the library writes them in any order."""
    end = 8 + int.from_bytes(data[:8], "little")
    header = json.loads(data[8:end])
    header["__metadata__"] = dict(sorted(header["__metadata__"].items()))
    text = json.dumps(header, ensure_ascii=False, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)  # the tensors begin at a multiple of 8 bytes
    return len(text).to_bytes(8, "little") + text + data[end:]


def load_checkpoint(path: str | Path) -> Checkpoint:
    """The checkpoint in a file. Raises `FileError`, and `CheckpointError` if it holds none."""
    path = as_path(path)
    read_header(path)  # refuses other files before the rest is read
    return from_bytes(read_bytes(path), path.name)


def from_bytes(data: bytes, name: str) -> Checkpoint:
    """The checkpoint in the bytes of a file called `name`. Raises `CheckpointError`."""
    refuse_large(len(data), name)
    header = parse_header(data, len(data), name)
    try:
        tensors = load_tensors(data)
    except (SafetensorError, ValueError, TypeError, KeyError, RuntimeError) as error:
        raise CheckpointError("damaged_checkpoint", name=name) from error
    source, target = _vocabularies(header, tensors, name)
    weights = {key: tensor for key, tensor in tensors.items() if key not in PIECES.values()}
    model = built(header.config, bare(weights), name)
    return Checkpoint(model, source, target, header.facts)


def piece_models(data: bytes, name: str) -> tuple[bytes, ...]:
    """The distinct SentencePiece models in the bytes of a checkpoint, not parsed.

    Raises `CheckpointError`.
    """
    refuse_large(len(data), name)
    header = parse_header(data, len(data), name)
    return tuple({data[first:end]: None for first, end in header.pieces.values()})


def _weights(model: Transformer) -> list[tuple[str, Tensor]]:
    """Each parameter once with its name; tied ones have their first name."""
    return [(name, weight) for name, weight in model.named_parameters()]


def _describe(vocabulary: Vocabulary, side: str, pieces: dict[str, Tensor]) -> dict[str, Any]:
    """A vocabulary as JSON; the bytes of a SentencePiece model are added to `pieces` once."""
    if isinstance(vocabulary, SymbolVocabulary):
        return vocabulary.to_json()
    assert isinstance(vocabulary, PieceVocabulary)
    tensor = torch.frombuffer(bytearray(vocabulary.proto), dtype=torch.uint8)
    for known, other in pieces.items():
        if torch.equal(tensor, other):
            return _pieces_entry(vocabulary, known)
    pieces[PIECES[side]] = tensor
    return _pieces_entry(vocabulary, PIECES[side])


def _pieces_entry(vocabulary: PieceVocabulary, tensor: str) -> dict[str, Any]:
    stamp = sha256(vocabulary.proto).hexdigest()
    return {"kind": "sentencepiece", "tensor": tensor, "sha256": stamp}


def _vocabularies(
    header: CheckpointHeader, tensors: Mapping[str, Tensor], name: str
) -> tuple[Vocabulary, Vocabulary]:
    """Source and target as `_describe` wrote them; shared pieces are parsed once.

    Raises `VocabularyError`, `CheckpointError`.
    """
    stored = header.vocabularies
    source = _vocabulary(stored["source"], tensors, name)
    same = stored["source"] == stored["target"]
    target = source if same else _vocabulary(stored["target"], tensors, name)
    sizes = header.config.source_vocabulary, header.config.target_vocabulary
    for vocabulary, entries in zip((source, target), sizes, strict=True):
        if len(vocabulary) != entries:
            _refuse_weights(name, "vocabulary", len(vocabulary), entries)
    return source, target


def _vocabulary(entry: Mapping[str, Any], tensors: Mapping[str, Tensor], name: str) -> Vocabulary:
    if entry.get("kind") != "sentencepiece":
        return SymbolVocabulary.from_json(dict(entry))
    stored = entry.get("tensor")
    tensor = tensors.get(str(stored)) if stored in PIECES.values() else None
    if tensor is None or tensor.dtype != torch.uint8:
        raise CheckpointError("damaged_checkpoint", name=name)
    proto = tensor.numpy().tobytes()
    if sha256(proto).hexdigest() != entry.get("sha256"):  # damaged bytes are not parsed
        raise CheckpointError("damaged_checkpoint", name=name)
    return PieceVocabulary(proto)


def built(config: ModelConfig, weights: Mapping[str, Tensor], name: str) -> Transformer:
    """The Transformer of `config` with the `weights` of a file called `name`.

    Raises `CheckpointError` unless the weights fit the config exactly.

    A config that claims far more numbers than the file holds is refused before memory is taken.
    (A model on the meta device would take none, but importing that takes a second.)
    """
    stored = sum(weight.numel() for weight in weights.values())
    claimed = config.parameters + 2 * config.max_length * config.d_model  # + both positions
    if claimed > 2 * stored + _SPARE_NUMBERS:
        _refuse_weights(name, "*", f"{stored:,}", f"{config.parameters:,}")
    model = Transformer(config)
    shapes = dict(_weights(model))
    for key in sorted(shapes.keys() | weights.keys()):
        expected, got = (list(w[key].shape) if key in w else "none" for w in (shapes, weights))
        if expected != got:
            _refuse_weights(name, key[:64], got, expected)
        if not weights[key].isfinite().all():
            raise CheckpointError("damaged_checkpoint", name=name)
    with torch.no_grad():
        for key, weight in shapes.items():
            weight.copy_(weights[key])
    return model.eval()


def _refuse_weights(name: str, weight: str, got: object, expected: object) -> NoReturn:
    raise CheckpointError(
        "mismatched_weights", name=name, weight=weight, got=got, expected=expected
    )
