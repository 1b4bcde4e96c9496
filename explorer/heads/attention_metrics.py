"""What the heads do, in numbers: pure functions of arrays (NumPy alone).

Every metric takes the weights of a batch, (B, H, Q, K) after softmax and before dropout, and
its open cells, (B, Q, K) True = may attend. A query that is padding has no open cell and is
left out. Rows are queries, columns are keys. The answer is a `Tally` (B, H): the mean over
the queries of any number of batches, with an interval over their sentences.
"""

import numpy as np
from numpy.typing import NDArray

from explorer.heads.bootstrap import Tally

Weights = NDArray[np.float32]
Cells = NDArray[np.bool_]

FARTHEST = 8
"""Positions: the largest offset at which a positional head is looked for."""

OFFSETS = tuple(range(-FARTHEST, FARTHEST + 1))


def gold_weight(weights: NDArray[np.float32], gold: NDArray[np.bool_]) -> NDArray[np.float64]:
    """How much each head puts where the answer comes from, 0 to 1.

    weights: cross-attention (…, query, key); gold: (query, key), or with leading axes that
    broadcast, True where the query's prediction comes from. Queries without a gold key (the
    end of the sequence, padding) are left out of the mean. Returns (…), NaN without any.
    """
    weight = np.where(gold, weights, 0.0).sum(-1)  # (…, query)
    asked = np.broadcast_to(gold.any(-1), weight.shape)
    with np.errstate(invalid="ignore"):
        mean: NDArray[np.float64] = (weight * asked).sum(-1) / asked.sum(-1)
    return mean


def confidence(weights: Weights, opened: Cells, end: Cells) -> Tally:
    """mean_q max_{k≠EOS} A[q,k], 0 to 1.

    end: (B, K) True where the key is the end of the sequence. A query that sees nothing else
    is left out. Source: Voita et al. 2019, arXiv 1905.09418: the mean over tokens of the largest
    weight, the end-of-sentence symbol excluded.
    """
    seen = opened & ~end[:, None]  # (B, Q, K)
    largest = np.where(seen[:, None], weights, 0.0).max(-1)  # (B, H, Q)
    return _over_queries(largest, seen.any(-1))


def entropy(weights: Weights, opened: Cells) -> Tally:
    """mean_q −Σ_{k∈V(q)} A ln A, in nats, 0 to ln |V(q)|; V(q) are the open keys of q.

    A query with one open key has no choice and is left out.
    """
    return _over_queries(_entropies(weights), opened.sum(-1) > 1)


def normalised_entropy(weights: Weights, opened: Cells) -> Tally:
    """mean_q (−Σ_{k∈V(q)} A ln A) / ln |V(q)|, 0 (one key) to 1 (all open keys alike).

    A query with one open key has no choice and is left out.
    """
    keys = opened.sum(-1)  # (B, Q)
    most = np.log(np.maximum(keys, 2))
    return _over_queries(_entropies(weights) / most[:, None], keys > 1)


def distance(weights: Weights, opened: Cells) -> Tally:
    """Σ A[q,k]·|q−k| / Σ A over all queries, in positions, for self-attention.

    Source: Vig & Belinkov 2019, arXiv 1906.04284, whose decoder only looks back: i − j there
    is |q−k| here, which an encoder needs.
    """
    queries, keys = opened.shape[-2:]
    apart = np.abs(np.arange(queries)[:, None] - np.arange(keys)).astype(np.float64)  # (Q, K)
    inside = np.where(opened[:, None], weights, 0.0).astype(np.float64)  # (B, H, Q, K)
    return Tally((inside * apart).sum((-2, -1)), inside.sum((-2, -1)))


def offsets(weights: Weights, opened: Cells) -> Tally:
    """How often the largest weight of q lies at q+δ, for every δ of `OFFSETS`: (B, H, δ).

    For each δ only queries count that may attend to q+δ and have a choice.
    """
    peak = _peaks(weights, opened)  # (B, H, Q)
    place = np.arange(opened.shape[1])
    choice = opened.sum(-1) > 1  # (B, Q)
    hits = np.empty((*peak.shape[:2], len(OFFSETS)))
    asked = np.empty_like(hits)
    for number, delta in enumerate(OFFSETS):
        reach = choice & at_offset(opened, delta).any(-1)  # (B, Q)
        hits[..., number] = ((peak - place == delta) & reach[:, None]).sum(-1)
        asked[..., number] = reach.sum(-1)[:, None]
    return Tally(hits, asked)


def positional(tally: Tally) -> tuple[NDArray[np.int64], Tally]:
    """δ (H,) of each head's most frequent offset, and the tally (B, H) of the share it has.

    tally: of `offsets`. A head is called positional from a share of 0.9 on. An offset that
    fewer than half the queries can reach says too little and is passed over. Source: Voita et
    al. 2019, arXiv 1905.09418: the largest weight falls on one relative position at least
    90 % of the time.
    """
    common = tally.queries >= tally.queries.max(-1, keepdims=True) / 2
    share = np.where(common & (tally.queries > 0), np.nan_to_num(tally.mean), -1.0)  # (H, δ)
    best = share.argmax(-1)  # (H,)
    at = best[None, :, None]
    total, count = (np.take_along_axis(part, at, -1)[..., 0] for part in (tally.total, tally.count))
    return np.asarray(OFFSETS)[best], Tally(total, count)


def mass_on(weights: Weights, cells: Cells, asked: Cells | np.bool_) -> Tally:
    """mean_q Σ_{k∈cells(q)} A[q,k], 0 to 1, over the queries `asked` (B, Q).

    With the gold cells, the gold weight; with the keys that are BOS, EOS or padding, the mass
    that sinks there (Ferrando & Costa-jussà 2021, arXiv 2109.05853).
    """
    return _over_queries(np.where(cells[:, None], weights, 0.0).sum(-1), asked)


def peak_on(weights: Weights, opened: Cells, cells: Cells) -> Tally:
    """How often the largest weight of q lies on one of its `cells` (B, Q, K), 0 to 1.

    Queries without such a cell, or without a choice, are left out. With the gold cells, the
    accuracy of the largest weight.
    """
    cells = cells & opened
    peak = _peaks(weights, opened)  # (B, H, Q)
    on = np.take_along_axis(cells[:, None], peak[..., None], -1)[..., 0]  # (B, H, Q)
    return _over_queries(on, cells.any(-1) & (opened.sum(-1) > 1))


def at_offset(opened: Cells, delta: int) -> Cells:
    """(B, Q, K) True where the key is `delta` after the query, and open."""
    queries, keys = opened.shape[-2:]
    return opened & np.eye(queries, keys, k=delta, dtype=np.bool_)


def _entropies(weights: Weights) -> NDArray[np.float64]:
    """(B, H, Q) in nats; a weight of 0 adds nothing."""
    logs = np.log(weights, out=np.zeros_like(weights), where=weights > 0)
    return -(weights * logs).sum(-1, dtype=np.float64)


def _peaks(weights: Weights, opened: Cells) -> NDArray[np.int64]:
    """(B, H, Q) the open key with the largest weight, the first of equal ones."""
    return np.where(opened[:, None], weights, -1.0).argmax(-1)


def _over_queries(values: NDArray[np.generic], queries: Cells | np.bool_) -> Tally:
    """Values (B, H, Q) added up over some `queries` (B, Q)."""
    asked = np.asarray(queries)
    total = (values * asked[:, None]).sum(-1, dtype=np.float64)
    return Tally(total, np.broadcast_to(asked.sum(-1)[:, None], total.shape).astype(np.float64))
