"""Chance level of a score: its mean over all orders of the keys of each row.

The null hypothesis is that a head puts its weights on the unmasked keys of a row without regard to
which keys they are. Under it every order of the weights of a row among its unmasked keys is
equally likely: a permutation test restricted to rows, which keeps the mask, the length of the
sentence and how sharp the head is (Good 2005, Permutation, Parametric and Bootstrap Tests of
Hypotheses). A row q has |V(q)| unmasked keys, |C(q)| of them are those of a role:

    its largest weight lies on one of them in    |C(q)| / |V(q)|                  of all orders
    the weight on them is on average             |C(q)| / |V(q)| · Σ_{k∈V(q)} A[q,k]

because each of the weights lies on each key equally often. Both are exact: nothing is drawn. Of m
equal largest weights each counts 1/m, in the score as well, and the first line stays exact.

A permutation of a row does not change its entropy, so "diffuse" has no such chance level. Rows
are not exchanged with each other: a head that always looks at the full stop would be its own null.
"""

import numpy as np
from numpy.typing import NDArray

from explorer.heads.metrics.attention_metrics import OFFSETS, Cells, Weights, at_offset
from explorer.heads.metrics.bootstrap import PerExampleMean


def peak_chance(unmasked: Cells, cells: Cells, heads: int) -> PerExampleMean:
    """The chance level of `peak_on`, over the same queries, alike for all heads: (B, H)."""
    cells = cells & unmasked
    counted = cells.any(-1) & (unmasked.sum(-1) > 1)  # (B, Q)
    total = (_share(unmasked, cells) * counted).sum(-1)
    return _for_heads(total, counted.sum(-1), heads)


def mass_chance(weights: Weights, unmasked: Cells, cells: Cells) -> PerExampleMean:
    """The chance level of the mean weight on `cells`, over queries with more than one key: (B, H).

    The weights of a row sum to less than 1 where the model has an attention sink of its own.
    """
    inside = np.where(unmasked[:, None], weights, 0.0).sum(-1, dtype=np.float64)  # (B, H, Q)
    counted = unmasked.sum(-1) > 1
    total = (inside * (_share(unmasked, cells & unmasked) * counted)[:, None]).sum(-1)
    count = np.broadcast_to(counted.sum(-1)[:, None], total.shape).astype(np.float64)
    return PerExampleMean(total, count)


def offset_chance(unmasked: Cells, heads: int) -> PerExampleMean:
    """The chance level of `offsets`, (B, H, δ)."""
    each = [peak_chance(unmasked, at_offset(unmasked, delta), heads) for delta in OFFSETS]
    return PerExampleMean(
        np.stack([one.total for one in each], -1), np.stack([one.count for one in each], -1)
    )


def _share(unmasked: Cells, cells: Cells) -> NDArray[np.float64]:
    """(B, Q) |C(q)| / |V(q)|; 0 in a row without keys."""
    return np.asarray(cells.sum(-1) / np.maximum(unmasked.sum(-1), 1), dtype=np.float64)


def _for_heads(total: NDArray[np.float64], count: NDArray[np.int64], heads: int) -> PerExampleMean:
    shape = (len(total), heads)
    return PerExampleMean(
        np.broadcast_to(total[:, None], shape),
        np.broadcast_to(count[:, None], shape).astype(np.float64),
    )
