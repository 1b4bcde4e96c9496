"""Points of pruning curves: the loss as heads are removed, one after another, in an order to be
judged. `pruning_study` measures whole curves."""

from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from torch import Tensor

from explorer.core.errors import ConfigError
from explorer.core.sites import Head
from explorer.heads.measure import measure
from explorer.heads.metrics.bootstrap import PerExampleMean
from explorer.heads.metrics.evaluation_batches import parts
from explorer.heads.pruning.pruning_report import ORDERS, PruningPoint
from explorer.heads.removal.ablation import gated_losses
from explorer.heads.removal.gradient_importance import importance
from explorer.model.evaluation_batch import EvaluationBatch
from explorer.model.measurable import MeasurableModel

POINTS = 13
"""Numbers of heads at which the loss is measured, all and none among them."""

DRAWS = 10
"""Number of random orders."""

GREEDY_SENTENCES = 64
"""Sentences on which the greedy order is found: each step tries every remaining head."""

Removal = NDArray[np.int64]
"""Numbers of all heads, in the order in which they are removed."""


def refuse_order(order: str) -> None:
    """Raise `ConfigError` on an order that does not exist."""
    if order not in ORDERS:
        choices = ", ".join(ORDERS)
        raise ConfigError("bad_choice", name="order", got=order, choices=choices)


def points(heads: int) -> list[int]:
    """The numbers of heads left at which the loss is measured, all first."""
    left = np.unique(np.linspace(0, heads, POINTS).round().astype(int))
    return [int(stay) for stay in left[::-1]]


def removals_of(
    model: MeasurableModel,
    batch: EvaluationBatch,
    order: str,
    seed: int = 0,
) -> list[Removal]:
    """The one order of removal of this name, or the `DRAWS` random ones; see `pruning_curve`.

    "greedy" is found head by head, see `greedy_removals`.
    """
    if order == "random":
        generator, count = np.random.default_rng(seed), len(model.passes.heads)
        return [generator.permutation(count) for _ in range(DRAWS)]
    return [_SCORED[order](model, batch)]


def greedy_removals(
    model: MeasurableModel, batch: EvaluationBatch, begun: Sequence[int] = ()
) -> Iterator[int]:
    """Yield the next heads to remove, after those in `begun`.

    Each step tries every remaining head and yields the one whose removal gives the lowest loss.
    """
    some, count = batch.first(GREEDY_SENTENCES), len(model.passes.heads)
    removed = list(begun)
    while len(removed) < count:
        candidates = [number for number in range(count) if number not in removed]
        best = candidates[0]
        if len(candidates) > 1:
            gates = torch.ones(len(candidates), count)
            gates[:, removed] = 0
            gates[range(len(candidates)), candidates] = 0
            best = candidates[int(gated_losses(model, some, gates).mean.argmin())]
        removed.append(best)
        yield best


def whole_losses(model: MeasurableModel, batch: EvaluationBatch) -> PerExampleMean:
    """The loss of a target token with all heads: totals (sentence, 1)."""
    return gated_losses(model, batch, torch.ones(1, len(model.passes.heads)))


def loss_with(
    model: MeasurableModel,
    batch: EvaluationBatch,
    removals: Sequence[Removal],
    stay: int,
    whole: PerExampleMean,
) -> PruningPoint:
    """The mean loss with `stay` heads left, by one order or by random ones.

    whole: the loss with all heads.
    """
    losses = gated_losses(model, batch, gates_of(removals, stay))
    if len(removals) > 1:
        return drawn_point(stay, losses.mean)
    change = PerExampleMean(losses.total - whole.total, losses.count)
    ends = (float(end.item()) for end in (*losses.interval(), *change.interval()))
    return PruningPoint(stay, float(losses.mean[0]), *ends)


def drawn_point(stay: int, values: NDArray[np.float64]) -> PruningPoint:
    """The point of random orders: mean, smallest and largest of their values."""
    return PruningPoint(stay, float(values.mean()), float(values.min()), float(values.max()))


def gates_of(removals: Sequence[Removal], stay: int) -> Tensor:
    """(order, head) 0 for the first heads of each order, so that `stay` of them are left."""
    gates = torch.ones(len(removals), len(removals[0]))
    for row, removal in zip(gates, removals, strict=True):
        row[removal[: len(removal) - stay].tolist()] = 0
    return gates


def _by_importance(model: MeasurableModel, batch: EvaluationBatch) -> Removal:
    return _ascending(importance(model, batch).importance)


def _by_confidence(model: MeasurableModel, batch: EvaluationBatch) -> Removal:
    return _ascending(measure(model, batch).heads.confidence)


@torch.inference_mode()
def _by_contribution(model: MeasurableModel, batch: EvaluationBatch) -> Removal:
    """Order by contribution, over all queries except padding.

    Raises `ConfigError` for a family without a W_O for each head.
    """
    projections = model.output_weights()
    totals: dict[Head, float] = dict.fromkeys(model.passes.heads, 0.0)
    queries = dict.fromkeys(totals, 0.0)
    for part in parts(model, batch):
        for layer in model.passes.attentions(part):
            counted = layer.unmasked.any(-1)  # (N, Q)
            weight = projections[layer.site][layer.layer]  # (H · K, D)
            _, count, _, width = layer.output.shape
            by_head = weight.reshape(count, width, -1)  # (H, K, D)
            lengths = (layer.output @ by_head).norm(dim=-1) * counted[:, None]  # (N, H, Q)
            for number, total in enumerate(lengths.sum((0, 2)).tolist()):
                totals[Head(layer.site, layer.layer, number)] += total
                queries[Head(layer.site, layer.layer, number)] += float(counted.sum())
    return _ascending(pd.Series([totals[head] / queries[head] for head in totals]))


def _ascending(values: "pd.Series[float]") -> Removal:
    """The numbers of the rows sorted by value, least first; rows without a value come first."""
    return np.asarray(values.fillna(-np.inf).to_numpy().argsort(kind="stable"))


_SCORED: Mapping[str, Callable[[MeasurableModel, EvaluationBatch], Removal]] = {
    "importance": _by_importance,
    "confidence": _by_confidence,
    "contribution": _by_contribution,
}
