"""Sizes that a config names, against those of the weights beside it, before the library builds
anything: it takes minutes or all memory for a model of a hundred thousand layers."""

import struct
from collections.abc import Iterator, Mapping, Sequence
from math import prod
from pathlib import Path
from typing import Any

from explorer.core import json_values
from explorer.core.errors import ModelDirectoryError

_LAYERS = ("num_hidden_layers", "num_layers", "n_layer", "encoder_layers", "decoder_layers")
_WIDTHS = ("vocab_size", "hidden_size", "d_model", "n_embd", "intermediate_size", "d_ff")
_ALWAYS_ALLOWED = 1000
"""Layers that may share their weights, as those of ALBERT do."""

_LARGEST_HEADER = 100 * 2**20


def refuse_other_sizes(path: Path, described: Mapping[str, Any], files: Sequence[Path]) -> None:
    """Raise `ModelDirectoryError` when a config asks for more layers than there are tensors, or for
    a larger vocabulary or width than there are numbers."""
    counts = [tensor_sizes(file) for file in files]
    sizes = [size for own in counts if own is not None for size in own]
    if not sizes or None in counts:
        return  # pickles; reading them tells more
    for name, value in _integers(described):
        most = max(_ALWAYS_ALLOWED, len(sizes)) if name in _LAYERS else sum(sizes)
        if name in (*_LAYERS, *_WIDTHS) and value > most:
            raise ModelDirectoryError("other_sizes", name=path.name)


def tensor_sizes(file: Path) -> list[int] | None:
    """The count of numbers of each tensor in a safetensors file; None of another or damaged one."""
    if file.suffix != ".safetensors":
        return None
    try:
        with file.open("rb") as stream:
            (length,) = struct.unpack("<Q", stream.read(8))
            header = json_values.parse_object(stream.read(min(length, _LARGEST_HEADER)))
        tensors = [entry for name, entry in header.items() if name != "__metadata__"]
        return [prod(int(size) for size in entry["shape"]) for entry in tensors]
    except (OSError, ValueError, OverflowError, KeyError, TypeError, struct.error):
        return None


def _integers(described: Mapping[str, Any]) -> Iterator[tuple[str, int]]:
    """All integers with their names, those of parts such as a text config, too."""
    for name, value in described.items():
        if isinstance(value, Mapping):
            yield from _integers(value)
        elif isinstance(value, int):
            yield name, value
