"""Attention weights in payloads: codes of 16 bits, and for a large trace head by head.

The payload of a large trace has a small picture of every head and no weights. The browser requests
the weights of a head when it is chosen.

A weight is coded as uint16, linear: weight = code / 65535 · scale. The error is at most 7.6e-6 when
the scale is 1. Eight bits would show 0.9689 for 0.9712.
"""

import math
from dataclasses import replace
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from explorer.components.payload import pack_payload
from explorer.core.interventions import removed_heads
from explorer.core.mask_reasons import UNMASKED
from explorer.core.trace import Trace
from explorer.core.word_segmentation import Word
from explorer.core.words import has_words, merge, merged_codes, merged_weights, word_axes

LARGEST_CODE = 65535
"""Code of the largest weight."""

MOST_WEIGHTS = 4_000_000
"""Bytes of weights in one payload; a larger trace is sent head by head."""

MEAN = -1
"""Head number that stands for the mean over the heads of a layer."""

Unit: TypeAlias = Literal["pieces", "words"]
WordAxes = dict[str, tuple[tuple[Word, ...], tuple[Word, ...]]]


def weight_codes(weights: NDArray[np.float32], scale: float) -> NDArray[np.uint16]:
    """The codes of weights from 0 to `scale`."""
    return np.rint(np.clip(weights / scale, 0, 1) * LARGEST_CODE).astype(np.uint16)


def scale_of(weights: NDArray[np.float32]) -> float:
    """The weight of the largest code: 1, or more if a weight exceeds 1."""
    return max(1.0, float(weights.max()))


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
    """Mean weight on the gold positions, over the rows that have one, by layer and head of the gold
    site. None if no gold alignment is known."""
    gold = trace.gold
    if gold is None or trace.gold_site not in trace.sites or not gold.any():
        return None
    rows = gold.any(-1)
    sums = [layer.sum(-1, where=gold)[:, rows] for layer in trace.attention(trace.gold_site)]
    return [[float(weight) for weight in own.mean(-1)] for own in sums]


def words_without_weights(trace: Trace) -> Trace:
    """`trace` merged into words, with the attention of one head only: everything but the maps."""
    first = {
        name: array[:1, :1] if array.ndim >= 3 else array for name, array in trace.arrays.items()
    }
    return merge(replace(trace, arrays=first, digest=""))


def units_of(trace: Trace) -> tuple[Unit, ...]:
    """The units in which the maps of `trace` are sent."""
    return get_args(Unit) if has_words(trace) else ("pieces",)


def head_payload(trace: Trace, unit: Unit, site: str, layer: int, head: int) -> bytes:
    """The weights and the mask of a map of `trace` as a payload.

    layer: index among the layers of the trace. head: or `MEAN`.

    Arrays: "low" and "high", the bytes of the weight codes, of unmasked cells alone if the others
    are 0 ("packed"). Apart they compress to a quarter, since most high bytes are 0. "closed", the
    codes of the mask, if any cell is masked.
    """
    weights, mask_codes = _map(trace, site, layer, head)
    if unit == "words":
        axes = word_axes(trace)[site]
        weights, mask_codes = merged_weights(weights, *axes), merged_codes(mask_codes, *axes)
    masked = mask_codes != UNMASKED
    packed = bool(masked.any()) and not weights[masked].any()
    scale = scale_of(weights)
    codes = weight_codes(weights[~masked] if packed else weights, scale)
    arrays = {
        "low": (codes & 255).astype(np.uint8),
        "high": (codes >> 8).astype(np.uint8),
    }
    if masked.any():
        arrays["closed"] = mask_codes
    return pack_payload({"packed": packed, "scale": scale}, arrays)


def _map(
    trace: Trace, site: str, layer: int, head: int
) -> tuple[NDArray[np.float32], NDArray[np.uint8]]:
    """Weights and mask codes (query, key), in pieces."""
    weights = trace.attention(site)[layer]
    mask_codes = layer_codes(trace, site, layer)
    if head != MEAN:
        return weights[head], mask_codes[head % len(mask_codes)]
    masked_in_all = (mask_codes != UNMASKED).all(0)
    mean: NDArray[np.float32] = weights.mean(0, dtype=np.float32)
    return mean, np.where(masked_in_all, mask_codes[0], UNMASKED).astype(np.uint8)


def layer_codes(trace: Trace, site: str, layer: int) -> NDArray[np.uint8]:
    """The mask codes of a layer, (1 or head, query, key)."""
    mask_codes = trace.arrays[f"{site}.closed"]
    return mask_codes[None] if mask_codes.ndim == 2 else mask_codes[layer]
