"""The header of a checkpoint file, read and limited in size before anything else.

A safetensors file begins with the length of its header (8 bytes, little endian) and a JSON header:
name → dtype, shape and data_offsets of each tensor, and strings under "__metadata__". A file of
torch is a pickle, which is searched before torch unpickles it: no code runs then, but it may take
all memory.
"""

import math
import re
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from explorer.core import json_values
from explorer.core.errors import CheckpointError
from explorer.core.files import opened, size_of
from explorer.core.number_format import typed_number
from explorer.core.vocabulary import SymbolVocabulary
from explorer.model.config import ModelConfig

MARK = "attention-explorer"
FORMAT_VERSION = 1
LARGEST_FILE = 512 * 2**20
"""Bytes. A larger file is not read."""

LARGEST_HEADER = 4 * 2**20
"""Bytes. Parsed, a header may take 25 times its size."""

PIECES = {"source": "source_pieces", "target": "target_pieces"}
"""The tensors of bytes that hold SentencePiece models, by side."""

_PARTS = ("config", "source_vocabulary", "target_vocabulary", "facts")
_LENGTH = 8  # bytes of the number before the header
_START = 2**16  # bytes that other kinds of files are recognised by
_TRACE_MEMBER = b"header.npy"  # the first file in the zip archive of a trace
_ZIP_NAME = 30  # bytes before the name of that file
_GPT2 = re.compile(rb"\bh\.\d+\.attn\.c_attn\.")  # of a weight, in either kind of file
_LARGEST_PICKLE = 64 * 2**20
"""Bytes that are searched; the pickle, without the numbers of the weights, comes first."""


@dataclass(frozen=True, slots=True)
class CheckpointHeader:
    """The parsed header.

    config: the sizes of the model; the number of stored weights fits them.
    vocabularies: by side, the stored entry: symbols, or the tensor of a SentencePiece model.
    facts: JSON values, cleaned.
    pieces: by tensor, the byte range (first, last + 1) of a SentencePiece model in the file.
    """

    config: ModelConfig
    vocabularies: Mapping[str, Mapping[str, Any]]
    facts: dict[str, Any]
    pieces: Mapping[str, tuple[int, int]]

    def symbols(self, side: str) -> tuple[str, ...]:
        """The symbols of a vocabulary; empty for pieces of words. Raises `VocabularyError`."""
        stored = self.vocabularies[side]
        if stored.get("kind") == "sentencepiece":
            return ()
        return SymbolVocabulary.from_json(dict(stored)).symbols


def read_header(path: Path) -> CheckpointHeader:
    """The header of a file; nothing else of it is read.

    Raises `FileError` and the errors of `parse_header`.
    """
    with opened(path) as file:
        size, start = size_of(file), file.read(_START)
        refuse_gpt2(start, path.name)  # most are larger
        refuse_large(size, path.name)
        length = _header_length(start, size, path.name)
        data = start + file.read(max(0, _LENGTH + length - len(start)))
    return parse_header(data, size, path.name)


def parse_header(data: bytes, size: int, name: str) -> CheckpointHeader:
    """The header of a file called `name` of `size` bytes that begins with `data`.

    Raises `CheckpointError`, and `ConfigError` on impossible sizes.
    """
    refuse_gpt2(data[:_START], name)
    length = _header_length(data[:_START], size, name)
    try:
        header = json_values.parse_object(data[_LENGTH : _LENGTH + length])
    except ValueError as error:
        raise CheckpointError("damaged_checkpoint", name=name) from error
    metadata = header.pop("__metadata__", {})
    if not isinstance(metadata, dict) or metadata.get("format") != MARK:
        raise CheckpointError("foreign_checkpoint", name=name)
    if not all(isinstance(text, str) for text in metadata.values()):
        raise CheckpointError("damaged_facts", name=name)
    if metadata.get("version") != str(FORMAT_VERSION):
        version = str(metadata.get("version", ""))[:16]
        newer = (typed_number(version) or 0) > FORMAT_VERSION
        key = "checkpoint_version" if newer else "no_checkpoint_version"
        raise CheckpointError(key, name=name, got=version, expected=FORMAT_VERSION)
    shapes, pieces = _tensors(header, _LENGTH + length, size, name)
    try:
        parts = {key: json_values.parse_object(metadata[key]) for key in _PARTS}
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise CheckpointError("damaged_facts", name=name) from error
    config = ModelConfig.from_json(parts["config"])
    held = sum(shapes.values())
    if held != config.parameters:
        raise CheckpointError(
            "mismatched_weights", name=name, weight="count", got=held, expected=config.parameters
        )
    vocabularies = {side: parts[f"{side}_vocabulary"] for side in PIECES}
    return CheckpointHeader(config, vocabularies, parts["facts"], pieces)


