"""Tables and sentences made from a head report; pure functions of `HeadReport`."""

import math
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from explorer.app.experiment_cache import MeasuredEffect
from explorer.components.labels import batch_name
from explorer.core.i18n import say
from explorer.core.number_format import (
    at_most,
    common_decimals,
    fixed_number,
    percent,
    short_number,
    signed_number,
)
from explorer.core.sites import Head
from explorer.core.trace import Trace
from explorer.heads.metrics.attention_metrics import METRICS
from explorer.heads.metrics.bootstrap import most_changed
from explorer.heads.reports.head_report import HeadReport
from explorer.heads.roles.role_names import group_name, role_name
from explorer.heads.roles.roles import UNSPOKEN, WITHOUT_SCORE

_FIRST = (
    "gold_weight",
    "gold_accuracy",
    "confidence",
    "normalised_entropy",
    "entropy",
    "positional",
)
"""The first metrics of the table, at its left. Any new metric comes after them."""

ATTENTION_METRICS = (*_FIRST, *(name for name in METRICS if name not in _FIRST), "importance")
"""All metrics of a head's attention, and its importance, in the order of the table."""

EFFECTS = (
    *("zero_loss", "mean_loss", "zero_exact", "mean_exact"),
    *("only_loss", "only_exact"),
)
"""Changes when a head is removed, or when only that head is kept."""

_NO_INTERVAL = "–"

_LOSSES = ("zero_loss", "mean_loss", "only_loss")
_SMALLEST_LOSS = 0.0005
"""Nats a token: a smaller change of the loss may be written as 0."""

_MORE_DECIMALS = 4
"""Further decimals tried in turn, if a change is not the difference of its two printed losses."""

_EXACT = ("zero_exact", "mean_exact", "only_exact")
_POINTS = 100  # percentage points of a share


def site_name(site: str, language: str) -> str:
    return say(f"glossary.site_{site}", language)


def head_name(layer: int, head: int) -> str:
    return f"L{layer} H{head}"


def named_head(head: Head, trace: Trace, language: str) -> str:
    """A head of a trace with its attention: "Cross L1 H2"."""
    number = trace.layer_numbers(head.site)[head.layer]
    return f"{site_name(head.site, language)} {head_name(number, head.head)}"


def listed(names: Sequence[str], language: str) -> str:
    """The names with the separator of the language between them."""
    return say("heads.comma", language).join(names)


def interval(low: float, high: float) -> str:
    """ "[0.95, 0.98]"; `_NO_INTERVAL` if an end is not finite."""
    if not (math.isfinite(low) and math.isfinite(high)):
        return _NO_INTERVAL
    return f"[{short_number(low)}, {short_number(high)}]"


def number_writer(name: str, values: Iterable[float]) -> Callable[[float], str]:
    """Function that writes the numbers of a column and the ends of their intervals, all with the
    same decimals. Changes have a sign; changes of the exact match are in percentage points."""
    if name in _EXACT:
        return lambda value: fixed_number(_POINTS * value, 1, signed=True)
    decimals = (_loss_decimals if name in _LOSSES else common_decimals)(values)
    return lambda value: fixed_number(value, decimals, signed=name in EFFECTS)


def _loss_decimals(values: Iterable[float]) -> int:
    """As `common_decimals`, with enough decimals that each change that counts shows a digit other
    than 0."""
    decimals = common_decimals(values)
    small = any(_SMALLEST_LOSS <= abs(value) < 10**-decimals for value in values)
    return max(decimals, 3) if small else decimals


def metrics(report: HeadReport, language: str) -> pd.DataFrame:
    """One row a head: its roles, and each metric with its interval."""
    table = _named(report, language)
    for name in ATTENTION_METRICS:
        if name in report.metrics:
            _measure(table, report, name)
    if "positional_offset" in report.heads:
        table["offset"] = report.heads.positional_offset
    return table


def effects(report: HeadReport, language: str) -> pd.DataFrame:
    """One row a head: the changes without it, importance and attention, with intervals."""
    table = _named(report, language)
    for name in (*EFFECTS, "importance", "gold_weight", "confidence"):
        if name in report.metrics:
            _measure(table, report, name)
        if name in EFFECTS and f"{name}_interval" in table:
            said = say("heads.no_change", language)
            table.loc[_unchanged(report, name), f"{name}_interval"] = said
    return table


def unchanged_text(report: HeadReport, language: str) -> str:
    """What "no change" in the table of `effects` allows; empty if it is not there."""
    count = (report.facts.get("ablation") or {}).get("sentences", 0)
    own = [name for name in EFFECTS if name in report.metrics]
    if not count or not any(_unchanged(report, name).any() for name in own):
        return ""
    share = at_most(_POINTS * most_changed(count))
    return say("heads.no_change_allows", language, count=count, share=share)


def _unchanged(report: HeadReport, name: str) -> NDArray[np.bool_]:
    """The heads whose removal changes no sentence. No resample differs then, and an interval from 0
    to 0 would be surer than it is."""
    low, high = report.heads[f"{name}_low"], report.heads[f"{name}_high"]
    return ((low == 0) & (high == 0)).to_numpy()


