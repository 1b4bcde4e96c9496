"""Measure every head of a model over a batch of sentences, without gradients."""

import json
from collections import defaultdict
from dataclasses import asdict
from hashlib import blake2b
from typing import Any

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray

from explorer.core.interventions import SITES
from explorer.core.vocabulary import EOS, PAD
from explorer.heads import attention_metrics, roles
from explorer.heads.bootstrap import LEVEL, RESAMPLES, Tally, joined
from explorer.heads.evaluation_batches import Progress, Sentences, quiet
from explorer.heads.head_report import KEYS, Findings
from explorer.model.attention_paths import all_heads, layers, path
from explorer.model.explorable import ExplorableModel
from explorer.model.hooks import capture
from explorer.model.transformer import Transformer, causal_mask

METRICS = (
    "confidence",
    "entropy",
    "normalised_entropy",
    "distance",
    "positional",
    "gold_weight",
    "gold_accuracy",
    "sink",
)
"""Columns of the table, beside `positional_offset`; each has a `_low` and a `_high`."""

Tallies = dict[tuple[str, str], Tally]
"""By (site, metric or role): (sentence, head), the heads of all layers in one row."""


Kept = defaultdict[tuple[str, str], list[Tally]]


def measure(model: ExplorableModel, sentences: Sentences, progress: Progress = quiet) -> Findings:
    """Every metric and role of every head, teacher-forced on the targets of `sentences`.

    One part of the batch at a time: what is kept does not grow with its lengths.
    """
    metrics: Kept = defaultdict(list)
    scores: Kept = defaultdict(list)
    same: defaultdict[tuple[str, str, str], NDArray[np.int64]] = defaultdict(_no_queries)
    done = 0
    for part in sentences.parts():
        for site, weights, cells in _looked_at(model.transformer, part):
            for name, tally in _metrics(site, weights, cells).items():
                metrics[site, name].append(tally)
            content = (part.source >= EOS).sum(1).numpy() - 1  # (B,) all but the end
            places = roles.role_cells(site, cells["open"], content, cells.get("gold"))
            found = roles.role_scores(site, weights, cells["open"], cells["special"], places)
            for name, tally in found.items():
                scores[site, name].append(tally)
            for pair, counts in roles.same_cells(places).items():
                same[(site, *pair)] += counts
        done += len(part)
        progress(done / len(sentences))
    return Findings(
        _heads_table(model.transformer, _joined(metrics)),
        _roles_table(model.transformer, _joined(scores), sentences.task is not None),
        _facts(model, sentences) | {"confounds": _confounds(same)},
    )


def digest(model: Transformer) -> str:
    """A fingerprint of the sizes and weights."""
    hasher = blake2b(json.dumps(asdict(model.config)).encode(), digest_size=16)
    for name, weight in model.named_parameters():
        hasher.update(name.encode())
        hasher.update(weight.detach().cpu().contiguous().numpy().data)
    return hasher.hexdigest()


@torch.inference_mode()
def _looked_at(
    model: Transformer, part: Sentences
) -> list[tuple[str, attention_metrics.Weights, dict[str, attention_metrics.Cells]]]:
    """For each site its weights (B, layer × head, Q, K), and cells by name.

    open (B, Q, K), without the rows of padding; end and special (B, K); gold (B, Q, K).
    """
    source, target = part.source, part.queries
    with capture(model, "*.pattern") as patterns:
        model(source, target)
    looked = []
    for site, (queries, keys) in {
        "encoder": (source, source),
        "decoder": (target, target),
        "cross": (target, source),
    }.items():
        opened = (queries != PAD)[:, :, None] & (keys != PAD)[:, None]  # (B, Q, K)
        if site == "decoder" and model.config.causal:
            opened = opened & causal_mask(target.size(1))
        cells = {
            "open": opened.numpy(),
            "end": (keys == EOS).numpy(),
            "special": (keys <= EOS).numpy(),
        }
        gold = part.gold() if site == "cross" else None
        each = [
            patterns[path(site, layer, "pattern")] for layer in range(layers(model.config, site))
        ]
        weights = torch.cat(each, 1).float().numpy()  # (B, layer × head, Q, K)
        looked.append((site, weights, cells if gold is None else cells | {"gold": gold}))
    return looked