def refuse_large(size: int, name: str) -> None:
    """Raise `CheckpointError` when a file called `name` has more than `LARGEST_FILE` bytes."""
    if size > LARGEST_FILE:
        limit = LARGEST_FILE // 2**20
        raise CheckpointError("checkpoint_too_large", name=name, size=size // 2**20, limit=limit)


def refuse_gpt2(start: bytes, name: str) -> None:
    """Raise `CheckpointError` if the first bytes of a file called `name`, or the name of a weight
    in it, are of the layout of GPT-2 and nanoGPT."""
    if _GPT2.search(start):
        raise CheckpointError("gpt2_weights", name=name)


def refuse_other_kinds(file: BinaryIO, name: str) -> None:
    """Raise `CheckpointError` if an opened file called `name` is a trace, a page, a pointer or a
    safetensors file, which torch did not write, or has the layout of GPT-2. Rewinds the file."""
    start = file.read(_START)
    file.seek(0)
    refuse_gpt2(start, name)
    if key := _other_kind(start):
        raise CheckpointError(key, name=name)
    if start[_LENGTH:].startswith(b"{") and _length(start) <= LARGEST_HEADER:
        raise CheckpointError("is_safetensors", name=name)


def _other_kind(start: bytes) -> str | None:
    """Key of the message about a file whose first bytes show that it holds no weights, or None."""
    if start[:2] == b"PK" and start[_ZIP_NAME:].startswith(_TRACE_MEMBER):
        return "is_trace"
    if start.lstrip(b"\xef\xbb\xbf \t\r\n").lower().startswith((b"<!doctype html", b"<html")):
        return "is_page"
    return "is_pointer" if start.startswith(b"version ") else None


def _length(start: bytes) -> int:
    """Length of the header of a safetensors file in bytes, from its first bytes."""
    return int.from_bytes(start[:_LENGTH], "little")


def _header_length(start: bytes, size: int, name: str) -> int:
    length = _length(start)
    if not start[_LENGTH:].startswith(b"{"):
        pickled = start[:2] == b"PK" or start[:1] == b"\x80"  # zip or pickle, as of torch.save
        short = len(start) <= _LENGTH
        other = "is_pickle" if pickled else "damaged_checkpoint" if short else "no_checkpoint"
        raise CheckpointError(_other_kind(start) or other, name=name)
    if not 2 <= length <= size - _LENGTH:
        raise CheckpointError("damaged_checkpoint", name=name)
    if length > LARGEST_HEADER:
        limit = LARGEST_HEADER // 2**20
        raise CheckpointError("header_too_large", name=name, size=length // 2**20, limit=limit)
    return length


def _tensors(
    header: Mapping[str, Any], start: int, size: int, name: str
) -> tuple[dict[str, int], dict[str, tuple[int, int]]]:
    """Counts of numbers by weight, and byte ranges of the SentencePiece models.

    start: the byte where the data begin.
    """
    counts: dict[str, int] = {}
    pieces: dict[str, tuple[int, int]] = {}
    for key, tensor in header.items():
        try:
            shape, (first, end) = tensor["shape"], tensor["data_offsets"]
            if not all(type(n) is int and n >= 0 for n in (*shape, first, end)):
                raise ValueError("no size")
        except (ValueError, TypeError, KeyError) as error:
            raise CheckpointError("damaged_checkpoint", name=name) from error
        if not first <= end <= size - start:
            raise CheckpointError("damaged_checkpoint", name=name)
        if key in PIECES.values():
            pieces[key] = (start + first, start + end)
        else:
            counts[key] = math.prod(shape)
    return counts, pieces


def asks_for_memory(file: BinaryIO) -> bool:
    """Whether unpickling a file may take any amount of memory. The file is rewound.

    That is so if it has compressed members, which torch never writes, or if it makes a bytearray,
    whose size is only a number in the pickle.
    """
    file.seek(0)
    pickled = file.read(_LARGEST_PICKLE)
    file.seek(0)
    try:
        with zipfile.ZipFile(file) as archive:
            if any(member.compress_type != zipfile.ZIP_STORED for member in archive.infolist()):
                return True
            names = [member for member in archive.infolist() if member.filename.endswith(".pkl")]
            if any(member.file_size > _LARGEST_PICKLE for member in names):
                return True
            pickled = b"".join(archive.read(member) for member in names)
    except (zipfile.BadZipFile, ValueError, EOFError, RuntimeError, NotImplementedError):
        pass  # no archive: torch reads it as a pickle alone
    file.seek(0)
    return b"bytearray" in pickled
