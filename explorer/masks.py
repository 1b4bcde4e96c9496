"""Why a cell is closed: masks with their reasons, as small arrays of codes.

Rows are queries, columns are keys. A mask is boolean, True = may attend.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from explorer.errors import TraceError

REASONS = ("", "later position", "padding", "edited")
"""Why a cell is closed; the code of a reason is its place here, 0 = open."""

OPEN, LATER, PADDING, EDITED = range(4)


def closed_cells(
    queries: int, keys: int, *, causal: bool = False, padded_keys: int = 0
) -> NDArray[np.uint8]:
    """Codes of `REASONS` for a (query, key) mask; padding wins over later positions."""
    mask = np.ones((queries, keys), dtype=np.bool_)
    if causal:
        mask = np.tril(mask)
    padding = np.arange(keys) >= keys - padded_keys
    return reasons(mask & ~padding, padding)


def reasons(mask: NDArray[np.bool_], padding: NDArray[np.bool_]) -> NDArray[np.uint8]:
    """Codes of `REASONS` for a mask (…, query, key) whose padded keys (key,) are known.

    A closed cell is closed because its key is padding; else because it comes later; else
    because somebody edited the mask.
    """
    later = np.triu(np.ones(mask.shape[-2:], dtype=np.bool_), 1)
    why = np.where(padding, PADDING, np.where(later, LATER, EDITED))
    return np.where(mask, OPEN, why).astype(np.uint8)


def given_reasons(
    site: str, mask: ArrayLike | None, weights: NDArray[np.float32]
) -> NDArray[np.uint8]:
    """Codes of `REASONS` for foreign `weights` (layer, head, query, key).

    From a boolean mask, True = may attend, or from words of `REASONS`; without either, every
    cell is open but for a decoder whose later positions all weigh exactly 0. Raises
    `TraceError` on a mask that is neither or does not fit.
    """
    causal = closed_cells(*weights.shape[-2:], causal=site == "decoder")
    if mask is None:
        return causal if not weights[..., causal == LATER].any() else np.zeros_like(causal)
    given = np.asarray(mask)
    if given.dtype.kind == "U":
        if not np.isin(given, REASONS).all():
            raise TraceError("bad_mask", site=site)
        return np.select([given == reason for reason in REASONS], range(4)).astype(np.uint8)
    if given.dtype != np.bool_ or given.shape[-2:] != causal.shape:
        raise TraceError("wrong_mask", site=site, got=given.shape, expected=causal.shape)
    ever_open = np.atleast_1d(given.reshape(-1, given.shape[-1]).any(axis=0))  # (key,)
    return reasons(given, ~ever_open)
