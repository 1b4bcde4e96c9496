"""Pictures of the heads of a large trace, in payloads: one small picture of every head.

The browser requests those of words, and of a part of the maps, when it shows them.

Pictures are shrunk by maximum: a mean would wash out thin diagonals. A picture has the same blocks
as the thumbnails that the browser shrinks itself: cell c of n goes to pixel ⌊c · pixels / n⌋.
"""

import math
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Self
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from explorer.components.payload import pack_payload
from explorer.components.player.weights import Unit, WordAxes, scale_of, site_facts
from explorer.core.mask_reasons import REASONS, UNMASKED
from explorer.core.trace import Trace
from explorer.core.word_segmentation import Word
from explorer.core.words import merged_codes, merged_weights, word_axes
from explorer.core.zoom import Zoom

MOST_BYTES = 2**20
"""Bytes of all pictures of a payload together, one a pixel."""

LARGEST_EDGE = 256
"""Most pixels on the longer side of a picture; as many as the largest thumbnail shows."""

LARGEST_PICTURE_CODE = 255
"""Code of the largest weight in a picture. Its codes are linear in the square root of the weight,
for the sake of small weights."""

_THREADS = min(4, os.cpu_count() or 1)
"""Layers that are shrunk at a time. More threads would wait for the memory."""

_scales: WeakKeyDictionary[Trace, dict[str, float]] = WeakKeyDictionary()


@dataclass(frozen=True, slots=True, eq=False)
class Maps:
    """The maps of all heads of a site, in pieces or in words.

    weights, codes: of pieces, as in a `Trace`.
    words: those of the queries and of the keys; None = pieces.
    """

    weights: NDArray[np.float32]
    codes: NDArray[np.uint8]
    words: tuple[Sequence[Word], Sequence[Word]] | None

    @classmethod
    def of(cls, trace: Trace, site: str, axes: WordAxes | None) -> Self:
        """axes: as in `word_axes`; None = in pieces."""
        words = axes[site] if axes else None
        return cls(trace.attention(site), trace.arrays[f"{site}.closed"], words)

    @property
    def shape(self) -> tuple[int, int, int, int]:
        """Layers, heads, queries, keys."""
        layers, heads, queries, keys = self.weights.shape
        if self.words is not None:
            queries, keys = map(len, self.words)
        return layers, heads, queries, keys

    @property
    def one_mask(self) -> bool:
        """Whether all layers and heads share one mask."""
        return self.codes.ndim == 2

    def part(self, queries: slice, keys: slice) -> Self:
        """Some queries and keys alone."""
        if self.words is not None:
            return replace(self, words=(self.words[0][queries], self.words[1][keys]))
        weights, codes = self.weights[..., queries, keys], self.codes[..., queries, keys]
        return replace(self, weights=weights, codes=codes)

    def mask(self, layer: int) -> NDArray[np.uint8]:
        """Mask codes (1 or head, query, key)."""
        codes = self.codes[None] if self.one_mask else self.codes[layer]
        if self.words is None:
            return codes
        queries, keys = self.words
        return merged_codes(codes[..., : queries[-1].stop, : keys[-1].stop], queries, keys)

    def cells(self, layer: int, queries: slice, keys: slice) -> NDArray[np.float32]:
        """Weights (head, query, key). Words are added up in float32: a picture has 8 bits."""
        weights = self.weights[layer]
        if self.words is None:
            return weights[:, queries, keys]
        down, across = self.words[0][queries], self.words[1][keys]
        return merged_weights(weights[..., : across[-1].stop], down, across, adding=np.float32)


def site_pictures(
    trace: Trace, maps: int, axes: WordAxes | None = None
) -> tuple[dict[str, NDArray[Any]], dict[str, dict[str, Any]]]:
    """The pictures of all heads, and the header of each site, as from `site_headers`.

    maps: pictures in the whole payload, which share its bytes.
    axes: as in `word_axes`, for the pictures of words.

    Arrays: "cross.pictures" (layer, head, row, column), "cross.pictures.closed" codes of reasons
    (row, column) or (layer, 1 or head, row, column).
    """
    arrays: dict[str, NDArray[Any]] = {}
    headers: dict[str, dict[str, Any]] = {}
    for site in trace.sites:
        shown = Maps.of(trace, site, axes)
        size = picture_size(*shown.shape[2:], maps)
        weights, codes, reasons = shrunk(shown, *size)
        arrays[f"{site}.pictures"] = picture_codes(weights, _scale(trace, site))
        arrays[f"{site}.pictures.closed"] = codes
        headers[site] = _header(trace, site, shown, reasons) | {"picture": size}
    return arrays, headers


def site_headers(trace: Trace, axes: WordAxes) -> dict[str, dict[str, Any]]:
    """The headers of all sites, without pictures, in words."""
    headers: dict[str, dict[str, Any]] = {}
    for site in trace.sites:
        shown = Maps.of(trace, site, axes)
        masks = map(shown.mask, range(1 if shown.one_mask else shown.shape[0]))
        headers[site] = _header(trace, site, shown, set().union(*map(_reasons_in, masks)))
    return headers


