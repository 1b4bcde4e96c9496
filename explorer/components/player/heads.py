"""The weights of single heads of a large trace, each sent when it is chosen.

Weights are coded as in the player's payload: uint16, linear. Low and high bytes are apart, and
then compress to a quarter: most high bytes are 0.
"""

import gzip
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from explorer.components.player.weight_codes import scale_of, weight_codes
from explorer.components.shared.payload import pack_payload
from explorer.core.mask_reasons import UNMASKED
from explorer.core.trace import Trace, is_index
from explorer.core.words import has_words, merged_codes, merged_weights, word_axes

Unit: TypeAlias = Literal["pieces", "words"]

MEAN = "mean"
"""In place of a head: the mean of the heads of its layer."""

FAST, SMALL = 1, 6
"""Levels of compression: for an answer while somebody waits, and for a page that is kept."""


@dataclass(frozen=True, slots=True)
class HeadAddress:
    """One map of a trace, its layer counted among those that the trace has; head: None = the mean.

    As text, "pieces/cross/3/1" or "words/decoder/0/mean".
    """

    unit: Unit
    site: str
    layer: int
    head: int | None

    def __str__(self) -> str:
        head = MEAN if self.head is None else self.head
        return f"{self.unit}/{self.site}/{self.layer}/{head}"

    def within(self, trace: Trace) -> bool:
        """Whether `trace` has this map."""
        if self.site not in trace.sites:
            return False
        layers, heads = trace.attention(self.site).shape[:2]
        known = is_index(self.layer, layers) and (self.head is None or is_index(self.head, heads))
        return known and (self.unit == "pieces" or has_words(trace))


def head_payload(trace: Trace, address: HeadAddress, level: int = FAST) -> bytes:
    """The weights and the mask of a map of `trace`, a payload compressed with gzip.

    Arrays: "low" and "high", the bytes of the weight codes, of unmasked cells alone if the others
    are 0 ("packed"); "closed", the codes of the mask, if any cell is masked.
    """
    weights, closed = _map(trace, address)
    masked = closed != UNMASKED
    packed = bool(masked.any()) and not weights[masked].any()
    scale = scale_of(weights)
    codes = weight_codes(weights[~masked] if packed else weights, scale)
    arrays = {
        "low": (codes & 255).astype(np.uint8),
        "high": (codes >> 8).astype(np.uint8),
    }
    if masked.any():
        arrays["closed"] = closed
    payload = pack_payload({"packed": packed, "scale": scale}, arrays)
    return gzip.compress(payload, compresslevel=level, mtime=0)


def _map(trace: Trace, address: HeadAddress) -> tuple[NDArray[np.float32], NDArray[np.uint8]]:
    """Weights and mask codes (query, key)."""
    weights = trace.attention(address.site)[address.layer]
    closed = layer_codes(trace, address.site, address.layer)
    if address.head is None:
        weights = weights.mean(0, dtype=np.float32)
        masked_in_all = (closed != UNMASKED).all(0)
        closed = np.where(masked_in_all, closed[0], UNMASKED).astype(np.uint8)
    else:
        weights, closed = weights[address.head], closed[address.head % len(closed)]
    if address.unit == "pieces":
        return weights, closed
    axes = word_axes(trace)[address.site]
    return merged_weights(weights, *axes), merged_codes(closed, *axes)


def layer_codes(trace: Trace, site: str, layer: int) -> NDArray[np.uint8]:
    """The mask codes of a layer, (1 or head, query, key)."""
    closed = trace.arrays[f"{site}.closed"]
    return closed[None] if closed.ndim == 2 else closed[layer]
