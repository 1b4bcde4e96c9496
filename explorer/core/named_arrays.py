"""Attention by the names of its arrays, as `np.savez` and many libraries keep it: one array for a
site, or one for each of its layers."""

import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from explorer.core.errors import TraceError
from explorer.core.trace_from_arrays import NUMBER, as_numbers, in_order
from explorer.core.vocabulary import shorten

TOKENS = ("source_tokens", "target_tokens", "predicted_tokens")
"""Names of arrays of labels or ids."""

_SITES = (  # the first pattern in a name says the site
    (re.compile(r"cross|enc_?dec|encoder_decoder|src_attn|memory|block2"), "cross"),
    (re.compile(r"dec"), "decoder"),
    (re.compile(r"enc"), "encoder"),
)


def by_site(named: Mapping[Any, Any], name: str) -> dict[str, Any]:
    """Arguments of `Trace.from_arrays` from arrays called "encoder", "decoder_layer_0",
    "cross_attentions", …, and `TOKENS`; name: of the file.

    The site of another name follows from the weights: cross-attention has other numbers of queries
    and keys, a decoder exact zeros at all later positions. Without tokens positions are the labels.

    Raises `TraceError` on an array that is neither attention nor tokens.
    """
    weights: dict[str, dict[str, Any]] = {}
    tokens: dict[str, Any] = {}
    for key, array in named.items():
        known = str(key)
        if known in TOKENS and np.ndim(array) == 1:
            tokens[known] = [str(one) for one in np.asarray(array)]
        elif np.ndim(array) < 2 or "float" not in str(getattr(array, "dtype", "")):
            facts = {"array": shorten(known), "got": np.shape(array)}
            raise TraceError("odd_array", name=shorten(name), **facts)
        else:
            weights.setdefault(_site(known, as_numbers(array)), {})[known] = array
    sites = {site: _layers(found) for site, found in weights.items()}
    sizes = {site: _size(layers) for site, layers in sites.items()}
    source = sizes.get("encoder") or sizes.get("cross")
    if source is not None:
        tokens.setdefault("source_tokens", range(source[1]))
    target = sizes.get("decoder") or sizes.get("cross")
    if target is not None:
        tokens.setdefault("target_tokens", range(target[0]))
    return {**tokens, **sites}


def _layers(found: Mapping[str, Any]) -> Any:
    """One array of all layers, or a list of one a layer: those with a number in their names, and
    several."""
    ((first, array),) = list(found.items())[:1]
    numbered = first != "arr_0" and NUMBER.search(first) is not None
    return array if len(found) == 1 and not numbered else in_order(found)


def _size(layers: Any) -> tuple[int, int]:
    """Queries and keys of the first layer."""
    first = layers[0] if isinstance(layers, list) else layers
    queries, keys = np.shape(first)[-2:]
    return queries, keys


def _site(name: str, array: Any) -> str:
    for pattern, site in _SITES:
        if pattern.search(name.lower()):
            return site
    queries, keys = array.shape[-2:]
    if queries != keys:
        return "cross"
    later = np.triu(np.ones((queries, keys), dtype=bool), 1)
    return "encoder" if queries == 1 or array[..., later].any() else "decoder"
