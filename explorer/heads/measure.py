"""Measure every head of a model on an evaluation batch."""

import json
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import asdict
from hashlib import blake2b
from typing import Any

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray

from explorer.core.sites import SITES
from explorer.core.vocabulary import EOS, PAD
from explorer.heads import roles
from explorer.heads.ablation import ablation, remove_sites
from explorer.heads.attention_metrics import METRICS, SiteAttention, metrics_of
from explorer.heads.bootstrap import LEVEL, RESAMPLES, PerExampleMean, concatenate
from explorer.heads.counterfactuals import mean_outputs
from explorer.heads.evaluation_batches import EvaluationBatch, Progress, no_progress
from explorer.heads.gradient_importance import importance
from explorer.heads.head_report import HeadReport
from explorer.heads.head_report_validation import KEYS
from explorer.model.attention_paths import all_heads, layers, path
from explorer.model.explorable import ExplorableModel
from explorer.model.hooks import capture
from explorer.model.masks import causal_mask
from explorer.model.threads import threads_for
from explorer.model.transformer import Transformer

_PerHead = dict[tuple[str, str], PerExampleMean]
"""By (site, metric or role): (example, head), the heads of all layers in one axis."""

_Collected = defaultdict[tuple[str, str], list[PerExampleMean]]


def measure(
    model: ExplorableModel,
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
    """
    shares = [0.1, 0.2 * gradients, 0.7 * bool(removed_on)]  # of the time, roughly

    def progress_of(number: int) -> Progress:
        return lambda share: progress((sum(shares[:number]) + shares[number] * share) / sum(shares))

    with threads_for(model.transformer.config, batch.pass_tokens):
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


def digest(model: Transformer) -> str:
    """A fingerprint of the sizes and weights."""
    hasher = blake2b(json.dumps(asdict(model.config)).encode(), digest_size=16)
    for name, weight in model.named_parameters():
        hasher.update(name.encode())
        hasher.update(weight.detach().cpu().contiguous().numpy().data)
    return hasher.hexdigest()


def _metrics_and_roles(
    model: ExplorableModel, batch: EvaluationBatch, progress: Progress
) -> HeadReport:
    """One part of the batch at a time: only totals per example are stored, no weights."""
    metrics: _Collected = defaultdict(list)
    scores: _Collected = defaultdict(list)
    same: defaultdict[tuple[str, str, str], NDArray[np.int64]] = defaultdict(_no_queries)
    done = 0
    for part in batch.parts():
        content = (part.source >= EOS).sum(1).numpy() - 1  # (B,) all but the end
        for attention in _attentions(model.transformer, part):
            site = attention.site
            for name, mean in metrics_of(attention).items():
                metrics[site, name].append(mean)
            cells = roles.role_cells(site, attention.unmasked, content, attention.gold)
            for name, mean in roles.role_scores(attention, cells).items():
                scores[site, name].append(mean)
            for pair, counts in roles.same_cells(cells).items():
                same[(site, *pair)] += counts
        done += len(part)
        progress(done / len(batch))
    return HeadReport(
        _heads_table(model.transformer, _concatenated(metrics)),
        _roles_table(model.transformer, _concatenated(scores), batch.task is not None),
        _facts(model, batch) | {"confounds": _confounds(same)},
    )


@torch.inference_mode()
def _attentions(model: Transformer, part: EvaluationBatch) -> Iterator[SiteAttention]:
    """The attention of each site, in one pass."""
    source, target = part.source, part.queries
    with capture(model, "*.pattern") as patterns:
        model(source, target)
    for site, (queries, keys) in {
        "encoder": (source, source),
        "decoder": (target, target),
        "cross": (target, source),
    }.items():
        unmasked = (queries != PAD)[:, :, None] & (keys != PAD)[:, None]  # (B, Q, K)
        if site == "decoder" and model.config.causal:
            unmasked = unmasked & causal_mask(target.size(1))
        each = [
            patterns[path(site, layer, "pattern")] for layer in range(layers(model.config, site))
        ]
        yield SiteAttention(
            site,
            torch.cat(each, 1).float().numpy(),  # (B, layer × head, Q, K)
            unmasked.numpy(),
            end=(keys == EOS).numpy(),
            special=(keys <= EOS).numpy(),
            gold=part.gold() if site == "cross" else None,
        )


def _heads_table(model: Transformer, means: _PerHead) -> pd.DataFrame:
    """One row a head: each metric with the ends of its interval."""
    tables = []
    for site in SITES:
        heads = [head for head in all_heads(model.config) if head.site == site]
        columns: dict[str, Any] = {}
        for name, metric in METRICS.items():
            mean = means.get((site, name))
            if mean is not None and metric.select is not None:
                columns[f"{name}_offset"], mean = metric.select(mean)
            values = (np.nan,) * 3 if mean is None else (mean.mean, *mean.interval())
            columns |= zip((name, f"{name}_low", f"{name}_high"), values, strict=True)
        tables.append(pd.DataFrame(heads, columns=KEYS).assign(**columns))
    return pd.concat(tables, ignore_index=True)


def _roles_table(model: Transformer, scores: _PerHead, has_gold: bool) -> pd.DataFrame:
    """One row a head and role, the roles of a head together."""
    tables = []
    for order, (name, role) in enumerate(roles.ROLES.items()):
        for site in SITES:
            heads = [head for head in all_heads(model.config) if head.site == site]
            nothing = PerExampleMean(*(np.zeros((1, len(heads))) for _ in range(2)))
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
            tables.append(pd.DataFrame(heads, columns=KEYS).assign(**columns))
    table = pd.concat(tables, ignore_index=True)
    site_order = table.site.map(SITES.index)
    table = table.assign(site_order=site_order)
    table = table.sort_values(["site_order", "layer", "head", "order"])
    return table.drop(columns=["site_order", "order"]).reset_index(drop=True)


def _confounds(
    same: dict[tuple[str, str, str], NDArray[np.int64]],
) -> list[dict[str, Any]]:
    """The pairs of roles that name the same cells: site, roles, share of the queries."""
    return [
        {"site": site, "roles": pair, "share": round(float(equal / both), 4)}
        for (site, *pair), (equal, both) in same.items()
        if both and equal / both >= roles.SAME
    ]


def _facts(model: ExplorableModel, batch: EvaluationBatch) -> dict[str, Any]:
    return {
        "model": model.name,
        "digest": digest(model.transformer),
        "batch": batch.name,
        "sentences": len(batch),
        "targets": batch.targets,
        "source_tokens": int((batch.source != PAD).sum()),
        "target_tokens": int((batch.labels != PAD).sum()),
        "resamples": RESAMPLES,
        "level": LEVEL,
    }


def _concatenated(collected: _Collected) -> _PerHead:
    return {key: concatenate(means) for key, means in collected.items()}


def _no_queries() -> NDArray[np.int64]:
    return np.zeros(2, dtype=np.int64)
