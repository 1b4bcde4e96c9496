"""Masks with the reason for each masked cell, as small arrays of codes.

Rows are queries, columns are keys. A mask is boolean, True = may attend.
"""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from explorer.core.sites import sides

REASONS = ("", "later position", "padding", "edited", "outside the window")
"""Reasons for a masked cell; the code of a reason is its index, 0 = unmasked."""

UNMASKED, LATER, PADDING, EDITED, OUTSIDE = range(5)

_FEWEST_ROWS = 2
"""Fewest queries with masked cells for a mask to count as a window."""


def mask_codes(
    queries: int, keys: int, *, causal: bool = False, padded_keys: int = 0
) -> NDArray[np.uint8]:
    """Codes of `REASONS` (query, key) for a mask whose last `padded_keys` keys are padding."""
    mask = np.ones((queries, keys), dtype=np.bool_)
    if causal:
        mask = np.tril(mask)
    padding = np.arange(keys) >= keys - padded_keys
    return reason_codes(mask & ~padding, padding)


def reason_codes(
    mask: NDArray[np.bool_],
    padding: NDArray[np.bool_],
    *,
    causal: bool = True,
    other: int | NDArray[np.int_] = EDITED,
) -> NDArray[np.uint8]:
    """Codes of `REASONS` for a mask (…, query, key) and its padded keys (key,).

    A masked cell whose key is padding has the reason "padding"; else, in a `causal` mask, one
    right of the diagonal has "later position"; any other has the code `other`.
    """
    later = np.triu(np.full(mask.shape[-2:], causal, dtype=np.bool_), 1)
    why = np.where(padding, PADDING, np.where(later, LATER, other))
    return np.where(mask, UNMASKED, why).astype(np.uint8)


def path_codes(
    masks: Mapping[str, NDArray[np.bool_]], padding: NDArray[np.bool_]
) -> dict[str, NDArray[np.uint8]]:
    """The codes of `masks`, which are by site, as the arrays of a `Trace`.

    padding: the padded source tokens (S,).
    """
    of_sides = sides(padding, np.zeros(1, dtype=np.bool_))  # the target has no padding
    return {
        f"{site}.closed": reason_codes(mask, of_sides[site][1], causal=site == "decoder")
        for site, mask in masks.items()
    }


def has_window(mask: NDArray[np.bool_], padding: NDArray[np.bool_], *, causal: bool) -> bool:
    """Whether a mask (query, key) is a window: masked from one distance between query and key on.

    Padded keys (key,) and, in a `causal` mask, later positions are ignored. A window must mask
    cells of at least two queries; a single row may have been edited.
    """
    queries, keys = mask.shape
    distance = np.arange(queries)[:, None] - np.arange(keys)
    known = np.broadcast_to(~padding, mask.shape) & ((distance >= 0) | (not causal))
    masked, unmasked = known & ~mask, known & mask
    if masked.any(1).sum() < _FEWEST_ROWS:
        return False
    nearest = np.abs(distance[masked]).min()
    return bool((np.abs(distance[unmasked]) < nearest).all())
