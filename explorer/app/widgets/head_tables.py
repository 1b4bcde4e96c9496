"""The ledger: what was measured of heads, as tables to be read; pure functions of `HeadReport`."""

import math
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import pandas as pd

from explorer.core.i18n import say
from explorer.heads.head_report import HeadReport
from explorer.heads.roles import ROLES

LOOKS = (
    *("gold_weight", "gold_accuracy", "confidence", "normalised_entropy", "entropy"),
    *("positional", "distance", "sink", "importance"),
)
"""What is said of where a head looks and how much hangs on it, in the order of the table."""

EFFECTS = ("zero_loss", "mean_loss", "zero_exact", "mean_exact", "only_loss", "only_exact")
"""What is lost without a head, or with it alone."""


def site_name(site: str, language: str) -> str:
    return say(f"player.site_{site}", language)


def head_name(layer: int, head: int) -> str:
    return f"L{layer} H{head}"


def roles_in_words(findings: HeadReport, site: str, layer: int, head: int, language: str) -> str:
    """The roles a head has; "no clear role" is an answer."""
    names = findings.roles_of(site, layer, head)
    own = [say(f"roles.{name}", language) for name in names]
    return listed(own, language) or say("roles.none", language)


def listed(names: Sequence[str], language: str) -> str:
    """One after the other, as the language separates them."""
    return say("heads.comma", language).join(names)


def number(value: float) -> str:
    """Two digits after the point; a dash where there is no number."""
    return f"{value:.2f}".replace("-", "−") if math.isfinite(value) else "–"


def small(value: float) -> str:
    """The same, but of what would be nothing then, two digits that tell something."""
    if 0 < abs(value) < 0.01:
        return f"{value:.2g}".replace("-", "−")
    return number(value)


def signed(value: float) -> str:
    """The same with its sign, for a change."""
    return f"+{small(value)}" if value > 0 else small(value)


def interval(low: float, high: float) -> str:
    """ "[0.95, 0.98]"; a dash where there is none."""
    if not (math.isfinite(low) and math.isfinite(high)):
        return "–"
    return f"[{small(low)}, {small(high)}]"


def change_interval(low: float, high: float) -> str:
    """The same of a change: "[−0.02, +0.01]"."""
    if not (math.isfinite(low) and math.isfinite(high)):
        return "–"
    return f"[{signed(low)}, {signed(high)}]"


def looks(findings: HeadReport, language: str) -> pd.DataFrame:
    """One row a head: its roles, and each metric as a number, its interval beside it."""
    table = _named(findings, language)
    for name in LOOKS:
        if name in findings.metrics and findings.heads[name].notna().any():
            _measure(table, findings, name)
    if "positional_offset" in findings.heads:
        table["offset"] = findings.heads.positional_offset
    return table


def effects(findings: HeadReport, language: str) -> pd.DataFrame:
    """One row a head: where it looks, its importance, and what is lost without it; numbers,
    each with its interval beside it."""
    table = _named(findings, language)
    attention = (
        "gold_weight" if findings.heads.get("gold_weight", pd.Series()).notna().any() else ""
    )
    names = [attention, "confidence", "importance", *EFFECTS]
    for name in names:
        if name in findings.metrics:
            _measure(table, findings, name)
    return table


def roles(findings: HeadReport, language: str) -> pd.DataFrame:
    """One row a head, one column a role heads here can have: its score, ✓ where it holds."""
    table = _named(findings, language).drop(columns="roles")
    for role in ROLES:
        own = findings.roles[findings.roles.role == role]
        if (own.doubt.isin(("elsewhere", "later"))).all():
            continue
        table[role] = [_score(row) for row in own.to_dict("records")]
    return table


def key_of(findings: HeadReport, row: int) -> tuple[str, int, int]:
    """The head in a row of the tables."""
    site, layer, head = findings.heads.iloc[row][["site", "layer", "head"]]
    return str(site), int(layer), int(head)


def row_of(findings: HeadReport, site: str | None, layer: int | None, head: int | None) -> int:
    """The row of a head, that of the first one where there is no such."""
    heads = findings.heads
    own = (heads.site == site) & (heads.layer == layer) & (heads["head"] == head)
    return int(own.to_numpy().argmax())


def evidence(findings: HeadReport, site: str, layer: int, head: int, language: str) -> pd.DataFrame:
    """One row a role the head could have: score, interval, threshold, support, verdict."""
    rows = []
    for row in _roles_of(findings, site, layer, head):
        if row["doubt"] not in ("", "too_few"):
            continue
        facts = {"queries": row["queries"], "sentences": row["sentences"]}
        rows.append(
            {
                "role": say(f"roles.{row['role']}", language),
                "score": number(row["score"]),
                "interval": f"[{number(row['low'])}, {number(row['high'])}]",
                "threshold": number(row["threshold"]),
                "support": say("heads.support", language, **facts),
                "verdict": _verdict(row, language),
            }
        )
    return pd.DataFrame(rows)