def linked(report: HeadReport, language: str) -> pd.DataFrame:
    """One row a head of cross-attention, the best first: its metrics along gold links, with
    intervals. Only for a report with `linked` among its facts."""
    table = pd.DataFrame({"head": list(map(head_name, report.heads.layer, report.heads["head"]))})
    for name in ("gold_accuracy", "gold_weight"):
        _measure(table, report, name)
    cross = table[(report.heads.site == "cross").to_numpy()]
    return cross.sort_values("gold_accuracy", ascending=False, ignore_index=True)


def head_of(report: HeadReport, row: int) -> Head:
    """The head in a row of the tables."""
    site, layer, head = report.heads.iloc[row][["site", "layer", "head"]]
    return Head(str(site), int(layer), int(head))


def evidence(report: HeadReport, site: str, layer: int, head: int, language: str) -> pd.DataFrame:
    """One row a role possible for the head: score, chance level, difference, threshold, verdict,
    support."""
    rows = []
    for row in report.role_rows(site, layer, head):
        if row["doubt"] in WITHOUT_SCORE:
            continue
        facts = {"queries": row["queries"], "sentences": row["sentences"]}
        rows.append(
            {
                "role": _role_name(report, row["role"], language),
                "verdict": _verdict(row, language),
                "score": short_number(row["score"]),
                "score_interval": interval(row["low"], row["high"]),
                "chance": short_number(row["chance"]),
                "effect": signed_number(row["effect"]),
                "effect_interval": interval(row["effect_low"], row["effect_high"]),
                "threshold": short_number(row["threshold"]),
                "support": say("heads.support", language, **facts),
            }
        )
    return pd.DataFrame(rows)


def impossible(report: HeadReport, site: str, layer: int, head: int, language: str) -> list[str]:
    """One sentence for each reason why a head cannot have some roles of its attention."""
    by_reason: dict[str, list[str]] = {}
    for row in report.role_rows(site, layer, head):
        if row["doubt"] in WITHOUT_SCORE and row["doubt"] not in UNSPOKEN:
            by_reason.setdefault(row["doubt"], []).append(_role_name(report, row["role"], language))
    return [
        say(
            "heads.impossible",
            language,
            roles=listed(names, language),
            reason=say(f"roles.doubt_{reason}", language),
        )
        for reason, names in by_reason.items()
    ]


def confounds(report: HeadReport, site: str, language: str) -> list[str]:
    """One sentence for each pair of roles that this batch cannot tell apart."""
    sentences = []
    for pair in report.facts.get("confounds", ()):
        if pair["site"] == site:
            one, other = (_role_name(report, role, language) for role in pair["roles"])
            share = percent(pair["share"])
            sentences.append(say("roles.confound", language, share=share, one=one, other=other))
    return sentences


def heads_by_role(report: HeadReport, site: str, language: str) -> dict[str, list[str]]:
    """The heads of a site by the name of their role; those near a role, and without one, last."""
    near, none = say("roles.near", language), say("roles.none", language)
    groups, targets = report.role_groups(site), report.facts["targets"]
    names = [*(group_name(group, targets, language) for group in groups), near, none]
    found: dict[str, list[str]] = {name: [] for name in names}
    heads = report.heads[report.heads.site == site]
    for layer, head in zip(heads.layer, heads["head"], strict=True):
        own = report.held_groups(site, layer, head)
        held = [group_name(group, targets, language) for group in own]
        for name in held or [near if report.nearest_role(site, layer, head) else none]:
            found[name].append(head_name(layer, head))
    return {name: heads for name, heads in found.items() if heads}


def redundancy(report: HeadReport, language: str) -> list[str]:
    """For each site what is lost without one head and without all.

    It is lost in right answers for a toy task, which a model gets right, and in the loss for
    language, where only a few outputs in a hundred match.
    """
    ablation = report.facts.get("ablation") or {}
    if ablation.get("sentences", 0) < 2:  # one sentence says nothing of a hundred
        return []
    said = _answers_without if report.facts["targets"] == "task" else _loss_without
    return [
        said(report.heads[report.heads.site == site], effects, site_name(site, language), language)
        for site, effects in ablation.get("together", {}).items()
    ]


def _answers_without(
    heads: pd.DataFrame, effects: Mapping[str, Sequence[float]], site: str, language: str
) -> str:
    """How many answers of a toy task are right without heads. effects: without all of them."""
    before, after = effects["exact"]
    alone = _of_hundred(before + heads.zero_exact.min())
    together = _of_hundred(after)
    return say("heads.redundant", language, site=site, alone=alone, together=together)


def _loss_without(
    heads: pd.DataFrame, effects: Mapping[str, Sequence[float]], site: str, language: str
) -> str:
    """The loss of a token without heads. effects: without all of them."""
    before, together = map(short_number, effects["loss"])
    facts = {"alone": at_most(heads.zero_loss.max()), "before": before, "together": together}
    return say("heads.redundant_loss", language, site=site, **facts)


