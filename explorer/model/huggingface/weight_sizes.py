"""Compare the sizes in a config with those of the weights, before the library builds the model.

For a hundred thousand layers or a billion labels the library takes minutes or all memory.
"""

import json
import struct
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from math import prod
from pathlib import Path
from typing import Any

from torch import Tensor
from torch.nn.modules.module import (
    register_module_buffer_registration_hook,
    register_module_parameter_registration_hook,
)

from explorer.core import json_values
from explorer.core.errors import FileError, ModelDirectoryError
from explorer.core.files import opened, read_text
from explorer.model.huggingface.directory_files import CONFIG, LARGEST_CONFIG

_LAYERS = ("num_hidden_layers", "num_layers", "n_layer", "encoder_layers", "decoder_layers")
_WIDTHS = ("vocab_size", "hidden_size", "d_model", "n_embd", "intermediate_size", "d_ff")
_LABELS = ("num_labels", "id2label", "label2id")
_FREE = ("theta", "window", "seed", "_id", "length", "context")
"""Parts of the names of integers that are not sizes of built parts, and may be huge."""

_ALWAYS_ALLOWED = 1000
"""Layers that are always allowed, since they may share their weights, as in ALBERT."""

_MOST_LABELS = 50_000
_LARGEST_SIZE = 2**24
"""Largest size of parts that are not stored, such as computed positions."""

_SPARE_NUMBERS = 2**25
"""Numbers that a model may have beyond two for each byte of its files, such as masks of all
positions."""

_SPARE_TENSORS = 20_000
_TENSOR_BYTES = 100
"""Least bytes of a tensor with its name in a file."""

_LARGEST_HEADER = 32 * 2**20
"""Bytes, enough for 100,000 tensors; the library takes 15 times as much memory."""


def refuse_other_sizes(path: Path, files: Sequence[Path]) -> None:
    """Raise `ModelDirectoryError` if a config asks for more layers than there are tensors, for a
    larger vocabulary, width or other size than there are numbers, or for more than `_MOST_LABELS`
    labels; and on safetensors without a readable header."""
    counts = [tensor_sizes(file) for file in files]
    for file, own in zip(files, counts, strict=True):
        if own is None and file.suffix == ".safetensors":
            raise ModelDirectoryError("damaged_weights", name=path.name, reason=file.name)
    whole = None not in counts  # False for pickles, whose sizes are checked on loading
    sizes = [size for own in counts if own is not None for size in own]
    for name, value in _integers(json.loads(read_text(path / CONFIG, LARGEST_CONFIG))):
        most = max(_LARGEST_SIZE, sum(sizes))
        if name in _LABELS:
            most = _MOST_LABELS
        elif whole and sizes and name in _LAYERS:
            most = max(_ALWAYS_ALLOWED, len(sizes))
        elif whole and sizes and name in _WIDTHS:
            most = sum(sizes)
        if value > most:
            raise ModelDirectoryError("other_sizes", name=path.name)


@contextmanager
def sizes_within(path: Path, files: Sequence[Path]) -> Iterator[None]:
    """Raise `ModelDirectoryError` as soon as models built in the block, on this thread, have many
    more tensors or numbers than the files. The library first builds them without memory."""
    counts, here = [tensor_sizes(file) for file in files], threading.get_ident()
    stored = sum(file.stat().st_size for file in files)
    tensors = stored // _TENSOR_BYTES  # upper bound for a pickle
    if None not in counts:
        tensors = sum(len(own or ()) for own in counts)
    # A stored byte may hold two numbers of a quantised model.
    left = [4 * tensors + _SPARE_TENSORS, 2 * stored + _SPARE_NUMBERS]

    def count(module: Any, name: str, tensor: Tensor | None) -> None:
        if tensor is None or threading.get_ident() != here:
            return
        left[0] -= 1
        left[1] -= tensor.numel()
        if min(left) < 0:
            raise ModelDirectoryError("other_sizes", name=path.name)

    registered = (
        register_module_parameter_registration_hook(count),
        register_module_buffer_registration_hook(count),
    )
    try:
        yield
    finally:
        for hook in registered:
            hook.remove()


def tensor_sizes(file: Path) -> list[int] | None:
    """Count of numbers of each tensor in a safetensors file.

    None for another kind of file, a damaged one, or a header over the limit.
    """
    if file.suffix != ".safetensors":
        return None
    try:
        with opened(file) as stream:
            (length,) = struct.unpack("<Q", stream.read(8))
            if length > _LARGEST_HEADER:
                return None
            header = json_values.parse_object(stream.read(length))
        tensors = [entry for name, entry in header.items() if name != "__metadata__"]
        return [prod(int(size) for size in entry["shape"]) for entry in tensors]
    except (FileError, OSError, ValueError, OverflowError, KeyError, TypeError, struct.error):
        return None


def _integers(value: Any, name: str = "") -> Iterator[tuple[str, int]]:
    """(name, value) of all sizes, including those of parts such as a text config; of listed
    labels, their number."""
    if name in ("id2label", "label2id") and isinstance(value, Mapping):
        yield name, len(value)
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from _integers(item, key)
    elif isinstance(value, list):
        for item in value:
            yield from _integers(item, name)
    elif isinstance(value, int) and not any(part in name for part in _FREE):
        yield name, value
