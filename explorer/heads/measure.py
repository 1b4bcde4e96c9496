"""Measure every head of a model on an evaluation batch."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from explorer.core.errors import EvaluationBatchError
from explorer.core.interventions import refuse_weights_only
from explorer.core.sites import SITES, Head, sides
from explorer.core.word_segmentation import is_punctuation
from explorer.heads.metrics.attention_metrics import (
    FARTHEST,
    METRICS,
    OFFSETS,
    Cells,
    SiteAttention,
    metrics_of,
)
from explorer.heads.metrics.bootstrap import (
    LEVEL,
    RESAMPLES,
    PerExampleMean,
    concatenate,
    join_heads,
)
from explorer.heads.metrics.evaluation_batches import (
    Progress,
    no_progress,
    parts,
    refuse_without_targets,
)
from explorer.heads.removal.ablation import ablation, remove_sites
from explorer.heads.removal.counterfactuals import mean_outputs
from explorer.heads.removal.gradient_importance import importance
from explorer.heads.removal.own_metric import TextMetric
from explorer.heads.reports.head_report import HeadReport
from explorer.heads.reports.head_report_validation import KEYS
from explorer.heads.roles import roles
from explorer.heads.roles.shuffled_keys import offset_chance
from explorer.model.evaluation_batch import EvaluationBatch, TokenRows
from explorer.model.measurable import LayerAttention, MeasurableModel
from explorer.model.threads import threads_for

_RunningMeans = defaultdict[tuple[str, str], list[PerExampleMean]]
"""By site and metric or role: the mean (example, head) of each part of the batch."""


@dataclass
class _Collected:
    """Totals per example; no weights are stored.

    same: by site and two roles, queries for which they name the same cells, queries that have any.
    """

    metrics: _RunningMeans = field(default_factory=lambda: defaultdict(list))
    scores: _RunningMeans = field(default_factory=lambda: defaultdict(list))
    chances: _RunningMeans = field(default_factory=lambda: defaultdict(list))
    same: defaultdict[tuple[str, str, str], NDArray[np.int64]] = field(
        default_factory=lambda: defaultdict(lambda: np.zeros(2, dtype=np.int64))
    )

    def add(self, attentions: Sequence[SiteAttention], content: roles.Content | None) -> None:
        """The layers of one site on one part of a batch."""
        site = attentions[0].site
        metrics, scores = [], []
        for attention in attentions:
            cells = roles.role_cells(attention, content)
            for pair, counts in roles.same_cells(cells).items():
                self.same[(site, *pair)] += counts
            scores.append(roles.role_scores(attention, cells))
            chance = offset_chance(attention.unmasked, attention.weights.shape[1])
            metrics.append(metrics_of(attention) | {"offset_chance": chance})
        for name in metrics[0]:
            self.metrics[site, name].append(join_heads([one[name] for one in metrics]))
        for role in scores[0]:
            of_role = [one[role] for one in scores]
            self.scores[site, role].append(join_heads([one.score for one in of_role]))
            chances = [one.chance for one in of_role if one.chance is not None]
            if chances:
                self.chances[site, role].append(join_heads(chances))

    def take_gold(self, linked: "_Collected") -> None:
        """Take over the metrics and roles that need a gold alignment."""
        names = {"alignment", *(name for name, metric in METRICS.items() if metric.needs_gold)}
        for own, other in (
            (self.metrics, linked.metrics),
            (self.scores, linked.scores),
            (self.chances, linked.chances),
        ):
            own.update({key: means for key, means in other.items() if key[1] in names})
        self.same.update({key: both for key, both in linked.same.items() if "alignment" in key})

    def metric(self, site: str, name: str) -> PerExampleMean | None:
        running_means = self.metrics.get((site, name))
        return concatenate(running_means) if running_means else None

    def role(self, site: str, role: str, heads: int) -> roles.RoleScore:
        """The score (example, head); over no queries if there is none."""
        nothing = PerExampleMean(*(np.zeros((1, heads)) for _ in range(2)))
        scores, chances = self.scores.get((site, role)), self.chances.get((site, role))
        return roles.RoleScore(
            concatenate(scores) if scores else nothing, concatenate(chances) if chances else None
        )


def measure(
    model: MeasurableModel,
    batch: EvaluationBatch,
    progress: Progress = no_progress,
    *,
    linked: EvaluationBatch | None = None,
    gradients: bool = False,
    removed_on: int = 0,
    metric: TextMetric | None = None,
) -> HeadReport:
    """Metrics and roles of every head, teacher-forced on the targets of `batch`; on request also
    the importance of each head for the loss.

    linked: sentences whose alignment people drew. The role "alignment" and the gold metrics are
        measured on these; without them on `batch`, if its task knows the alignment.
    gradients: importance by gradient, on the whole batch.
    removed_on: on how many of its sentences each head is removed in turn; 0 for none. The mean
        outputs that replace a head are those over the whole batch.
    metric: of the model's logits; replaces the loss and exact match without each head.

    Raises `EvaluationBatchError` on anything but a batch, and on importance or removal for a model
    that predicts no tokens.
    """
    if not isinstance(batch, EvaluationBatch):
        raise EvaluationBatchError("no_batch", got=type(batch).__name__)
    if gradients or (removed_on and metric is None):
        refuse_without_targets(batch)
        refuse_weights_only(model.facts)
    # Rough shares of the time.
    shares = [0.1, 0.2 * gradients, 0.7 * bool(removed_on)]

    def progress_of(number: int) -> Progress:
        return lambda share: progress((sum(shares[:number]) + shares[number] * share) / sum(shares))

    with threads_for(model.passes.parameters, batch.pass_tokens):
        report = _metrics_and_roles(model, batch, linked, progress_of(0))
        if gradients:
            report = report.with_columns(importance(model, batch, progress_of(1)))
        if removed_on:
            some = (batch if metric is None else metric.batch).first(removed_on)
            means = mean_outputs(model, batch)
            effects = ablation(model, some, means, progress_of(2), metric=metric)
            known: dict[str, Any] = {"sentences": len(some), "means": means.name}
            if metric is None:
                known["together"] = remove_sites(model, some)
                report = report.with_columns(effects, ablation=known)
            else:
                report = report.with_columns(effects, metric={"name": metric.name, **known})
    return report


def _metrics_and_roles(
    model: MeasurableModel,
    batch: EvaluationBatch,
    linked: EvaluationBatch | None,
    progress: Progress,
) -> HeadReport:
    """Report of metrics and roles, measured on one part of each batch at a time."""
    batches = [batch] if linked is None else [batch, linked]
    found, done, size = [_Collected() for _ in batches], 0, sum(map(len, batches))
    for collected, each in zip(found, batches, strict=True):
        for part in parts(model, each):
            for site, attentions in _attentions(model, part, each is batches[-1]):
                if each is batch or site == "cross":
                    collected.add(attentions, _content(part) if site == "cross" else None)
            done += len(part)
            progress(done / size)
    collected = found[0]
    if linked is not None:
        collected.take_gold(found[1])
    heads = model.passes.heads
    has_gold = any(each.has_gold for each in batches)
    return HeadReport(
        _heads_table(heads, collected),
        _roles_table(heads, collected, has_gold),
        _offsets_table(heads, collected),
        _facts(model, batch, linked) | {"confounds": _confounds(collected)},
    )


def _content(part: EvaluationBatch) -> roles.Content:
    assert part.source is not None
    return roles.Content(
        part.source.content_numbers.numpy(),
        part.labels.content_numbers.numpy(),
    )


def _attentions(
    model: MeasurableModel, part: EvaluationBatch, with_gold: bool
) -> Iterator[tuple[str, list[SiteAttention]]]:
    """The attention of each site, from one pass; consecutive layers with one mask are joined.

    with_gold: with the gold alignment of `part`.
    """
    gold = part.gold() if with_gold else None
    gold_site = "decoder" if part.source is None else "cross"
    for site, layers in groupby(model.passes.attentions(part), lambda layer: layer.site):
        _, keys = sides(part.source, part.queries)[site]
        assert keys is not None
        side: Literal["source", "target"] = "target" if site == "decoder" else "source"
        facts = {
            "end": keys.ends.numpy(),
            "special": keys.special.numpy(),
            "punctuation": _punctuation(model, keys, side),
            "repeats": None if site == "cross" else _repeats(keys),
            "gold": gold if site == gold_site else None,
        }
        runs = groupby(_numbered_by_mask(layers), lambda one: one[0])
        yield site, [_joined([layer for _, layer in run], facts) for _, run in runs]


def _punctuation(
    model: MeasurableModel, keys: TokenRows, side: Literal["source", "target"]
) -> Cells:
    """(N, K) True for content that is punctuation alone."""
    ids, places = np.unique(keys.ids.numpy(), return_inverse=True)
    labels = model.passes.labels(ids.tolist(), side)
    marks = np.array([is_punctuation(label) for label in labels], dtype=np.bool_)
    return marks[places].reshape(keys.ids.shape) & ~keys.special.numpy()


def _repeats(keys: TokenRows) -> Cells:
    """(N, K, K) True where two positions have the same token as their content."""
    ids, content = keys.ids.numpy(), ~keys.special.numpy()
    same = (ids[:, :, None] == ids[:, None]) & content[:, None]
    return np.asarray(same & ~np.eye(ids.shape[1], dtype=np.bool_))


def _numbered_by_mask(layers: Iterator[LayerAttention]) -> Iterator[tuple[int, LayerAttention]]:
    """The layers, each with a number that increases when the mask changes from the layer before."""
    number, before = 0, None
    for layer in layers:
        if before is not None and before is not layer.unmasked:
            number += not bool((before == layer.unmasked).all())
        before = layer.unmasked
        yield number, layer


def _joined(layers: list[LayerAttention], facts: dict[str, Any]) -> SiteAttention:
    """Layers with one mask joined into one, their heads in one axis; facts: about their tokens."""
    weights = np.concatenate([layer.weights.float().numpy() for layer in layers], 1)
    return SiteAttention(layers[0].site, weights, layers[0].unmasked.numpy(), **facts)


def _heads_table(heads: Sequence[Head], collected: _Collected) -> pd.DataFrame:
    """One row a head: each metric with the ends of its interval."""
    tables = []
    for site, own in _by_site(heads):
        columns: dict[str, Any] = {}
        for name, metric in METRICS.items():
            mean = collected.metric(site, name)
            if mean is not None and metric.select is not None:
                columns[f"{name}_offset"], mean = metric.select(mean)
            values = (np.nan,) * 3 if mean is None else (mean.mean, *mean.interval())
            columns |= zip((name, f"{name}_low", f"{name}_high"), values, strict=True)
        tables.append(pd.DataFrame(own, columns=KEYS).assign(**columns))
    return pd.concat(tables, ignore_index=True)


def _roles_table(heads: Sequence[Head], collected: _Collected, has_gold: bool) -> pd.DataFrame:
    """One row a head and role, the roles of a head together."""
    tables = []
    for order, name in enumerate(roles.ROLES):
        for site, own in _by_site(heads):
            columns = _role_columns(name, site, collected.role(site, name, len(own)), has_gold)
            table = pd.DataFrame(own, columns=KEYS).assign(**columns)
            tables.append(table.assign(order=order))
    return _by_head(tables, "order").drop(columns="order")


def _role_columns(name: str, site: str, found: roles.RoleScore, gold: bool) -> dict[str, Any]:
    """The columns of a role for the heads of one site.

    A role holds if the lower end of the score's interval reaches the threshold, and the lower end
    of the effect's interval is above 0.
    """
    score, effect, threshold = found.score, found.effect, roles.ROLES[name].threshold
    low, high = score.interval()
    unknown = np.full(low.shape, np.nan)
    effect_low, effect_high = (unknown, unknown) if effect is None else effect.interval()
    doubts = [roles.doubt(name, site, queries, gold) for queries in score.queries]
    enough = np.array([not doubt for doubt in doubts])
    above = effect is None or np.nan_to_num(effect_low) > 0
    return {
        "role": name,
        "score": score.mean,
        "low": low,
        "high": high,
        "chance": unknown if found.chance is None else found.chance.mean,
        "effect": unknown if effect is None else effect.mean,
        "effect_low": effect_low,
        "effect_high": effect_high,
        "threshold": threshold,
        "queries": score.queries.astype(int),
        "sentences": score.examples,
        "holds": enough & (np.nan_to_num(low) >= threshold) & above,
        "doubt": doubts,
    }


def _offsets_table(heads: Sequence[Head], collected: _Collected) -> pd.DataFrame:
    """One row a head and offset: the share of the largest weights there, and its chance level."""
    tables = []
    for site, own in _by_site(heads):
        share = collected.metric(site, "positional")
        chance = collected.metric(site, "offset_chance")
        assert share is not None
        assert chance is not None
        low, high = share.interval()
        for delta in OFFSETS:
            place = delta + FARTHEST
            columns: dict[str, Any] = {
                "offset": delta,
                "share": share.mean[:, place],
                "low": low[:, place],
                "high": high[:, place],
                "chance": chance.mean[:, place],
                "queries": share.queries[:, place].astype(int),
            }
            tables.append(pd.DataFrame(own, columns=KEYS).assign(**columns))
    return _by_head(tables, "offset")


def _by_head(tables: Sequence[pd.DataFrame], then: str) -> pd.DataFrame:
    """The rows of all tables, grouped by head, sorted by the column `then` within a head."""
    table = pd.concat(tables, ignore_index=True)
    table = table.assign(site_order=table.site.map(SITES.index))
    table = table.sort_values(["site_order", "layer", "head", then])
    return table.drop(columns="site_order").reset_index(drop=True)


def _by_site(heads: Sequence[Head]) -> Iterator[tuple[str, list[Head]]]:
    """The heads of each site that the model has."""
    for site in SITES:
        own = [head for head in heads if head.site == site]
        if own:
            yield site, own


def _confounds(collected: _Collected) -> list[dict[str, Any]]:
    """The pairs of roles that name the same cells: site, roles, share of the queries."""
    return [
        {"site": site, "roles": pair, "share": round(float(equal / either), 4)}
        for (site, *pair), (equal, either) in collected.same.items()
        if either >= roles.FEWEST_QUERIES and equal / either >= roles.SAME
    ]


def _facts(
    model: MeasurableModel, batch: EvaluationBatch, linked: EvaluationBatch | None
) -> dict[str, Any]:
    facts: dict[str, Any] = {
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
    for name in ("source_language", "target_language"):
        if model.facts.get(name) is not None:
            facts[name] = model.facts[name]
    if linked is not None:
        facts["linked"] = {"batch": linked.name, "sentences": len(linked)}
    return facts
