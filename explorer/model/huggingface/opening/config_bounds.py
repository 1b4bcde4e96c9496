"""Bounds of what a config.json may ask for, before anything is built from it."""

from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from typing import Any

from explorer.core.errors import ModelDirectoryError
from explorer.core.memory import free_memory

_WIDTHS = ("hidden_size", "d_model", "n_embd")
_IDS = "vocab_size"

LEAST = {
    **dict.fromkeys(("num_hidden_layers", "num_layers", "n_layer", "n_layers"), 1),
    **dict.fromkeys(("encoder_layers", "decoder_layers", "num_decoder_layers"), 0),
    **dict.fromkeys((*_WIDTHS, _IDS, "num_attention_heads", "n_head"), 1),
}
"""Field → the least value with which a model computes. A stack may be absent."""

MOST = {
    "*layers": 1_000,
    "n_layer": 1_000,
    f"*{_IDS}": 2**20,
    "num_labels": 2**20,
    **dict.fromkeys(_WIDTHS, 2**20),
}
"""Pattern of a field → the largest value that is built. The largest known are 126 layers, 901,629
ids and a width of 18,432."""

_LEAST_BYTES = 2  # of a weight


def refuse_beyond(described: Mapping[str, Any], name: str) -> None:
    """Raise `ModelDirectoryError` on fewer layers, ids or heads than a model needs, on more layers
    or ids than any has, for which the library would build for minutes, and on embeddings and a
    layer that do not fit into free memory.

    described: config.json. name: of the directory.
    """
    for field, least in LEAST.items():
        if type(got := described.get(field)) is int and got < least:
            raise ModelDirectoryError("size_below", name=name, field=field, got=got, limit=least)
    for part in _parts(described):
        sizes = {field: one for field, one in part.items() if type(one) is int}
        for field, size in sizes.items():
            for pattern, most in MOST.items():
                if fnmatchcase(field, pattern) and size > most:
                    facts = {"field": field, "got": size, "limit": most}
                    raise ModelDirectoryError("size_beyond", name=name, **facts)
        width = max((sizes[field] for field in _WIDTHS if field in sizes), default=0)
        needed, free = _LEAST_BYTES * width * (width + sizes.get(_IDS, 0)), free_memory()
        if needed > free:
            gigabytes = {"needed": f"{needed / 2**30:.1f}", "free": f"{free / 2**30:.1f}"}
            raise ModelDirectoryError("too_large", name=name, **gigabytes)


def _parts(described: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """A config and those inside it, such as that of the text."""
    yield described
    for part in described.values():
        if isinstance(part, Mapping):
            yield from _parts(part)
