"""The attention of a large trace in a payload: a small picture of every head, no weights.

The browser requests the weights of a head when it is chosen; see `heads.py`.
"""

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.components.player.heads import layer_codes
from explorer.components.player.pictures import (
    picture_codes,
    picture_size,
    shrunk_codes,
    shrunk_weights,
)
from explorer.components.player.weight_codes import scale_of
from explorer.core.interventions import removed_heads
from explorer.core.mask_reasons import REASONS
from explorer.core.trace import Trace
from explorer.core.word_segmentation import Word
from explorer.core.words import has_words, merge, merged_codes, merged_weights, word_axes

MOST_WEIGHTS = 4_000_000
"""Bytes of weights in one payload; a larger trace is sent head by head."""

WordAxes = dict[str, tuple[tuple[Word, ...], tuple[Word, ...]]]


def is_large(trace: Trace) -> bool:
    """Whether a trace is sent head by head."""
    shapes = {site: trace.attention(site).shape for site in trace.sites}
    cells = sum(map(math.prod, shapes.values()))
    if 2 * cells > MOST_WEIGHTS:
        return True
    if 4 * cells <= MOST_WEIGHTS or not has_words(trace):  # of words there are no more
        return False
    axes = word_axes(trace)
    for site, (layers, heads, *_) in shapes.items():
        cells += layers * heads * math.prod(map(len, axes[site]))
    return 2 * cells > MOST_WEIGHTS


def site_pictures(
    trace: Trace, maps: int, axes: WordAxes | None = None
) -> tuple[dict[str, NDArray[Any]], dict[str, dict[str, Any]]]:
    """The pictures of all heads, and the header of each site.

    maps: pictures in the whole payload, which share its bytes.
    axes: as in `word_axes`, for the pictures of words.

    Arrays: "cross.pictures" (layer, head, row, column), "cross.pictures.closed" codes of reasons
    (row, column) or (layer, 1 or head, row, column).
    """
    arrays: dict[str, NDArray[Any]] = {}
    headers: dict[str, dict[str, Any]] = {}
    for site in trace.sites:
        layers, heads, queries, keys = trace.attention(site).shape
        scale = scale_of(trace.attention(site))
        if axes:
            queries, keys = map(len, axes[site])
        size = picture_size(queries, keys, maps)
        pictures = np.empty((layers, heads, *size), np.uint8)
        masks: list[NDArray[np.uint8]] = []
        reasons: set[int] = set()
        for layer, (weights, codes, is_new) in enumerate(_layers(trace, site, axes)):
            pictures[layer] = picture_codes(shrunk_weights(weights, codes, *size), scale)
            if is_new:
                masks.append(shrunk_codes(codes, *size))
                reasons.update(np.flatnonzero(np.bincount(codes.ravel(), minlength=len(REASONS))))
        arrays[f"{site}.pictures"] = pictures
        arrays[f"{site}.pictures.closed"] = np.stack(masks) if len(masks) > 1 else masks[0]
        headers[site] = {
            "shape": (layers, heads, queries, keys),
            "scale": scale,
            "picture": size,
            "reasons": sorted(int(code) for code in reasons if code),
            **site_facts(trace, site),
        }
    return arrays, headers


def site_facts(trace: Trace, site: str) -> dict[str, Any]:
    """Fields of a site's header besides its sizes.

    numbers: of its layers in the model. removed: layer, head and replacement of each head that was
    removed.
    """
    removed = removed_heads(trace.facts, site, *trace.attention(site).shape[:2])
    return {
        "numbers": trace.layer_numbers(site),
        "removed": [(*place, how) for place, how in removed.items()],
    }


def gold_weights(trace: Trace) -> list[list[float]] | None:
    """Mean weight of each cross head on the gold positions, over the rows that have one, by layer
    and head. None if no gold alignment is known."""
    gold = trace.gold
    if gold is None or "cross" not in trace.sites or not gold.any():
        return None
    rows = gold.any(-1)
    sums = [layer.sum(-1, where=gold)[:, rows] for layer in trace.attention("cross")]
    return [[float(weight) for weight in own.mean(-1)] for own in sums]


def words_without_weights(trace: Trace) -> Trace:
    """`trace` merged into words, with the attention of one head only: everything but the maps."""
    first = {
        name: array[:1, :1] if array.ndim >= 3 else array for name, array in trace.arrays.items()
    }
    return merge(replace(trace, arrays=first, digest=""))


def _layers(
    trace: Trace, site: str, axes: WordAxes | None
) -> Iterator[tuple[NDArray[np.float32], NDArray[np.uint8], bool]]:
    """For each layer: weights (head, query, key), mask codes (1 or head, query, key), and whether
    the mask is new. If all layers share one mask, it is new in the first layer only. In words if
    `axes` is given, else in pieces."""
    shared = trace.arrays[f"{site}.closed"].ndim == 2
    codes = layer_codes(trace, site, 0)
    for layer, weights in enumerate(trace.attention(site)):
        is_new = layer == 0 or not shared
        if is_new:
            codes = layer_codes(trace, site, layer)
            codes = merged_codes(codes, *axes[site]) if axes else codes
        yield merged_weights(weights, *axes[site]) if axes else weights, codes, is_new
