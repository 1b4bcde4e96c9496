"""The head and the step with which a model opens: those that show most."""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from explorer.core.sites import Head
from explorer.core.trace import Trace
from explorer.core.words import content

if TYPE_CHECKING:
    from explorer.heads.reports.head_report import HeadReport  # which imports pandas

_SHARP = 0.5  # above it, a weight is the largest of its row
_SURE = 0.95  # below it, a model hesitates: other candidates can be seen beside the first


@dataclass(frozen=True, slots=True)
class InitialChoice:
    """A head to open with, and the reason: the largest gold weight, in a report or on the text, or
    the largest `coverage`. value: that weight or coverage, 0 to 1."""

    head: Head
    why: Literal["report", "gold", "coverage"]
    value: float


def initial_choice(trace: Trace, report: "HeadReport | None" = None) -> InitialChoice | None:
    """The head to open with; None for a trace with neither a gold alignment nor cross-attention.

    If a gold alignment is known, the head with the largest gold weight: in the report, which covers
    many sentences, else in the trace. Without gold, the cross head that aligns best by `coverage`.
    """
    site = trace.gold_site
    if site not in trace.sites or (site != "cross" and trace.gold is None):
        return None
    if report is not None and (measured := _largest_gold_weight(report, trace)) is not None:
        return measured
    known = trace.gold is not None
    scores = coverage(trace) if trace.gold is None else _gold_weights(trace, trace.gold)
    layer, head = np.unravel_index(int(scores.argmax()), scores.shape)
    value = float(scores[layer, head])
    return InitialChoice(Head(site, int(layer), int(head)), "gold" if known else "coverage", value)


def initial_head(trace: Trace, report: "HeadReport | None" = None) -> Head | None:
    """The head of `initial_choice`."""
    chosen = initial_choice(trace, report)
    return None if chosen is None else chosen.head


def initial_step(trace: Trace, site: str, layer: int | None, head: int | None) -> int | None:
    """The step, from 1, that shows most: for a cross head one with a large weight on content, for a
    head of a decoder alone the one with the most on gold, for any other head the last one.

    Steps at which the head goes back in the source, so that the order of the two texts crosses,
    come before others; among these, those at which the model hesitates. The first step comes last.
    Steps that predict a special token, such as the end, show little and are left out. None if no
    step is left.
    """
    source, outputs = content(trace)
    rows = outputs[: len(trace.target_tokens)]
    if not rows.any():
        return None
    last = int(np.flatnonzero(rows)[-1]) + 1
    if layer is None or head is None:
        return last
    if site == trace.gold_site == "decoder" and trace.gold is not None:
        on_gold = np.where(trace.gold, trace.attention(site)[layer, head], 0)
        return int(on_gold.max(-1).argmax()) + 1
    if site != "cross" or not source.any():
        return last
    weights = np.where(source, trace.attention("cross")[layer, head, : len(rows)], 0)
    peaks, keys = weights.max(-1), weights.argmax(-1)
    later = np.arange(len(rows)) > 0
    crosses = later & (keys < np.roll(keys, 1)) & (peaks > _SHARP)
    rank = np.where(rows, peaks + later + crosses * (1.0 + _hesitates(trace)[: len(rows)]), -1.0)
    return int(rank.argmax()) + 1


def _hesitates(trace: Trace) -> NDArray[np.bool_]:
    """Whether the model chose the token of a step with a probability below `_SURE`, by step."""
    count = len(trace.target_tokens)
    if "steps.step" not in trace.arrays:
        return np.zeros(count, bool)
    names = ("step", "chosen", "forced", "probability")  # `Trace.steps` would import pandas
    step, chosen, forced, probability = (trace.arrays[f"steps.{name}"] for name in names)
    unsure = chosen.astype(bool) & ~forced.astype(bool) & (probability < _SURE)
    return np.isin(np.arange(1, count + 1), step[unsure])


def coverage(trace: Trace) -> NDArray[np.float64]:
    """How well each cross head aligns source and output, (layer, head), 0 to 1.

    Over the content tokens of the source, the mean of the largest weight that a row which
    predicts content puts on them. It is low for a head that spreads its weight, and for one that
    looks at the same few tokens, because the others then never get a large weight. The player's
    `headScores.ts` has the same measure.
    """
    weights = trace.attention("cross")
    source, outputs = content(trace)
    rows = np.zeros(weights.shape[2], dtype=np.bool_)
    rows[: len(outputs)] = outputs[: len(rows)]
    if not source.any() or not rows.any():
        return np.zeros(weights.shape[:2])
    shown = rows[:, None] & source
    largest = np.stack([layer.max(1, where=shown, initial=0) for layer in weights])
    return np.asarray(largest[..., source].mean(axis=-1), dtype=np.float64)


def _gold_weights(trace: Trace, gold: NDArray[np.bool_]) -> NDArray[np.float64]:
    """The mean weight on the gold positions, (layer, head), over the rows that have one."""
    known = gold.any(-1)
    on_gold = np.where(gold, trace.attention(trace.gold_site), 0).sum(-1)[..., known]
    return np.asarray(on_gold.mean(-1) if known.any() else on_gold.sum(-1), dtype=np.float64)


def _largest_gold_weight(report: "HeadReport", trace: Trace) -> InitialChoice | None:
    """The head with the largest gold weight in a report on the model of `trace`."""
    if "gold_weight" not in report.metrics:
        return None
    layers, heads = trace.attention(trace.gold_site).shape[:2]
    best, most = None, -math.inf
    table = report.heads
    columns = (table.site, table.layer, table["head"], table.gold_weight)
    for site, layer, head, weight in zip(*columns, strict=True):
        fits = site == trace.gold_site and 0 <= layer < layers and 0 <= head < heads
        if fits and weight > most:  # NaN is not
            best, most = Head(site, int(layer), int(head)), float(weight)
    return None if best is None else InitialChoice(best, "report", most)
