"""Ablation: the loss and exact match of the model without each head, or with it alone."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TypeAlias

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from explorer.core.interventions import Interventions
from explorer.core.sites import Head
from explorer.heads.metrics.bootstrap import PerExampleMean
from explorer.heads.metrics.evaluation_batches import (
    Progress,
    no_progress,
    parts,
    refuse_without_targets,
    token_losses,
)
from explorer.heads.removal.own_metric import TextMetric
from explorer.heads.reports.head_report_validation import KEYS
from explorer.model.actions import Fills, MeanOutputs
from explorer.model.evaluation_batch import EvaluationBatch, TokenRows
from explorer.model.measurable import NO_INTERVENTIONS, BatchPasses, MeasurableModel
from explorer.model.threads import threads_for

VARIANTS = ("zero", "mean", "only")
"""The head's output set to zero; set to its mean; all other heads of its site set to zero."""

LARGEST_PASS = 2**24
"""Logits of one forward pass: 64 MB."""

LARGEST_LAYER = 2**25
"""Weights of one layer in a forward pass: 128 MB."""

MOST_ROWS = 1024

ROUNDING = 1e-6
"""Nats a token, or of a metric: logits of float32 around 10 have no smaller differences."""

Outcomes: TypeAlias = Callable[[Tensor, TokenRows], Tensor]
"""Measured values: logits (R, T, L) and the labels of their rows (R, T) → (values, R) float64."""


@torch.inference_mode()
def ablation(
    model: MeasurableModel,
    batch: EvaluationBatch,
    means: MeanOutputs,
    progress: Progress = no_progress,
    variants: Sequence[str] = VARIANTS,
    metric: TextMetric | None = None,
) -> pd.DataFrame:
    """L(head removed) − L and Δ exact match, one row a head; or the mean change of `metric`.

    For each of `variants`, as in zero_loss, zero_exact: the mean loss of a target token (nats)
    and the share of outputs that match exactly, each minus that of the whole model. An output
    matches when every token is the most probable one after those before it, which is when
    greedy decoding finds it. means: the outputs of the mean variant, over a named batch.

    Each with the ends of its 95 % interval, _low and _high, by bootstrap over sentences. Changes
    below `ROUNDING` are 0; where no sentence changes, both ends are: see `most_changed`.

    Source: Michel et al. 2019, arXiv 1905.10650. "only", because of two redundant heads each
    looks unimportant when it alone is removed.

    metric: measured instead, as zero_metric and so on; batch: of it.

    Raises `EvaluationBatchError` on a model that predicts no tokens, unless a metric is given.
    """
    outcomes = _outcomes(model, batch, metric)
    table = pd.DataFrame(model.passes.heads, columns=KEYS)
    changes = _changes_by_head(model, batch, variants, outcomes, means, progress)
    for name, of_variant in changes.items():
        for what, change in _per_example_means(of_variant, batch, metric).items():
            change = _without_rounding(change)
            low, high = change.interval()
            columns = {"": change.mean, "_low": low, "_high": high}
            table = table.assign(**{f"{name}_{what}{end}": own for end, own in columns.items()})
    return table


@torch.inference_mode()
def effect(
    model: MeasurableModel,
    batch: EvaluationBatch,
    interventions: Interventions,
    means: MeanOutputs | None = None,
    progress: Progress = no_progress,
    metric: TextMetric | None = None,
) -> pd.DataFrame:
    """Effect of interventions, applied together, over a batch: rows loss and exact; or one row,
    of `metric` over its texts, which are `batch`.

    Columns: before, after, change, low, high (of the change; as in `ablation`). The effect of
    redundant heads shows only when they are removed together.

    Raises as `ablation`.
    """
    outcomes, found = _outcomes(model, batch, metric), []
    for part in parts(model, batch, progress):
        with threads_for(model.passes.parameters, batch.pass_tokens):
            before = _measured(model, part, outcomes)  # (values, 1, N)
            after = _measured(model, part, outcomes, interventions=interventions, means=means)
        found.append(torch.cat([before, after, after - before], 1))
    rows = {}
    for what, mean in _per_example_means(torch.cat(found, -1), batch, metric).items():
        low, high = mean.interval()
        name = what if metric is None else metric.name
        rows[name] = [*mean.mean, low[2], high[2]]
    columns = ["before", "after", "change", "low", "high"]
    return pd.DataFrame.from_dict(rows, orient="index", columns=columns)


def _outcomes(
    model: MeasurableModel, batch: EvaluationBatch, metric: TextMetric | None
) -> Outcomes:
    """The values of `metric`, or without one the losses and matches. Raises as `ablation`."""
    if metric is not None:
        return metric.values
    refuse_without_targets(batch)
    return partial(_loss_and_match, model.passes)


def _changes_by_head(
    model: MeasurableModel,
    batch: EvaluationBatch,
    variants: Sequence[str],
    outcomes: Outcomes,
    means: MeanOutputs,
    progress: Progress,
) -> dict[str, Tensor]:
    """Change of the outcomes with each head removed, by variant: (values, head, N)."""
    total, done = len(variants) * len(model.passes.heads) * len(batch), 0
    changes: dict[str, list[Tensor]] = {name: [] for name in variants}
    for part in parts(model, batch):
        base = _measured(model, part, outcomes)  # (values, 1, N)
        for name, of_parts in changes.items():
            fills, found = means.outputs if name == "mean" else None, []
            for gates in _gate_groups(model, name, part):
                found.append(_measured(model, part, outcomes, gates, fills))
                done += len(gates) * len(part)
                progress(done / total)
            of_parts.append(torch.cat(found, 1) - base)
    return {name: torch.cat(of_parts, -1) for name, of_parts in changes.items()}


