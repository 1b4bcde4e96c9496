"""Additive masks of the library → reasons.

A cell is unmasked where the mask adds 0, and masked where it adds the least number of its dtype.
A family may add other values, such as a relative bias. They are far above half the least number,
which is the limit here.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

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


@dataclass(frozen=True, slots=True, eq=False)
class LayerMask:
    """Which cells of one attention are unmasked: (1 or H, Q, K) bool, for a batch of one.

    unmasked: in the pass. before: without the edits of interventions.
    captured: False where the library returned the weights alone; then the mask is that of padding.
    """

    unmasked: Tensor
    before: Tensor
    captured: bool = True

    @classmethod
    def of(cls, call: Call) -> "LayerMask":
        axes = call.query.size(-2), call.key.size(-2)
        before = unmasked_cells(call.given, *axes)[0]
        unmasked = before if call.mask is call.given else unmasked_cells(call.mask, *axes)[0]
        return cls(unmasked, before, call.module is not None)


def site_codes(
    masks: Sequence[LayerMask], padding: NDArray[np.bool_], *, causal: bool
) -> NDArray[np.uint8]:
    """Codes of `REASONS` for the layers of one site.

    padding: the padded keys (K,).

    A cell that the model itself masks is padding, a later position or outside the window; a cell
    that only an intervention masks is edited. The result has the axes (query, key) if all layers
    share one mask, else (layer, 1 or head, query, key).
    """
    parts = [_codes(mask, padding, causal=causal) for mask in masks]  # (1 or H, Q, K) each
    heads = max(len(part) for part in parts)
    if heads == 1 and all((part == parts[0]).all() for part in parts):
        return parts[0][0]
    axes = parts[0].shape[1:]
    return np.stack([np.broadcast_to(part, (heads, *axes)) for part in parts])


def _codes(mask: LayerMask, padding: NDArray[np.bool_], *, causal: bool) -> NDArray[np.uint8]:
    unmasked, before = mask.unmasked.numpy(), mask.before.numpy()
    other: int | NDArray[np.int_] = OUTSIDE
    if not mask.captured and len(padding) == unmasked.shape[-2]:  # padded queries
        other = np.where(padding, PADDING, OUTSIDE)[:, None]
    codes = reason_codes(unmasked, padding, causal=causal, other=other)
    codes[np.broadcast_to(before, unmasked.shape) & ~unmasked & (codes != UNMASKED)] = EDITED
    return codes