def _of_hundred(share: float) -> str:
    return f"{_POINTS * share:.0f}"


def measured_on(report: HeadReport, language: str) -> str:
    """The evaluation batch of metrics and roles."""
    facts = report.facts
    return say(
        "heads.batch",
        language,
        count=facts["sentences"],
        batch=batch_name(facts["batch"], language),
        targets=say(f"roles.targets_{facts['targets']}", language),
    )


def batch_text(report: HeadReport, language: str) -> str:
    """The evaluation batches and the confidence level of the intervals."""
    facts = report.facts
    level = f"{100 * facts['level']:.0f}"
    text = f"{measured_on(report, language)} {say('heads.batch_intervals', language, level=level)}"
    if linked := facts.get("linked"):
        about = {"count": linked["sentences"], "name": batch_name(linked["batch"], language)}
        text += f" {say('heads.batch_linked', language, **about)}"
    if ablation := facts.get("ablation"):
        about = {"count": ablation["sentences"], "means": batch_name(ablation["means"], language)}
        text += f" {say('heads.batch_removed', language, **about)}"
    return text


def effect_text(effect: MeasuredEffect, language: str) -> str:
    """The effect of interventions on the right answers of an evaluation batch."""
    before, after = effect.table.before, effect.table.after
    facts = {"before": percent(before["exact"]), "after": percent(after["exact"])}
    facts["targets"] = say(f"roles.targets_{effect.targets}", language)
    facts["batch"] = batch_name(effect.batch, language)
    text = say("heads.effect", language, count=effect.sentences, **facts)
    return f"{text} {say('heads.effect_greedy', language)}" if effect.targets == "greedy" else text


def effect_losses(effect: MeasuredEffect, language: str) -> str:
    """The effect of interventions on the loss, with its interval."""
    before, after = effect.table.before, effect.table.after
    change, low, high = (float(effect.table[name]["loss"]) for name in ("change", "low", "high"))
    if max(map(abs, (change, low, high))) < _SMALLEST_LOSS:
        return say("heads.effect_same_loss", language, loss_after=short_number(after["loss"]))
    facts = _loss_facts(before["loss"], after["loss"], change, low, high)
    return say("heads.effect_losses", language, **facts)


def _loss_facts(
    before: float, after: float, change: float, low: float, high: float
) -> dict[str, str]:
    """Losses, their change and its interval, as text. All have the same decimals: the fewest for
    which the printed change equals the difference of the printed losses."""
    fewest = _loss_decimals([change, low, high])
    decimals = next(
        (
            more
            for more in range(fewest, fewest + _MORE_DECIMALS)
            if round(change, more) == round(round(after, more) - round(before, more), more)
        ),
        fewest,
    )
    ends = [fixed_number(end, decimals) for end in (low, high)]
    return {
        "loss_before": fixed_number(before, decimals),
        "loss_after": fixed_number(after, decimals),
        "change": fixed_number(change, decimals, signed=True),
        "interval": f"[{ends[0]}, {ends[1]}]",
    }


def _measure(table: pd.DataFrame, report: HeadReport, name: str) -> None:
    """Add a metric to a table: a number, for sorting, and its interval as text. A column in which
    nothing was measured is left out."""
    if report.heads[name].isna().all():
        return
    table[name] = report.heads[name].astype(float)
    written = number_writer(name, table[name])
    ends = zip(report.heads[f"{name}_low"], report.heads[f"{name}_high"], strict=True)
    intervals = [_ends(name, written, low, high) for low, high in ends]
    if any(one != _NO_INTERVAL for one in intervals):
        table[f"{name}_interval"] = intervals


def _ends(name: str, written: Callable[[float], str], low: float, high: float) -> str:
    """An interval as text; one of a loss that would be written [0, 0] as what it is within."""
    if not (math.isfinite(low) and math.isfinite(high)):
        return _NO_INTERVAL
    if name in _LOSSES and 0 < max(abs(low), abs(high)) < _SMALLEST_LOSS:
        return f"±{_SMALLEST_LOSS}"
    return f"[{written(low)}, {written(high)}]"


def _named(report: HeadReport, language: str) -> pd.DataFrame:
    """The first columns of every table: the head and its roles."""
    heads = report.heads
    keys = list(zip(heads.site, heads.layer, heads["head"], strict=True))
    return pd.DataFrame(
        {
            "site": [site_name(site, language) for site, *_ in keys],
            "head": [head_name(layer, head) for _, layer, head in keys],
            "roles": [report.role_caption(*key, language) for key in keys],
        }
    )


def _role_name(report: HeadReport, role: str, language: str) -> str:
    return role_name(role, report.facts["targets"], language)


def _verdict(row: Mapping[Hashable, Any], language: str) -> str:
    if row["doubt"]:
        return say(f"roles.doubt_{row['doubt']}", language)
    if row["holds"]:
        return say("heads.holds", language)
    return say("heads.unsure" if row["score"] >= row["threshold"] else "heads.below", language)