def remove_sites(
    model: MeasurableModel, batch: EvaluationBatch
) -> dict[str, dict[str, list[float]]]:
    """All heads of a site removed together: by site, loss and exact as [before, after].

    Compared with the effect of each head alone it shows whether heads are redundant.
    """
    heads = model.passes.heads
    effects = {}
    for site in dict.fromkeys(head.site for head in heads):
        together = [head for head in heads if head.site == site]
        if len(together) == len(heads):
            continue  # a model without any head computes nothing
        removed = Interventions.gather(ablate=together)
        rows = effect(model, batch, removed)
        effects[site] = {
            name: [float(rows.before[name]), float(rows.after[name])] for name in rows.index
        }
    return effects


@torch.inference_mode()
def gated_losses(
    model: MeasurableModel, batch: EvaluationBatch, gates: Tensor, progress: Progress = no_progress
) -> PerExampleMean:
    """The loss of a target token under each of `gates` (V, head), 1 = as it is, 0 = output zero:
    totals (sentence, V) with their counts of tokens.

    Raises `EvaluationBatchError` on a model that predicts no tokens.
    """
    outcomes, done, measured = _outcomes(model, batch, None), 0, []
    for part in parts(model, batch):
        found = []
        for some in torch.split(gates, fitting(model, part)):
            with threads_for(model.passes.parameters, batch.pass_tokens):
                found.append(_measured(model, part, outcomes, some))
            done += len(some) * len(part)
            progress(done / (len(gates) * len(batch)))
        measured.append(torch.cat(found, 1))  # (2, V, N)
    return _per_example_means(torch.cat(measured, -1), batch)["loss"]


def _per_example_means(
    values: Tensor, batch: EvaluationBatch, metric: TextMetric | None = None
) -> dict[str, PerExampleMean]:
    """Loss per token and exact match per sentence, or the metric per text, from the values
    (2 or 1, V, N) of the batch."""
    of_sentences = values.numpy().transpose(0, 2, 1)
    ones = np.ones_like(of_sentences[0])
    if metric is not None:
        return {"metric": PerExampleMean(of_sentences[0], ones)}
    loss, exact = of_sentences  # (N, V) each
    tokens = torch.cat([part.labels.lengths for part in batch.parts()]).double()
    counts = np.broadcast_to(tokens.numpy()[:, None], loss.shape)
    return {"loss": PerExampleMean(loss, counts), "exact": PerExampleMean(exact, ones)}


def _without_rounding(change: PerExampleMean) -> PerExampleMean:
    """Changes that may be rounding are 0, so that no change is seen where there is none."""
    is_rounding = np.abs(change.total) < ROUNDING * change.count
    return PerExampleMean(np.where(is_rounding, 0.0, change.total), change.count)


def _gate_groups(model: MeasurableModel, variant: str, part: EvaluationBatch) -> Iterator[Tensor]:
    """Gates (V, head) for every head, as many at once as one pass may have.

    variant: one of `VARIANTS`.

    Encoder heads and decoder heads never share a pass: only the former change the memory.
    """
    passes, most = model.passes, fitting(model, part)
    gates = {True: list[Tensor](), False: list[Tensor]()}
    for number, head in enumerate(passes.heads):
        gate = torch.ones(len(passes.heads))
        if variant == "only":
            gate[[other.site == head.site for other in passes.heads]] = 0
        gate[number] = float(variant == "only")
        gates[head.site == "encoder"].append(gate)
    for some in gates.values():
        for start in range(0, len(some), most):
            yield torch.stack(some[start : start + most])


def fitting(model: MeasurableModel, part: EvaluationBatch) -> int:
    """How many gates one pass over all sentences of `part` may have."""
    passes = model.passes
    by_logits = LARGEST_PASS // (part.labels.ids.size(1) * passes.logits_size)
    by_weights = LARGEST_LAYER // (_most_heads(passes.heads) * part.longest**2)
    return max(1, min(by_logits, by_weights, MOST_ROWS) // len(part))


def _most_heads(heads: Sequence[Head]) -> int:
    """The number of heads of a layer; the largest if sites differ."""
    return max(head.head for head in heads) + 1


def _measured(
    model: MeasurableModel,
    part: EvaluationBatch,
    outcomes: Outcomes,
    gates: Tensor | None = None,
    fills: Fills | None = None,
    interventions: Interventions = NO_INTERVENTIONS,
    means: MeanOutputs | None = None,
) -> Tensor:
    """The outcomes of each sentence under each of the gates (V, head), or once: (values, V, N)."""
    variants = 1 if gates is None else len(gates)
    rows = None if gates is None else gates.repeat_interleave(len(part), 0)  # (V × N, head)
    logits = model.passes.logits(part, rows, fills, interventions, means)  # (V × N, T, L)
    found = outcomes(logits, part.labels.repeated(variants))
    return found.view(*found.shape[:-1], variants, len(part))


def _loss_and_match(passes: BatchPasses, logits: Tensor, labels: TokenRows) -> Tensor:
    """Summed loss and exact match (2, R)."""
    loss = token_losses(logits, labels)
    right = (passes.choices(logits) == labels.ids) | ~labels.real
    return torch.stack([loss.double().sum(1), right.all(1).double()])
