"""Additive masks of the library → reasons.

A cell is unmasked where the mask adds 0, and masked where it adds the least number of its dtype.
A family may add other values, such as a relative bias. They are far above half the least number,
which is the limit here.
"""

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from explorer.core.interventions import CellEdit
from explorer.core.mask_reasons import EDITED, OUTSIDE, PADDING, UNMASKED, reason_codes
from explorer.model.huggingface.capture.attention_calls import Call


def least(mask: Tensor) -> float:
    """Value that an additive mask of this dtype has in masked cells."""
    return torch.finfo(mask.dtype).min


def may_attend(mask: Tensor) -> Tensor:
    """Bool, True where a query may attend."""
    return mask if mask.dtype == torch.bool else mask > least(mask) / 2


def unmasked_cells(mask: Tensor | None, queries: int, keys: int) -> Tensor:
    """(N or 1, H or 1, Q, K) bool, True where queries may attend."""
    if mask is None:
        return torch.ones(1, 1, queries, keys, dtype=torch.bool)
    return may_attend(mask).expand(-1, -1, queries, keys)


def unmasked_before(calls: Sequence[Call], cell: CellEdit) -> Tensor:
    """Whether each head may attend to a cell before any edit: (layer, head).

    calls: of the layers of its site.
    """
    heads, *axes = _axes(calls[0])
    layers = [unmasked_cells(call.given, *axes)[0, :, cell.query, cell.key] for call in calls]
    return torch.stack([layer.expand(heads) for layer in layers])


def site_codes(
    calls: Sequence[Call], padding: NDArray[np.bool_], *, causal: bool
) -> NDArray[np.uint8]:
    """Codes of `REASONS` for the layers of one site, from their calls with a batch of one.

    padding: the padded keys (K,).

    A cell that the model itself masks is padding, a later position or outside the window; a cell
    that only an intervention masks is edited. The result has the axes (query, key) if all layers
    share one mask, else (layer, 1 or head, query, key).
    """
    known: dict[tuple[int, int], NDArray[np.uint8]] = {}  # most layers share one mask
    for call in calls:
        key = (id(call.mask), id(call.given))
        if key not in known:
            known[key] = _codes(call, padding, causal=causal)  # (1 or H, Q, K)
    parts = [known[id(call.mask), id(call.given)] for call in calls]
    heads = max(part.shape[0] for part in parts)
    if heads == 1 and all(part is parts[0] or (part == parts[0]).all() for part in parts):
        return parts[0][0]
    axes = parts[0].shape[1:]
    return np.stack([np.broadcast_to(part, (heads, *axes)) for part in parts])


def _codes(call: Call, padding: NDArray[np.bool_], *, causal: bool) -> NDArray[np.uint8]:
    _, *axes = _axes(call)
    allowed, given = (unmasked_cells(mask, *axes)[0].numpy() for mask in (call.mask, call.given))
    other: int | NDArray[np.int_] = OUTSIDE
    if call.module is None and len(padding) == allowed.shape[-2]:  # padded queries
        other = np.where(padding, PADDING, OUTSIDE)[:, None]
    codes = reason_codes(allowed, padding, causal=causal, other=other)
    codes[np.broadcast_to(given, allowed.shape) & ~allowed & (codes != UNMASKED)] = EDITED
    return codes


def _axes(call: Call) -> tuple[int, int, int]:
    """Numbers of query heads, queries and keys."""
    return call.query.size(1), call.query.size(-2), call.key.size(-2)
