"""Small pictures of every head of a large trace: weights and masks, shrunk by maximum.

A mean would wash out thin diagonals. A picture has the same blocks as the thumbnails that the
browser shrinks itself: cell c of n goes to pixel ⌊c · pixels / n⌋.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.core.mask_reasons import UNMASKED

MOST_BYTES = 2**20
"""Bytes of all pictures of a payload together, one a pixel."""

LARGEST_EDGE = 256
"""Most pixels on the longer side of a picture; as many as the largest thumbnail shows."""

LARGEST_CODE = 255
"""Code of the largest weight. Codes are linear in the square root of the weight, for the sake of
small weights."""


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
    seen = weights if not mask_codes.any() else np.where(mask_codes == UNMASKED, weights, 0)
    return _largest(seen, rows, columns)


def shrunk_codes(mask_codes: NDArray[np.uint8], rows: int, columns: int) -> NDArray[np.uint8]:
    """Codes of `REASONS` (…, query, key) → (…, rows, columns): unmasked if any cell is."""
    wholly = ~_largest(mask_codes == UNMASKED, rows, columns)
    return np.where(wholly, _largest(mask_codes, rows, columns), UNMASKED).astype(np.uint8)


def picture_codes(weights: NDArray[np.float32], scale: float) -> NDArray[np.uint8]:
    """Codes of `weights`, 0 to `scale`."""
    return np.rint(np.sqrt(np.clip(weights / scale, 0, 1)) * LARGEST_CODE).astype(np.uint8)


def _largest(cells: NDArray[Any], rows: int, columns: int) -> NDArray[Any]:
    """The maximum of each block, over (…, query, key)."""
    *_, queries, keys = cells.shape
    across = np.maximum.reduceat(cells, _starts(keys, columns), axis=-1)
    return np.maximum.reduceat(across, _starts(queries, rows), axis=-2)


def _starts(cells: int, pixels: int) -> NDArray[np.intp]:
    """The first cell of each pixel: ⌈pixel · cells / pixels⌉."""
    return -(-np.arange(pixels) * cells // pixels)
