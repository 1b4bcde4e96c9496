"""Pruning curves of several orders. Each point is handed on as soon as it is measured, so the next
run resumes a study that was stopped."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import astuple, dataclass, replace
from functools import cached_property
from hashlib import sha256
from typing import Any

import numpy as np
import pandas as pd

from explorer.core.errors import PruningError
from explorer.core.sites import Head
from explorer.heads.metrics.bootstrap import PerExampleMean
from explorer.heads.metrics.evaluation_batches import Progress, no_progress, refuse_without_targets
from explorer.heads.pruning.pruning_bleu import Counts, bleu_points, bleu_with, whole_counts
from explorer.heads.pruning.pruning_curve import (
    DRAWS,
    GREEDY_SENTENCES,
    Removal,
    greedy_removals,
    loss_with,
    points,
    refuse_order,
    removals_of,
    whole_losses,
)
from explorer.heads.pruning.pruning_report import LOSS_COLUMNS, PruningCurve, PruningReport
from explorer.heads.removal.gated_decoding import References
from explorer.model.evaluation_batch import EvaluationBatch
from explorer.model.explorable import ExplorableModel
from explorer.model.measurable import MeasurableModel

Keep = Callable[[PruningReport], None]
"""Called with the report whenever it has grown."""

_SCORES_COST = 4  # cost of scoring all heads for an order, in passes over the batch
_BLEU_COST = 3  # cost of decoding the batch, in the same unit


def keep_nothing(report: PruningReport) -> None:
    """No-op `Keep` callback: writes no file."""


def pruning_study(
    model: MeasurableModel,
    batch: EvaluationBatch,
    orders: Sequence[str],
    *,
    seed: int = 0,
    references: References | None = None,
    begun: PruningReport | None = None,
    keep: Keep = keep_nothing,
    progress: Progress = no_progress,
) -> PruningReport:
    """The curves of `orders`, and of those that `begun` has: first all losses, then BLEU.

    orders, and the measurements: see `pruning_curve`. "greedy" takes longest, so its
    losses come last.
    references: the known translations of each sentence of `batch`, for BLEU; None = without BLEU.
    begun: report of an earlier study; only the points that it lacks are measured.

    Raises `ConfigError` on an order that does not exist or that the model does not allow,
    `PruningError` when `begun` is of another model or batch, `EvaluationBatchError` on a model that
    predicts no tokens.
    """
    for order in orders:
        refuse_order(order)
    refuse_without_targets(batch)
    if "contribution" in orders:
        model.output_weights()  # raises where a family of the library has none
    left = tuple(points(len(model.passes.heads)))
    with_bleu = tuple(bleu_points(left)) if references is not None else ()
    fresh = PruningReport(_facts(model, batch, seed), left, with_bleu, ())
    if begun is not None and _measured_on(begun) != _measured_on(fresh):
        raise PruningError("other_pruning_report")
    study = _Study(model, batch, references, (begun or fresh).with_orders(orders), keep, progress)
    study.carry_out()
    return study.report


def pruning_curve(
    model: MeasurableModel,
    batch: EvaluationBatch,
    order: str = "importance",
    *,
    seed: int = 0,
    progress: Progress = no_progress,
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
    (curve,) = pruning_study(model, batch, [order], seed=seed, progress=progress).curves
    table = pd.DataFrame(map(astuple, curve.losses), columns=["heads_left", *LOSS_COLUMNS])
    if order != "random":
        heads = {str(head): head for head in model.passes.heads}
        table.attrs["removed"] = [heads[name] for name in curve.removed]
    return table


@dataclass
class _Study:
    """The growing report, and the share of the work that is done."""

    model: MeasurableModel
    batch: EvaluationBatch
    references: References | None
    report: PruningReport
    keep: Keep
    progress: Progress
    done: float = 0.0

    def __post_init__(self) -> None:
        self.total = sum(map(self._cost, self.report.curves))

    def carry_out(self) -> None:
        """Measure all points that the report lacks."""
        self.keep(self.report)
        removals = {}
        for order in sorted((curve.order for curve in self.report.curves), key="greedy".__eq__):
            removals[order] = self._removals(order)
            for stay in self._missing(self.report.points, order, "losses"):
                point = loss_with(self.model, self.batch, removals[order], stay, self._whole)
                curve = self.report.curve(order)
                self._extend(curve, len(removals[order]), losses=(*curve.losses, point))
        for order, of_order in removals.items():
            for stay in self._missing(self.report.bleu_points, order, "bleu"):
                assert isinstance(self.model, ExplorableModel)
                assert self.references is not None
                point = bleu_with(
                    self.model, self.batch, self.references, of_order, stay, self._whole_counts
                )
                curve = self.report.curve(order)
                self._extend(curve, _BLEU_COST * len(of_order), bleu=(*curve.bleu, point))

    @cached_property
    def _whole(self) -> PerExampleMean:
        return whole_losses(self.model, self.batch)

    @cached_property
    def _whole_counts(self) -> Counts:
        assert isinstance(self.model, ExplorableModel)
        assert self.references is not None
        return whole_counts(self.model, self.batch, self.references)

    def _missing(self, wanted: Sequence[int], order: str, what: str) -> Iterator[int]:
        """The points of a curve that were not measured yet; the others count as done."""
        known = len(getattr(self.report.curve(order), what))
        each = _draws(order) * (_BLEU_COST if what == "bleu" else 1)
        self._advance(known * each)
        return iter(wanted[known:])

    def _removals(self, order: str) -> list[Removal]:
        """The order of removal, or the random ones; found now unless the report has it."""
        heads = [str(head) for head in self.model.passes.heads]
        seed = int(self.report.facts["seed"])
        if order == "random":
            return removals_of(self.model, self.batch, order, seed)
        removed = [heads.index(name) for name in self.report.curve(order).removed]
        if order == "greedy":
            costs = self._greedy_costs()
            self._advance(sum(costs[: len(removed)]))
            for number in greedy_removals(self.model, self.batch, removed):
                removed.append(number)
                self._extend(self.report.curve(order), costs[len(removed) - 1], removed)
        elif removed:
            self._advance(_SCORES_COST)
        else:
            (found,) = removals_of(self.model, self.batch, order, seed)
            removed = found.tolist()
            self._extend(self.report.curve(order), _SCORES_COST, removed)
        return [np.array(removed)]

    def _extend(
        self, curve: PruningCurve, cost: float, removed: Sequence[int] | None = None, **grown: Any
    ) -> None:
        """Add new points of a curve to the report."""
        if removed is not None:
            heads: Sequence[Head] = self.model.passes.heads
            grown["removed"] = tuple(str(heads[number]) for number in removed)
        self.report = self.report.with_curve(replace(curve, **grown))
        self.keep(self.report)
        self._advance(cost)

    def _advance(self, cost: float) -> None:
        self.done += cost
        self.progress(min(self.done / self.total, 1.0))

    def _cost(self, curve: PruningCurve) -> float:
        """Rough cost of a whole curve, in passes over the batch."""
        found = {"greedy": sum(self._greedy_costs()), "random": 0}.get(curve.order, _SCORES_COST)
        measured = len(self.report.points) + _BLEU_COST * len(self.report.bleu_points)
        return found + _draws(curve.order) * measured

    def _greedy_costs(self) -> list[float]:
        """Cost of each step of the greedy order."""
        share = min(1.0, GREEDY_SENTENCES / len(self.batch))
        return [share * left for left in range(len(self.model.passes.heads), 0, -1)]


def _draws(order: str) -> int:
    return DRAWS if order == "random" else 1


def _facts(model: MeasurableModel, batch: EvaluationBatch, seed: int) -> dict[str, Any]:
    return {
        "model": model.name,
        "digest": model.digest,
        "batch": batch.name,
        "targets": batch.targets,
        "sentences_digest": _digest(batch),
        "sentences": len(batch),
        "heads": len(model.passes.heads),
        "seed": seed,
        "draws": DRAWS,
    }


def _measured_on(report: PruningReport) -> tuple[object, ...]:
    """Facts that must agree for one report to resume another; the batch may be renamed."""
    same = ("digest", "sentences_digest", "seed", "draws")
    return *(report.facts[name] for name in same), report.points, report.bleu_points


def _digest(batch: EvaluationBatch) -> str:
    """A fingerprint of the ids of all sentences."""
    seen = sha256()
    for rows in (batch.source, batch.queries, batch.labels):
        if rows is not None:
            seen.update(repr(rows.ids.tolist()).encode())
    return seen.hexdigest()[:16]
