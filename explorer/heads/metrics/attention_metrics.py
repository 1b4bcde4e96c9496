"""Metrics of attention heads: pure functions of arrays (NumPy alone), and their table.

A new metric is a function here and an entry in `METRICS`; the report, its file, the CSV and the
tables on screen take their columns from there. Its label and hint are the sentences
`metric_NAME` and `metric_NAME_title` in `strings/heads.toml`.

Every function takes the weights of a batch, (B, H, Q, K) after softmax and before dropout, and
its unmasked cells, (B, Q, K) True = may attend. A padding query has no unmasked cell and is left
out. Rows are queries, columns are keys. The result is a `PerExampleMean` (B, H): the mean over
queries, with an interval over examples.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from explorer.core.sites import SITES
from explorer.heads.metrics.bootstrap import PerExampleMean

Weights = NDArray[np.float32]
Cells = NDArray[np.bool_]

FARTHEST = 8
"""Positions: the largest offset at which a positional head is looked for."""

OFFSETS = tuple(range(-FARTHEST, FARTHEST + 1))


@dataclass(frozen=True, slots=True, eq=False)
class SiteAttention:
    """Attention of all heads of a site on part of an evaluation batch.

    weights: (B, H, Q, K), the heads of all layers in one axis.
    unmasked: (B, Q, K), without the rows of padding queries.
    end, special: (B, K) True where the key is EOS, or BOS, EOS or padding.
    gold: (B, Q, K) True where the prediction of a query comes from; None if unknown.
    punctuation: (B, K) True where the key is punctuation alone.
    repeats: (B, Q, K) of self-attention, True where the key is the token of the query at another
        position.
    """

    site: str
    weights: Weights
    unmasked: Cells
    end: Cells
    special: Cells
    gold: Cells | None = None
    punctuation: Cells | None = None
    repeats: Cells | None = None


@dataclass(frozen=True, slots=True)
class Metric:
    """A metric of the table of heads: its name in `METRICS` is the name of its column.

    compute: the metric on part of a batch.
    sites: the sites where it has a meaning; needs_gold: whether it needs a gold alignment.
    select: for a metric computed for several candidates (B, H, candidate): the number (H,) that
        names the best candidate, in the column `NAME_offset`, and the metric (B, H) there.
    """

    compute: Callable[[SiteAttention], PerExampleMean]
    sites: tuple[str, ...] = SITES
    needs_gold: bool = False
    select: Callable[[PerExampleMean], tuple[NDArray[np.int64], PerExampleMean]] | None = None


def gold_weight(weights: NDArray[np.float32], gold: NDArray[np.bool_]) -> NDArray[np.float64]:
    """mean_t A[t, π(t)]: the weight of each head on the gold source position, 0 to 1.

    weights: cross-attention (…, query, key); gold: (query, key), or with leading axes that
    broadcast, True where the query's prediction comes from. Queries without a gold key (the
    end of the sequence, padding) are left out of the mean. Returns (…), NaN without any.
    """
    weight = np.where(gold, weights, 0.0).sum(-1)  # (…, query)
    counted = np.broadcast_to(gold.any(-1), weight.shape)
    with np.errstate(invalid="ignore"):
        mean: NDArray[np.float64] = (weight * counted).sum(-1) / counted.sum(-1)
    return mean


def confidence(weights: Weights, unmasked: Cells, end: Cells) -> PerExampleMean:
    """mean_q max_{k≠EOS} A[q,k], 0 to 1.

    end: (B, K) True where the key is EOS. A query whose only unmasked keys are EOS is left out.
    Source: Voita et al. 2019, arXiv 1905.09418: the mean over tokens of the largest weight, the
    end-of-sentence symbol excluded.
    """
    keys = unmasked & ~end[:, None]  # (B, Q, K)
    largest = np.where(keys[:, None], weights, 0.0).max(-1)  # (B, H, Q)
    return _over_queries(largest, keys.any(-1))


def entropy(weights: Weights, unmasked: Cells) -> PerExampleMean:
    """mean_q −Σ_{k∈V(q)} A ln A, in nats, 0 to ln |V(q)|; V(q) are the unmasked keys of q.

    A query with one unmasked key is left out: its weight cannot be anything but 1.
    """
    return _over_queries(_entropies(weights), unmasked.sum(-1) > 1)


def normalised_entropy(weights: Weights, unmasked: Cells) -> PerExampleMean:
    """mean_q (−Σ_{k∈V(q)} A ln A) / ln |V(q)|, 0 (all weight on one key) to 1 (uniform).

    A query with one unmasked key is left out: its weight cannot be anything but 1.
    """
    keys = unmasked.sum(-1)  # (B, Q)
    most = np.log(np.maximum(keys, 2))
    return _over_queries(_entropies(weights) / most[:, None], keys > 1)


def distance(weights: Weights, unmasked: Cells) -> PerExampleMean:
    """Σ A[q,k]·|q−k| / Σ A over all queries, in positions, for self-attention.

    Source: Vig & Belinkov 2019, arXiv 1906.04284, whose decoder attends to earlier positions
    only: its i − j is |q−k| here, which an encoder needs.
    """
    queries, keys = unmasked.shape[-2:]
    apart = np.abs(np.arange(queries)[:, None] - np.arange(keys)).astype(np.float64)  # (Q, K)
    inside = np.where(unmasked[:, None], weights, 0.0).astype(np.float64)  # (B, H, Q, K)
    return PerExampleMean((inside * apart).sum((-2, -1)), inside.sum((-2, -1)))


def offsets(weights: Weights, unmasked: Cells) -> PerExampleMean:
    """Share of queries whose largest weight lies at q+δ, for every δ of `OFFSETS`: (B, H, δ).

    For each δ only queries count that may attend to q+δ and have more than one unmasked key. Of m
    equal largest weights each counts 1/m.
    """
    peaks = _peaks(weights, unmasked)  # (B, H, Q, K)
    several = (unmasked.sum(-1) > 1)[..., None]  # (B, Q, 1)
    hits = np.empty((*peaks.shape[:2], len(OFFSETS)))
    counted = np.empty_like(hits)
    for number, delta in enumerate(OFFSETS):
        reach = at_offset(unmasked, delta) & several  # (B, Q, K)
        hits[..., number] = np.einsum("bhqk,bqk->bh", peaks, reach)
        counted[..., number] = reach.sum((-2, -1))[:, None]
    return PerExampleMean(hits, counted)


def positional(shares: PerExampleMean) -> tuple[NDArray[np.int64], PerExampleMean]:
    """δ (H,), the most frequent offset of each head, and the share (B, H) of queries at it.

    shares: of `offsets`. A head is called positional from a share of 0.9 on. An offset that
    fewer than half as many queries can reach as the most reachable one is left out. Source:
    Voita et al. 2019, arXiv 1905.09418: the largest weight falls on one relative position at
    least 90 % of the time.
    """
    common = shares.queries >= shares.queries.max(-1, keepdims=True) / 2
    share = np.where(common & (shares.queries > 0), np.nan_to_num(shares.mean), -1.0)  # (H, δ)
    best = share.argmax(-1)  # (H,)
    at = best[None, :, None]
    total, count = (
        np.take_along_axis(part, at, -1)[..., 0] for part in (shares.total, shares.count)
    )
    return np.asarray(OFFSETS)[best], PerExampleMean(total, count)


def mass_on(weights: Weights, cells: Cells, queries: Cells | np.bool_) -> PerExampleMean:
    """mean_q Σ_{k∈cells(q)} A[q,k], 0 to 1, over `queries` (B, Q).

    With the gold cells, the gold weight; with the keys that are BOS, EOS or padding, the sink
    mass (Ferrando & Costa-jussà 2021, arXiv 2109.05853).
    """
    return _over_queries(np.where(cells[:, None], weights, 0.0).sum(-1), queries)


def peak_on(weights: Weights, unmasked: Cells, cells: Cells) -> PerExampleMean:
    """Share of queries whose largest weight lies on one of their `cells` (B, Q, K), 0 to 1.

    Queries without such a cell, or with one unmasked key, are left out. Of m equal largest weights
    each counts 1/m, so that a head of equal weights has the share of the cells and not that of the
    first key. With the gold cells, the argmax accuracy.
    """
    cells = cells & unmasked
    on = np.einsum("bhqk,bqk->bhq", _peaks(weights, unmasked), cells)
    return _over_queries(on, cells.any(-1) & (unmasked.sum(-1) > 1))


def sink(weights: Weights, unmasked: Cells, special: Cells) -> PerExampleMean:
    """mean_q Σ_{k ∈ BOS, EOS, padding} A[q,k], 0 to 1; special: (B, K).

    A query with one unmasked key is left out. Source: Ferrando & Costa-jussà 2021,
    arXiv 2109.05853.
    """
    return mass_on(weights, unmasked & special[:, None], unmasked.sum(-1) > 1)


def at_offset(unmasked: Cells, delta: int) -> Cells:
    """(B, Q, K) True where the key is `delta` after the query, and unmasked."""
    queries, keys = unmasked.shape[-2:]
    return unmasked & np.eye(queries, keys, k=delta, dtype=np.bool_)


def _peaks(weights: Weights, unmasked: Cells) -> NDArray[np.float32]:
    """(B, H, Q, K) 1 at the unmasked key with the largest weight, 1/m at each of m equal ones."""
    inside = np.where(unmasked[:, None], weights, -1.0)
    largest = (inside == inside.max(-1, keepdims=True)) & unmasked[:, None]
    equal = np.maximum(largest.sum(-1, keepdims=True), 1)
    return np.divide(largest, equal, dtype=np.float32)


def _entropies(weights: Weights) -> NDArray[np.float64]:
    """(B, H, Q) in nats; a weight of 0 adds nothing."""
    logs = np.log(weights, out=np.zeros_like(weights), where=weights > 0)
    return -(weights * logs).sum(-1, dtype=np.float64)


def _over_queries(values: NDArray[np.generic], queries: Cells | np.bool_) -> PerExampleMean:
    """Values (B, H, Q) added up over `queries` (B, Q)."""
    counted = np.asarray(queries)
    total = (values * counted[:, None]).sum(-1, dtype=np.float64)
    count = np.broadcast_to(counted.sum(-1)[:, None], total.shape).astype(np.float64)
    return PerExampleMean(total, count)


def _gold(attention: SiteAttention) -> Cells:
    assert attention.gold is not None  # `metrics_of` checks `needs_gold`
    return attention.gold


METRICS: Mapping[str, Metric] = {
    "confidence": Metric(lambda a: confidence(a.weights, a.unmasked, a.end)),
    "entropy": Metric(lambda a: entropy(a.weights, a.unmasked)),
    "normalised_entropy": Metric(lambda a: normalised_entropy(a.weights, a.unmasked)),
    "distance": Metric(lambda a: distance(a.weights, a.unmasked), sites=("encoder", "decoder")),
    "positional": Metric(lambda a: offsets(a.weights, a.unmasked), select=positional),
    "gold_weight": Metric(
        lambda a: mass_on(a.weights, _gold(a), _gold(a).any(-1)), needs_gold=True
    ),
    "gold_accuracy": Metric(lambda a: peak_on(a.weights, a.unmasked, _gold(a)), needs_gold=True),
    "sink": Metric(lambda a: sink(a.weights, a.unmasked, a.special)),
}
"""Columns of the table of heads; each also has a `NAME_low` and a `NAME_high`."""


def metrics_of(attention: SiteAttention) -> dict[str, PerExampleMean]:
    """Every metric that has a meaning at this site; those with candidates, before `select`."""
    return {
        name: metric.compute(attention)
        for name, metric in METRICS.items()
        if attention.site in metric.sites and not (metric.needs_gold and attention.gold is None)
    }