def pictures_payload(trace: Trace, unit: Unit, site: str, zoom: Zoom) -> bytes:
    """Pictures of a part of all maps of a site as a payload.

    Arrays: "pictures" (layer, head, row, column), "closed" codes of reasons (row, column) or
    (layer, 1 or head, row, column). The header has "picture", rows and columns.
    """
    whole = Maps.of(trace, site, axes_of(trace, unit))
    layers, heads, queries, keys = (shown := whole.part(zoom.queries, zoom.keys)).shape
    size = picture_size(queries, keys, layers * heads)
    weights, codes, _ = shrunk(shown, *size)
    arrays = {"pictures": picture_codes(weights, _scale(trace, site)), "closed": codes}
    return pack_payload({"picture": size}, arrays)


def axes_of(trace: Trace, unit: Unit) -> WordAxes | None:
    """The words of each site; None in pieces."""
    return word_axes(trace) if unit == "words" else None


def _header(trace: Trace, site: str, maps: Maps, reasons: set[int]) -> dict[str, Any]:
    """reasons: codes of all masked cells."""
    return {
        "shape": maps.shape,
        "scale": _scale(trace, site),
        "reasons": sorted(reasons),
        **site_facts(trace, site),
    }


def _scale(trace: Trace, site: str) -> float:
    """`scale_of` the site, which takes a while and is asked for with each part."""
    known = _scales.setdefault(trace, {})
    if site not in known:
        known[site] = scale_of(trace.attention(site))
    return known[site]


def picture_size(queries: int, keys: int, maps: int) -> tuple[int, int]:
    """Rows and columns of one of `maps` pictures, in the proportions of the map."""
    edge = max(1, min(LARGEST_EDGE, math.isqrt(MOST_BYTES // maps)))
    longest = max(queries, keys)
    if longest <= edge:
        return queries, keys
    rows, columns = (max(1, round(axis * edge / longest)) for axis in (queries, keys))
    return rows, columns


def shrunk(
    maps: Maps, rows: int, columns: int
) -> tuple[NDArray[np.float32], NDArray[np.uint8], set[int]]:
    """Largest unmasked weights of blocks (layer, head, rows, columns), their masks (rows, columns)
    or (layer, 1 or head, rows, columns), and the codes of all masked cells."""
    layers, heads, _, keys = maps.shape
    shared = _Mask.of(maps.mask(0), rows, columns) if maps.one_mask else None

    def shrink(layer: int) -> tuple[NDArray[np.float32], NDArray[np.uint8], set[int]]:
        mask = shared or _Mask.of(maps.mask(layer), rows, columns)
        largest = np.zeros((heads, rows, keys), np.float32)
        for band in mask.bands:  # few cells, which stay near the processor
            cells = maps.cells(layer, band.queries, band.keys)
            across = largest[:, band.row, band.keys]
            cells.max(-2, out=across)  # whole rows: reduceat takes each cell alone
            across[:, band.partly] = (cells[..., band.partly] * band.unmasked).max(-2)
        shrunk = np.maximum.reduceat(largest, _starts(keys, columns), axis=-1)
        return shrunk, mask.shrunk, mask.reasons

    with ThreadPoolExecutor(_THREADS) as pool:  # NumPy computes outside the lock of Python
        weights, codes, reasons = zip(*pool.map(shrink, range(layers)), strict=True)
    masks = codes[0][0] if maps.one_mask else np.stack(codes)
    return np.stack(weights), masks, set().union(*reasons)


@dataclass(frozen=True, slots=True, eq=False)
class _Band:
    """The cells of one row of pixels, from the first key that is unmasked in any to the last.

    partly: those of the keys that are masked in some cells; unmasked: (1 or head, query, key) of
        these.
    """

    row: int
    queries: slice
    keys: slice
    partly: NDArray[np.intp]
    unmasked: NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class _Mask:
    """A mask of pictures.

    bands: the rows of pixels that have an unmasked cell. shrunk: (1 or head, row, column).
    reasons: codes of its masked cells.
    """

    bands: list[_Band]
    shrunk: NDArray[np.uint8]
    reasons: set[int]

    @classmethod
    def of(cls, mask_codes: NDArray[np.uint8], rows: int, columns: int) -> Self:
        """mask_codes: (1 or head, query, key)."""
        bands = _bands(mask_codes == UNMASKED, rows)
        return cls(bands, shrunk_codes(mask_codes, rows, columns), _reasons_in(mask_codes))


def _reasons_in(mask_codes: NDArray[np.uint8]) -> set[int]:
    counts = np.bincount(mask_codes.ravel(), minlength=len(REASONS))
    return {int(code) for code in np.flatnonzero(counts)} - {UNMASKED}


def _bands(unmasked: NDArray[np.bool_], rows: int) -> list[_Band]:
    """The rows of pixels, of a mask (1 or head, query, key)."""
    queries = unmasked.shape[1]
    bands: list[_Band] = []
    bounds = pairwise([*_starts(queries, rows), queries])
    for row, (start, stop) in enumerate(bounds):
        own = unmasked[:, start:stop]
        keys = np.flatnonzero(own.any((0, 1)))
        if keys.size:
            seen = slice(keys[0], keys[-1] + 1)
            own = own[..., seen]
            partly = np.flatnonzero(~own.all((0, 1)))
            bands.append(_Band(row, slice(start, stop), seen, partly, own[..., partly]))
    return bands


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
