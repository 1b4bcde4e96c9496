"""The weights of single heads of a large trace, each sent when its head is chosen.

Weights are coded as in the player's payload: uint16, linear. Low and high bytes are stored apart,
which compresses them to a quarter, since most high bytes are 0.
"""

from typing import Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from explorer.components.player.weight_codes import scale_of, weight_codes
from explorer.components.shared.payload import pack_payload
from explorer.core.mask_reasons import UNMASKED
from explorer.core.trace import Trace
from explorer.core.words import has_words, merged_codes, merged_weights, word_axes

Unit: TypeAlias = Literal["pieces", "words"]

MEAN = -1
"""Head number that stands for the mean over the heads of a layer."""


def units_of(trace: Trace) -> tuple[Unit, ...]:
    """The units in which the maps of `trace` are sent."""
    return get_args(Unit) if has_words(trace) else ("pieces",)


def head_payload(trace: Trace, unit: Unit, site: str, layer: int, head: int) -> bytes:
    """The weights and the mask of a map of `trace` as a payload.

    layer: index among the layers of the trace. head: or `MEAN`.

    Arrays: "low" and "high", the bytes of the weight codes, of unmasked cells alone if the others
    are 0 ("packed"); "closed", the codes of the mask, if any cell is masked.
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
