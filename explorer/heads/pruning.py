"""Pruning curves: the loss as heads are removed, one after another, in an order to be judged."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from torch import Tensor

from explorer.core.errors import ConfigError
from explorer.core.sites import Head
from explorer.heads.ablation import gated_losses
from explorer.heads.evaluation_batches import (
    Progress,
    no_progress,
    parts,
    refuse_without_targets,
)
from explorer.heads.gradient_importance import importance
from explorer.heads.measure import measure
from explorer.model.evaluation_batch import EvaluationBatch
from explorer.model.measurable import MeasurableModel

POINTS = 13
"""Numbers of heads at which the loss is measured, all and none among them."""

DRAWS = 10
"""Random orders."""

GREEDY_SENTENCES = 64
"""Sentences on which the greedy order is found: it tries each head that is left at each step."""


def pruning_curve(
    model: MeasurableModel,
    batch: EvaluationBatch,
    order: str = "importance",
    *,
    seed: int = 0,
    progress: Progress = no_progress,
) -> pd.DataFrame:
    """The mean loss of a target token (nats) with fewer and fewer heads.

    Columns heads_left, loss, low, high. At `POINTS` numbers of heads, evenly spaced from all to
    none; a removed head puts out zero. low, high: 95 % bootstrap over sentences; of "random", whose
    loss is the mean of the draws, the smallest and the largest of them. `attrs["removed"]` of the
    table has the heads in the order of removal, but for "random".

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
    if order not in (*ORDERS, "random"):
        choices = ", ".join((*ORDERS, "random"))
        raise ConfigError("bad_choice", name="order", got=order, choices=choices)
    refuse_without_targets(batch)
    heads = model.passes.heads
    left = np.unique(np.linspace(0, len(heads), POINTS).round().astype(int))[::-1]
    if order == "random":
        return _random_curve(model, batch, left, seed, progress)
    removal = ORDERS[order](model, batch, lambda share: progress(share / 2))
    gates = _gates(removal, left)
    losses = gated_losses(model, batch, gates, lambda share: progress(0.5 + share / 2))
    low, high = losses.interval()
    table = pd.DataFrame({"heads_left": left, "loss": losses.mean, "low": low, "high": high})
    table.attrs["removed"] = [str(heads[number]) for number in removal]
    return table


def _random_curve(
    model: MeasurableModel,
    batch: EvaluationBatch,
    left: NDArray[np.int64],
    seed: int,
    progress: Progress,
) -> pd.DataFrame:
    """The mean, smallest and largest loss of the draws."""
    generator, count = np.random.default_rng(seed), len(model.passes.heads)
    gates = torch.cat([_gates(generator.permutation(count), left) for _ in range(DRAWS)])
    found = gated_losses(model, batch, gates, progress).mean.reshape(DRAWS, len(left))
    columns = {"loss": found.mean(0), "low": found.min(0), "high": found.max(0)}
    return pd.DataFrame({"heads_left": left} | columns)


def _gates(removal: NDArray[np.int64], left: NDArray[np.int64]) -> Tensor:
    """(point, head) 0 for the first heads of `removal`, so that `left` of them stay."""
    gates = torch.ones(len(left), len(removal))
    for row, stay in enumerate(left):
        gates[row, removal[: len(removal) - stay].tolist()] = 0
    return gates


def _by_importance(
    model: MeasurableModel, batch: EvaluationBatch, progress: Progress
) -> NDArray[np.int64]:
    return _ascending(importance(model, batch, progress).importance)


def _by_confidence(
    model: MeasurableModel, batch: EvaluationBatch, progress: Progress
) -> NDArray[np.int64]:
    return _ascending(measure(model, batch, progress).heads.confidence)


@torch.inference_mode()
def _by_contribution(
    model: MeasurableModel, batch: EvaluationBatch, progress: Progress
) -> NDArray[np.int64]:
    """Of all queries but padding. Raises `ConfigError` for a family that has no W_O by head."""
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
    progress(1.0)
    return _ascending(pd.Series([totals[head] / queries[head] for head in totals]))


def _greedily(
    model: MeasurableModel, batch: EvaluationBatch, progress: Progress
) -> NDArray[np.int64]:
    """Each step tries every head that is left."""
    some, count = batch.first(GREEDY_SENTENCES), len(model.passes.heads)
    removed: list[int] = []
    for step in range(count - 1):
        candidates = [number for number in range(count) if number not in removed]
        gates = torch.ones(len(candidates), count)
        gates[:, removed] = 0
        gates[range(len(candidates)), candidates] = 0
        losses = gated_losses(model, some, gates, no_progress).mean
        removed.append(candidates[int(losses.argmin())])
        progress((step + 1) / count)
    last = next(number for number in range(count) if number not in removed)
    return np.array([*removed, last])


def _ascending(values: "pd.Series[float]") -> NDArray[np.int64]:
    """The numbers of the rows, the least value first; where there is none, first of all."""
    return np.asarray(values.fillna(-np.inf).to_numpy().argsort(kind="stable"))


ORDERS: Mapping[str, Callable[[MeasurableModel, EvaluationBatch, Progress], NDArray[np.int64]]] = (
    MappingProxyType(
        {
            "importance": _by_importance,
            "confidence": _by_confidence,
            "contribution": _by_contribution,
            "greedy": _greedily,
        }
    )
)
"""Name → numbers of the heads in the order of removal."""