def impossible(findings: HeadReport, site: str, layer: int, head: int, language: str) -> list[str]:
    """The roles a head cannot have, and why, in sentences."""
    by_reason: dict[str, list[str]] = {}
    for row in _roles_of(findings, site, layer, head):
        if row["doubt"] not in ("", "too_few"):
            by_reason.setdefault(row["doubt"], []).append(say(f"roles.{row['role']}", language))
    return [
        say(
            "heads.impossible",
            language,
            roles=listed(names, language),
            reason=say(f"roles.doubt_{reason}", language),
        )
        for reason, names in by_reason.items()
    ]


def confounds(findings: HeadReport, site: str, language: str) -> list[str]:
    """Which roles this batch cannot tell apart, in sentences."""
    sentences = []
    for pair in findings.facts.get("confounds", ()):
        if pair["site"] == site:
            one, other = (say(f"roles.{role}", language) for role in pair["roles"])
            share = f"{100 * pair['share']:.0f} %"
            sentences.append(say("roles.confound", language, share=share, one=one, other=other))
    return sentences


def heads_by_role(findings: HeadReport, site: str) -> dict[str, list[str]]:
    """The heads of a site by role, then those without a clear one under "none"."""
    found: dict[str, list[str]] = {}
    heads = findings.heads[findings.heads.site == site]
    for layer, head in zip(heads.layer, heads["head"], strict=True):
        for role in findings.roles_of(site, layer, head) or ("none",):
            found.setdefault(role, []).append(head_name(layer, head))
    return {role: found[role] for role in (*ROLES, "none") if role in found}


def redundancy(findings: HeadReport, language: str) -> list[str]:
    """For each site, what one head's removal costs at most, and what that of all of them does."""
    ablation = findings.facts.get("ablation") or {}
    sentences = []
    for site, found in ablation.get("together", {}).items():
        own = findings.heads[findings.heads.site == site]
        before, after = found["exact"]
        sentences.append(
            say(
                "heads.redundant",
                language,
                site=site_name(site, language),
                count=len(own),
                alone=f"{100 * own.zero_exact.abs().max():.0f}",
                together=f"{100 * after:.0f} %",
                before=f"{100 * before:.0f} %",
            )
        )
    return sentences


def batch_in_words(findings: HeadReport, language: str) -> str:
    """What was measured on, and how sure the figures are."""
    facts = findings.facts
    text = say(
        "heads.batch",
        language,
        count=facts["sentences"],
        batch=facts["batch"],
        targets=say(f"roles.targets_{facts['targets']}", language),
        level=f"{100 * facts['level']:.0f}",
    )
    if ablation := facts.get("ablation"):
        about = {"count": ablation["sentences"], "means": ablation["means"]}
        text += f" {say('heads.batch_removed', language, **about)}"
    return text


def effect_in_words(
    table: pd.DataFrame, count: int, batch: str, targets: str, language: str
) -> str:
    """What interventions change on a batch; `table` as `ablation.effect` has it, `targets` as
    `EvaluationBatch`."""
    before, after = table.before, table.after
    facts = {
        "before": f"{100 * before['exact']:.0f} %",
        "after": f"{100 * after['exact']:.0f} %",
        "loss_before": small(before["loss"]),
        "loss_after": small(after["loss"]),
    }
    facts["targets"] = say(f"roles.targets_{targets}", language)
    text = say("heads.effect", language, count=count, batch=batch, **facts)
    return f"{text} {say('heads.effect_greedy', language)}" if targets == "greedy" else text


def _measure(table: pd.DataFrame, findings: HeadReport, name: str) -> None:
    """Add a metric to a table: a number, by which one can sort, and its interval."""
    table[name] = findings.heads[name].astype(float)
    written = change_interval if name in EFFECTS else interval
    ends = zip(findings.heads[f"{name}_low"], findings.heads[f"{name}_high"], strict=True)
    table[f"{name}_interval"] = [written(low, high) for low, high in ends]


def _named(findings: HeadReport, language: str) -> pd.DataFrame:
    """The beginning of every table: which head, and what it is for."""
    heads = findings.heads
    keys = list(zip(heads.site, heads.layer, heads["head"], strict=True))
    return pd.DataFrame(
        {
            "site": [site_name(site, language) for site, *_ in keys],
            "head": [head_name(layer, head) for _, layer, head in keys],
            "roles": [roles_in_words(findings, *key, language) for key in keys],
        }
    )


def _score(row: Mapping[Hashable, Any]) -> str:
    if row["doubt"] not in ("", "too_few"):
        return "–"
    return f"{number(row['score'])}{' ✓' if row['holds'] else ''}"


def _roles_of(
    findings: HeadReport, site: str, layer: int, head: int
) -> list[Mapping[Hashable, Any]]:
    found = findings.roles
    own = found[(found.site == site) & (found.layer == layer) & (found["head"] == head)]
    return list(own.to_dict("records"))


def _verdict(row: Mapping[Hashable, Any], language: str) -> str:
    if row["doubt"]:
        return say(f"roles.doubt_{row['doubt']}", language)
    return say("heads.holds" if row["holds"] else "heads.below", language)
