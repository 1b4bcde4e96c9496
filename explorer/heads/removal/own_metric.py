"""A caller's own metric: a number from the logits of each text, and its change without heads."""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, TypeAlias

import pandas as pd
import torch
from torch import Tensor

from explorer.core.errors import EvaluationBatchError
from explorer.core.interventions import Interventions
from explorer.heads.metrics.bootstrap import PerExampleMean
from explorer.heads.metrics.evaluation_batches import Progress, distinct, listed_texts, no_progress
from explorer.heads.metrics.statistics import holm, mean_change_p
from explorer.heads.removal.ablation import (
    ROUNDING,
    TOGETHER,
    VARIANTS,
    changes_by_head,
    changes_together,
)
from explorer.heads.reports.head_report_validation import KEYS
from explorer.model.evaluation_batch import EvaluationBatch, TokenRows
from explorer.model.intervention_hooks import Means
from explorer.model.measurable import MeasurableModel

Metric: TypeAlias = Callable[[Tensor], Any]
"""Logits (V,) of one text → a number. The logits are those of the next token, of the mask, or of
the classes."""


@dataclass(frozen=True, slots=True)
class LogitDifference:
    """See `logit_difference`."""

    one: str | int
    other: str | int

    @property
    def name(self) -> str:
        return f"logit {self.one!r} - logit {self.other!r}"


def logit_difference(one: str | int, other: str | int) -> LogitDifference:
    """The metric logit of one token, or class, − logit of another, for `measure` and `ablate`.

    >>> explorer.logit_difference(" Mary", " John").name
    "logit ' Mary' - logit ' John'"

    one, other: texts that are one token each in the model; most tokenizers need the space before a
        word. Of a classifier the names or numbers of two of its classes.

    Source: Wang et al. 2022, arXiv 2211.00593.
    """
    return LogitDifference(one, other)


@dataclass(frozen=True, slots=True, eq=False)
class TextMetric:
    """A metric of the texts of one model; batch: as of `BatchPasses.continued`."""

    name: str
    of_logits: Metric
    batch: EvaluationBatch

    @classmethod
    def of(
        cls, model: MeasurableModel, metric: "Metric | LogitDifference", texts: Iterable[Any] | None
    ) -> "TextMetric":
        """The metric on texts of `model`.

        Raises `EvaluationBatchError` on anything but a metric, for a model with both stacks, on a
        text without exactly one mask in a model that fills in masks, and on a class that a
        classifier does not have; `VocabularyError` on a text that is not a single token.
        """
        kept, name = distinct(listed_texts(texts), "texts")
        batch = model.passes.continued(kept, name)
        if isinstance(metric, LogitDifference):
            one, other = (model.passes.logit(named) for named in (metric.one, metric.other))
            return cls(metric.name, lambda logits: logits[one] - logits[other], batch)
        if not callable(metric):
            raise EvaluationBatchError("no_metric", got=type(metric).__name__)
        return cls(getattr(metric, "__name__", "metric"), metric, batch)

    def values(self, logits: Tensor, labels: TokenRows) -> Tensor:
        """As `Outcomes`. Raises `EvaluationBatchError` if a value is not a finite number."""
        own = logits[torch.arange(len(logits)), labels.real.int().argmax(1)]  # (R, L)
        return torch.tensor([_number(self.of_logits(row)) for row in own], dtype=torch.float64)


@torch.inference_mode()
def metric_by_head(
    model: MeasurableModel,
    metric: TextMetric,
    batch: EvaluationBatch,
    means: Means,
    progress: Progress = no_progress,
) -> pd.DataFrame:
    """The mean change of a metric when each head is removed, one row a head.

    Columns as of `ablation`, of `VARIANTS`: zero_metric, zero_metric_low, zero_metric_high (95 %
    bootstrap over texts), zero_metric_p (of no change, corrected by Holm). batch: of the metric.
    """
    table = pd.DataFrame(model.passes.heads, columns=KEYS)
    for name, changes in changes_by_head(
        model, batch, VARIANTS, metric.values, means, progress
    ).items():
        mean = _mean(changes)
        low, high = mean.interval()
        small = mean.total * (abs(mean.total) >= ROUNDING)
        columns = {"": mean.mean, "_low": low, "_high": high, "_p": holm(mean_change_p(small))}
        table = table.assign(**{f"{name}_metric{end}": own for end, own in columns.items()})
    return table


@torch.inference_mode()
def metric_effect(
    model: MeasurableModel,
    metric: TextMetric,
    interventions: Interventions,
    means: Means | None = None,
) -> pd.DataFrame:
    """Effect of interventions on a metric over its texts: one row, columns as of
    `ablation.effect`."""
    mean = _mean(changes_together(model, metric.batch, interventions, metric.values, means))
    low, high = mean.interval()
    return pd.DataFrame([[*mean.mean, low[2], high[2]]], index=[metric.name], columns=TOGETHER)


def _mean(values: Tensor) -> PerExampleMean:
    """Mean over texts of `values` (V, N): totals (N, V), each with the count 1."""
    total = values.T.numpy()
    return PerExampleMean(total, total * 0 + 1)


def _number(value: Any) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError, RuntimeError):
        number = math.nan
    if not math.isfinite(number):
        raise EvaluationBatchError("no_finite_metric", got=str(value)[:40])
    return number