def _metrics(
    site: str, weights: attention_metrics.Weights, cells: dict[str, attention_metrics.Cells]
) -> dict[str, Tally]:
    """Every metric that `site` can have; "positional" still by offset."""
    opened = cells["open"]
    found = {
        "confidence": attention_metrics.confidence(weights, opened, cells["end"]),
        "entropy": attention_metrics.entropy(weights, opened),
        "normalised_entropy": attention_metrics.normalised_entropy(weights, opened),
        "positional": attention_metrics.offsets(weights, opened),
        "sink": attention_metrics.mass_on(
            weights, opened & cells["special"][:, None], opened.sum(-1) > 1
        ),
    }
    if site != "cross":
        found["distance"] = attention_metrics.distance(weights, opened)
    if "gold" in cells:
        gold = cells["gold"]
        found["gold_weight"] = attention_metrics.mass_on(weights, gold, gold.any(-1))
        found["gold_accuracy"] = attention_metrics.peak_on(weights, opened, gold)
    return found


def _heads_table(model: Transformer, tallies: Tallies) -> pd.DataFrame:
    tables = []
    for site in SITES:
        heads = [head for head in all_heads(model.config) if head.site == site]
        columns: dict[str, Any] = {}
        for name in METRICS:
            tally = tallies.get((site, name))
            if tally is not None and name == "positional":
                columns["positional_offset"], tally = attention_metrics.positional(tally)
            values = (np.nan,) * 3 if tally is None else (tally.mean, *tally.interval())
            columns |= zip((name, f"{name}_low", f"{name}_high"), values, strict=True)
        tables.append(pd.DataFrame(heads, columns=KEYS).assign(**columns))
    return pd.concat(tables, ignore_index=True)


def _roles_table(model: Transformer, tallies: Tallies, has_gold: bool) -> pd.DataFrame:
    """One row a head and role, the roles of a head together."""
    tables = []
    for order, (name, role) in enumerate(roles.ROLES.items()):
        for site in SITES:
            heads = [head for head in all_heads(model.config) if head.site == site]
            nothing = Tally(*(np.zeros((1, len(heads))) for _ in range(2)))
            tally = tallies.get((site, name), nothing)
            low, high = tally.interval()
            doubts = [roles.doubt(name, site, queries, has_gold) for queries in tally.queries]
            enough = np.array([not doubt for doubt in doubts])
            columns: dict[str, Any] = {
                "role": name,
                "score": tally.mean,
                "low": low,
                "high": high,
                "threshold": role.threshold,
                "queries": tally.queries.astype(int),
                "sentences": tally.sentences,
                "holds": enough & (np.nan_to_num(tally.mean) >= role.threshold),
                "doubt": doubts,
                "order": order,
            }
            tables.append(pd.DataFrame(heads, columns=KEYS).assign(**columns))
    table = pd.concat(tables, ignore_index=True)
    place = table.site.map(SITES.index)
    table = table.assign(place=place).sort_values(["place", "layer", "head", "order"])
    return table.drop(columns=["place", "order"]).reset_index(drop=True)


def _confounds(
    same: dict[tuple[str, str, str], NDArray[np.int64]],
) -> list[dict[str, Any]]:
    """The pairs of roles that name the same cells: site, roles, share of the queries."""
    return [
        {"site": site, "roles": pair, "share": round(float(equal / both), 4)}
        for (site, *pair), (equal, both) in same.items()
        if both and equal / both >= roles.SAME
    ]


def _facts(model: ExplorableModel, sentences: Sentences) -> dict[str, Any]:
    return {
        "model": model.name,
        "digest": digest(model.transformer),
        "batch": sentences.name,
        "sentences": len(sentences),
        "targets": sentences.targets,
        "source_tokens": int((sentences.source != PAD).sum()),
        "target_tokens": int((sentences.labels != PAD).sum()),
        "resamples": RESAMPLES,
        "level": LEVEL,
    }


def _joined(kept: Kept) -> Tallies:
    return {key: joined(some) for key, some in kept.items()}


def _no_queries() -> NDArray[np.int64]:
    return np.zeros(2, dtype=np.int64)
