"""A caller's own metric: a number from the logits of each text."""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, TypeAlias

import torch
from torch import Tensor

from explorer.core.errors import EvaluationBatchError
from explorer.heads.metrics.evaluation_batches import distinct, listed_texts
from explorer.model.evaluation_batch import EvaluationBatch, TokenRows
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
        return cls(*named_metric(model, metric), batch)

    def values(self, logits: Tensor, labels: TokenRows) -> Tensor:
        """(1, R) float64, from the logits (R, T, L) and the labels of their rows (R, T). Raises
        `EvaluationBatchError` if a value is not a finite number."""
        own = logits[torch.arange(len(logits)), labels.real.int().argmax(1)]  # (R, L)
        return torch.tensor([[finite(self.of_logits(row)) for row in own]], dtype=torch.float64)


def named_metric(model: MeasurableModel, metric: "Metric | LogitDifference") -> tuple[str, Metric]:
    """Name and function of a caller's metric. Raises `EvaluationBatchError` and `VocabularyError`
    as `TextMetric.of`."""
    if isinstance(metric, LogitDifference):
        one, other = (model.passes.logit(named) for named in (metric.one, metric.other))
        return metric.name, lambda logits: logits[one] - logits[other]
    if not callable(metric):
        raise EvaluationBatchError("no_metric", got=type(metric).__name__)
    return getattr(metric, "__name__", "metric"), metric


def finite(value: Any) -> float:
    """The number that a metric gave. Raises `EvaluationBatchError` on anything else."""
    try:
        number = float(value)
    except (TypeError, ValueError, RuntimeError):
        number = math.nan
    if not math.isfinite(number):
        raise EvaluationBatchError("no_finite_metric", got=str(value)[:40])
    return number
