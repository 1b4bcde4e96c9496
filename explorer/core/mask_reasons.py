"""Why a cell is closed: masks with their reasons, as small arrays of codes.

Rows are queries, columns are keys. A mask is boolean, True = may attend.
"""

import numpy as np
from numpy.typing import NDArray

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


def reasons(
    mask: NDArray[np.bool_], padding: NDArray[np.bool_], *, causal: bool = True
) -> NDArray[np.uint8]:
    """Codes of `REASONS` for a mask (…, query, key) whose padded keys (key,) are known.

    A closed cell is closed because its key is padding; else because it comes later, where the
    mask is `causal`; else because somebody edited the mask.
    """
    later = np.triu(np.full(mask.shape[-2:], causal, dtype=np.bool_), 1)
    why = np.where(padding, PADDING, np.where(later, LATER, EDITED))
    return np.where(mask, OPEN, why).astype(np.uint8)
