"""Pictures of the heads of a large trace, in payloads: one small picture of every head.

Pictures are shrunk by maximum: a mean would wash out thin diagonals. A picture has the same blocks
as the thumbnails that the browser shrinks itself: cell c of n goes to pixel ⌊c · pixels / n⌋.
"""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.components.player.weights import WordAxes, layer_codes, scale_of, site_facts
from explorer.core.mask_reasons import REASONS, UNMASKED
from explorer.core.trace import Trace
from explorer.core.words import merged_codes, merged_weights

MOST_BYTES = 2**20
"""Bytes of all pictures of a payload together, one a pixel."""

LARGEST_EDGE = 256
"""Most pixels on the longer side of a picture; as many as the largest thumbnail shows."""

LARGEST_PICTURE_CODE = 255
"""Code of the largest weight in a picture. Its codes are linear in the square root of the weight,
for the sake of small weights."""


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
        if axes:  # a picture has 8 bits
            weights = merged_weights(weights, *axes[site], adding=np.float32)
        yield weights, codes, is_new


def picture_size(queries: int, keys: int, maps: int) -> tuple[int, int]:
    """Rows and columns of one of `maps` pictures, in the proportions of the map."""
    edge = max(1, min(LARGEST_EDGE, math.isqrt(MOST_BYTES // maps)))
    longest = max(queries, keys)
    if longest <= edge:
        return queries, keys
    rows, columns = (max(1, round(axis * edge / longest)) for axis in (queries, keys))
    return rows, columns


def shrunk_weights(
    weights: NDArray[np.float32], mask_codes: NDArray[np.uint8], rows: int, columns: int
) -> NDArray[np.float32]:
    """(…, query, key) → (…, rows, columns): the largest unmasked weight of each block."""
    seen = weights * (mask_codes == UNMASKED) if mask_codes.any() else weights
    return _largest(seen, rows, columns)


def shrunk_codes(mask_codes: NDArray[np.uint8], rows: int, columns: int) -> NDArray[np.uint8]:
    """Codes of `REASONS` (…, query, key) → (…, rows, columns): unmasked if any cell is."""
    wholly = ~_largest(mask_codes == UNMASKED, rows, columns)
    return np.where(wholly, _largest(mask_codes, rows, columns), UNMASKED).astype(np.uint8)


def picture_codes(weights: NDArray[np.float32], scale: float) -> NDArray[np.uint8]:
    """Codes of `weights`, 0 to `scale`."""
    return np.rint(np.sqrt(np.clip(weights / scale, 0, 1)) * LARGEST_PICTURE_CODE).astype(np.uint8)


def _largest(cells: NDArray[Any], rows: int, columns: int) -> NDArray[Any]:
    """The maximum of each block, over (…, query, key)."""
    *_, queries, keys = cells.shape
    across = np.maximum.reduceat(cells, _starts(keys, columns), axis=-1)
    return np.maximum.reduceat(across, _starts(queries, rows), axis=-2)


def _starts(cells: int, pixels: int) -> NDArray[np.intp]:
    """The first cell of each pixel: ⌈pixel · cells / pixels⌉."""
    return -(-np.arange(pixels) * cells // pixels)
