"""Measure every head of a model on an evaluation batch."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from explorer.core.sites import SITES, Head
from explorer.heads import roles
from explorer.heads.ablation import ablation, remove_sites
from explorer.heads.attention_metrics import METRICS, SiteAttention, metrics_of
from explorer.heads.bootstrap import (
    LEVEL,
    RESAMPLES,
    PerExampleMean,
    concatenate,
    join_heads,
)
from explorer.heads.counterfactuals import mean_outputs
from explorer.heads.evaluation_batches import (
    Progress,
    no_progress,
    parts,
    refuse_without_targets,
)
from explorer.heads.gradient_importance import importance
from explorer.heads.head_report import HeadReport
from explorer.heads.head_report_validation import KEYS
from explorer.model.evaluation_batch import EvaluationBatch
from explorer.model.measurable import LayerAttention, MeasurableModel
from explorer.model.threads import threads_for
from explorer.model.token_rows import TokenRows

_PerHead = dict[tuple[str, str], PerExampleMean]
"""By (site, metric or role): (example, head), the heads of all layers in one axis."""

_Collected = defaultdict[tuple[str, str], list[PerExampleMean]]

_Same = defaultdict[tuple[str, str, str], NDArray[np.int64]]
"""By site and two roles: queries for which they name the same cells, queries that have both."""


def measure(
    model: MeasurableModel,
    batch: EvaluationBatch,
    progress: Progress = no_progress,
    *,
    gradients: bool = False,
    removed_on: int = 0,
) -> HeadReport:
    """Metrics and roles of every head, teacher-forced on the targets of `batch`; on request also
    the importance of each head for the loss.

    gradients: importance by gradient, on the whole batch.
    removed_on: on how many of its sentences each head is removed in turn; 0 for none. The mean
        outputs that replace a head are those over the whole batch.

    Raises `EvaluationBatchError` when importance or removal is asked of a model that predicts no
    tokens.
    """
    if gradients or removed_on:
        refuse_without_targets(batch)
    shares = [0.1, 0.2 * gradients, 0.7 * bool(removed_on)]  # of the time, roughly

    def progress_of(number: int) -> Progress:
        return lambda share: progress((sum(shares[:number]) + shares[number] * share) / sum(shares))

    with threads_for(model.passes.parameters, batch.pass_tokens):
        report = _metrics_and_roles(model, batch, progress_of(0))
        if gradients:
            report = report.with_columns(importance(model, batch, progress_of(1)))
        if removed_on:
            some, means = batch.first(removed_on), mean_outputs(model, batch)
            effects = ablation(model, some, means, progress_of(2))
            facts = {
                "sentences": len(some),
                "means": means.name,
                "together": remove_sites(model, some),
            }
            report = report.with_columns(effects, ablation=facts)
    return report


def _metrics_and_roles(
    model: MeasurableModel, batch: EvaluationBatch, progress: Progress
) -> HeadReport:
    """One part of the batch at a time: only totals per example are stored, no weights."""
    metrics: _Collected = defaultdict(list)
    scores: _Collected = defaultdict(list)
    same: _Same = defaultdict(_no_queries)
    done = 0
    for part in parts(model, batch):
        for site, attentions in _attentions(model, part):
            content = _content(part) if site == "cross" else None
            found = [_measured(attention, content, same) for attention in attentions]
            for name in found[0][0]:
                metrics[site, name].append(join_heads([own[name] for own, _ in found]))
            for name in found[0][1]:
                scores[site, name].append(join_heads([own[name] for _, own in found]))
        done += len(part)
        progress(done / len(batch))
    heads = model.passes.heads
    return HeadReport(
        _heads_table(heads, _concatenated(metrics)),
        _roles_table(heads, _concatenated(scores), batch.task is not None),
        _facts(model, batch) | {"confounds": _confounds(same)},
    )


def _measured(
    attention: SiteAttention, content: roles.Content | None, same: _Same
) -> tuple[dict[str, PerExampleMean], dict[str, PerExampleMean]]:
    """Metrics and scores of roles; what roles have in common is added to `same`."""
    site = attention.site
    cells = roles.role_cells(site, attention.unmasked, content, attention.gold)
    for pair, counts in roles.same_cells(cells).items():
        same[(site, *pair)] += counts
    return metrics_of(attention), roles.role_scores(attention, cells)


def _content(part: EvaluationBatch) -> roles.Content:
    assert part.source is not None
    return roles.Content(
        part.source.content_numbers.numpy(),
        part.labels.content_numbers.numpy(),
    )


def _attentions(
    model: MeasurableModel, part: EvaluationBatch
) -> Iterator[tuple[str, list[SiteAttention]]]:
    """The attention of each site, in one pass: all layers together, or as many as have one mask."""
    for site, layers in groupby(model.passes.attentions(part), lambda layer: layer.site):
        keys = part.queries if site == "decoder" else part.source
        assert keys is not None
        gold = part.gold() if site == "cross" else None
        runs = groupby(_numbered_by_mask(layers), lambda one: one[0])
        yield site, [_joined([layer for _, layer in run], keys, gold) for _, run in runs]


def _numbered_by_mask(layers: Iterator[LayerAttention]) -> Iterator[tuple[int, LayerAttention]]:
    """The layers, with a number that grows where the mask changes from one to the next."""
    number, before = 0, None
    for layer in layers:
        if before is not None and before is not layer.unmasked:
            number += not bool((before == layer.unmasked).all())
        before = layer.unmasked
        yield number, layer


def _joined(
    layers: list[LayerAttention], keys: TokenRows, gold: NDArray[np.bool_] | None
) -> SiteAttention:
    """Layers with one mask as one, their heads in one axis."""
    return SiteAttention(
        layers[0].site,
        np.concatenate([layer.weights.float().numpy() for layer in layers], 1),
        layers[0].unmasked.numpy(),
        end=keys.ends.numpy(),
        special=keys.special.numpy(),
        gold=gold,
    )


def _heads_table(heads: Sequence[Head], means: _PerHead) -> pd.DataFrame:
    """One row a head: each metric with the ends of its interval."""
    tables = []
    for site, own in _by_site(heads):
        columns: dict[str, Any] = {}
        for name, metric in METRICS.items():
            mean = means.get((site, name))
            if mean is not None and metric.select is not None:
                columns[f"{name}_offset"], mean = metric.select(mean)
            values = (np.nan,) * 3 if mean is None else (mean.mean, *mean.interval())
            columns |= zip((name, f"{name}_low", f"{name}_high"), values, strict=True)
        tables.append(pd.DataFrame(own, columns=KEYS).assign(**columns))
    return pd.concat(tables, ignore_index=True)


def _roles_table(heads: Sequence[Head], scores: _PerHead, has_gold: bool) -> pd.DataFrame:
    """One row a head and role, the roles of a head together."""
    tables = []
    for order, (name, role) in enumerate(roles.ROLES.items()):
        for site, own in _by_site(heads):
            nothing = PerExampleMean(*(np.zeros((1, len(own))) for _ in range(2)))
            score = scores.get((site, name), nothing)
            low, high = score.interval()
            doubts = [roles.doubt(name, site, queries, has_gold) for queries in score.queries]
            enough = np.array([not doubt for doubt in doubts])
            columns: dict[str, Any] = {
                "role": name,
                "score": score.mean,
                "low": low,
                "high": high,
                "threshold": role.threshold,
                "queries": score.queries.astype(int),
                "sentences": score.examples,
                "holds": enough & (np.nan_to_num(score.mean) >= role.threshold),
                "doubt": doubts,
                "order": order,
            }
            tables.append(pd.DataFrame(own, columns=KEYS).assign(**columns))
    table = pd.concat(tables, ignore_index=True)
    site_order = table.site.map(SITES.index)
    table = table.assign(site_order=site_order)
    table = table.sort_values(["site_order", "layer", "head", "order"])
    return table.drop(columns=["site_order", "order"]).reset_index(drop=True)


def _by_site(heads: Sequence[Head]) -> Iterator[tuple[str, list[Head]]]:
    """The heads of each site that the model has."""
    for site in SITES:
        own = [head for head in heads if head.site == site]
        if own:
            yield site, own


def _confounds(same: _Same) -> list[dict[str, Any]]:
    """The pairs of roles that name the same cells: site, roles, share of the queries."""
    return [
        {"site": site, "roles": pair, "share": round(float(equal / both), 4)}
        for (site, *pair), (equal, both) in same.items()
        if both and equal / both >= roles.SAME
    ]


def _facts(model: MeasurableModel, batch: EvaluationBatch) -> dict[str, Any]:
    return {
        "model": model.name,
        "digest": model.digest,
        "batch": batch.name,
        "sentences": len(batch),
        "targets": batch.targets,
        "source_tokens": 0 if batch.source is None else int(batch.source.real.sum()),
        "target_tokens": int(batch.labels.real.sum()),
        "resamples": RESAMPLES,
        "level": LEVEL,
    }


def _concatenated(collected: _Collected) -> _PerHead:
    return {key: concatenate(means) for key, means in collected.items()}


def _no_queries() -> NDArray[np.int64]:
    return np.zeros(2, dtype=np.int64)
