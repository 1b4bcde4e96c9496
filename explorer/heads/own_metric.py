"""A metric of one's own: a number of the logits of each text, and its change without heads."""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, TypeAlias

import pandas as pd
import torch
from torch import Tensor

from explorer.core.errors import EvaluationBatchError
from explorer.core.interventions import Interventions
from explorer.heads.ablation import ROUNDING, VARIANTS, gate_groups
from explorer.heads.bootstrap import PerExampleMean
from explorer.heads.evaluation_batches import Progress, distinct, listed_texts, no_progress, parts
from explorer.heads.head_report_validation import KEYS
from explorer.heads.statistics import holm, mean_change_p
from explorer.model.evaluation_batch import EvaluationBatch
from explorer.model.head_gates import Fills, Means
from explorer.model.measurable import NO_INTERVENTIONS, MeasurableModel
from explorer.model.threads import threads_for

Metric: TypeAlias = Callable[[Tensor], Any]
"""Of one text the logits (V,) of what follows it, of its mask, or of its classes → a number."""


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
        """Raises `EvaluationBatchError` on what is no metric, in a model with both stacks, and on
        a text without one mask in a model that fills in masks, or a class that a classifier does
        not have; `VocabularyError` on tokens that are several."""
        kept, name = distinct(listed_texts(texts), "texts")
        batch = model.passes.continued(kept, name)
        if isinstance(metric, LogitDifference):
            one, other = (model.passes.logit(named) for named in (metric.one, metric.other))
            return cls(metric.name, lambda logits: logits[one] - logits[other], batch)
        if not callable(metric):
            raise EvaluationBatchError("no_metric", got=type(metric).__name__)
        return cls(getattr(metric, "__name__", "metric"), metric, batch)

    def values(
        self,
        model: MeasurableModel,
        part: EvaluationBatch,
        gates: Tensor | None = None,
        fills: Fills | None = None,
        interventions: Interventions = NO_INTERVENTIONS,
        means: Means | None = None,
    ) -> Tensor:
        """(V, N) float64 of each text of a part of `batch` under each of the gates (V, head), or
        once. Raises `EvaluationBatchError` where it is no finite number."""
        variants = 1 if gates is None else len(gates)
        rows = None if gates is None else gates.repeat_interleave(len(part), 0)
        logits = model.passes.logits(part, rows, fills, interventions, means)
        place = part.labels.real.int().argmax(1).repeat(variants)
        own = logits[torch.arange(len(logits)), place]  # (V × N, L)
        found = [_number(self.of_logits(row)) for row in own]
        return torch.tensor(found, dtype=torch.float64).view(variants, len(part))


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
    heads, done = model.passes.heads, 0
    changes: dict[str, list[Tensor]] = {name: [] for name in VARIANTS}
    for part in parts(model, batch):
        with threads_for(model.passes.parameters, batch.pass_tokens):
            base = metric.values(model, part)
            for name, of_parts in changes.items():
                fills, found = means.outputs if name == "mean" else None, []
                for gates in gate_groups(model, name, part):
                    found.append(metric.values(model, part, gates, fills))
                    done += len(gates) * len(part)
                    progress(done / (len(VARIANTS) * len(heads) * len(batch)))
                of_parts.append(torch.cat(found) - base)  # (head, N)
    table = pd.DataFrame(heads, columns=KEYS)
    for name, of_parts in changes.items():
        mean = _mean(of_parts)
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
    """What interventions change of a metric over its texts: one row, columns as of
    `ablation.effect`."""
    outcomes = []
    for part in parts(model, metric.batch):
        with threads_for(model.passes.parameters, metric.batch.pass_tokens):
            before = metric.values(model, part)
            after = metric.values(model, part, interventions=interventions, means=means)
        outcomes.append(torch.cat([before, after, after - before]))  # (3, N)
    mean = _mean(outcomes)
    low, high = mean.interval()
    columns = ["before", "after", "change", "low", "high"]
    return pd.DataFrame([[*mean.mean, low[2], high[2]]], index=[metric.name], columns=columns)


def _mean(of_parts: list[Tensor]) -> PerExampleMean:
    """Totals (N, …) of one count each, from those of each part (…, N)."""
    total = torch.cat(of_parts, 1).T.numpy()
    return PerExampleMean(total, total * 0 + 1)


def _number(value: Any) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError, RuntimeError):
        number = math.nan
    if not math.isfinite(number):
        raise EvaluationBatchError("no_finite_metric", got=str(value)[:40])
    return number
