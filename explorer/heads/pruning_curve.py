"""Pruning curves: the loss as heads are removed, one after another, in an order to be judged."""

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
from explorer.heads.metrics.evaluation_batches import parts, refuse_without_targets
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


def pruning_curve(
    model: MeasurableModel, batch: EvaluationBatch, order: str = "importance", *, seed: int = 0
) -> pd.DataFrame:
    """The mean loss of a target token (nats) with fewer and fewer heads.

    Columns heads_left, loss, low, high, change_low, change_high. At `POINTS` numbers of heads,
    evenly spaced from all to none; a removed head puts out zero. low, high: 95 % bootstrap over
    sentences; for "random", whose loss is the mean of the draws, the smallest and the largest of
    them. change_low, change_high: of the change from all heads, by a paired bootstrap, NaN for
    "random". `attrs["removed"]` of the table has the heads in the order of removal, each as
    `ablate` takes it, except for "random".

    order: of removal, the least first.
        "importance": by the gradient of the loss at a head's gate (Michel et al. 2019,
            arXiv 1905.10650).
        "confidence": by the mean largest weight of a row (Voita et al. 2019, arXiv 1905.09418).
        "contribution": by the mean length of what a head adds to a query, ‖z_h W_O‖ (Kobayashi et
            al. 2020, arXiv 2004.10102).
        "greedy": at each step the head without which the loss is lowest, on the first
            `GREEDY_SENTENCES` sentences (Michel et al. 2019 remove in steps; here one by one).
        "random": `DRAWS` orders.

    Raises `ConfigError` on an order that does not exist, `EvaluationBatchError` on a model that
    predicts no tokens.
    """
    orders = (*_SCORED, "greedy", "random")
    if order not in orders:
        raise ConfigError("bad_choice", name="order", got=order, choices=", ".join(orders))
    refuse_without_targets(batch)
    removals = removals_of(model, batch, order, seed)
    whole = gated_losses(model, batch, torch.ones(1, len(model.passes.heads)))
    rows: list[tuple[float, ...]] = []
    for stay in points(len(model.passes.heads)):
        losses = gated_losses(model, batch, gates_of(removals, stay))
        if order == "random":
            values = losses.mean
            rows.append((stay, values.mean(), values.min(), values.max(), np.nan, np.nan))
            continue
        change = PerExampleMean(losses.total - whole.total, losses.count)
        ends = (float(end.item()) for end in (*losses.interval(), *change.interval()))
        rows.append((stay, float(losses.mean[0]), *ends))
    columns = ["heads_left", "loss", "low", "high", "change_low", "change_high"]
    table = pd.DataFrame(rows, columns=columns)
    if order != "random":
        heads = model.passes.heads
        table.attrs["removed"] = [heads[number] for number in removals[0]]
    return table


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
    """The one order of removal of this name, or the `DRAWS` random ones; see `pruning_curve`."""
    if order == "random":
        generator, count = np.random.default_rng(seed), len(model.passes.heads)
        return [generator.permutation(count) for _ in range(DRAWS)]
    if order == "greedy":
        return [np.fromiter(greedy_removals(model, batch), np.int64)]
    return [_SCORED[order](model, batch)]


def greedy_removals(model: MeasurableModel, batch: EvaluationBatch) -> Iterator[int]:
    """Yield the heads in the order in which they are removed.

    Each step tries every remaining head and yields the one whose removal gives the lowest loss.
    """
    some, count = batch.first(GREEDY_SENTENCES), len(model.passes.heads)
    removed: list[int] = []
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
