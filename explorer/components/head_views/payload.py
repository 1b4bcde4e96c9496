"""Payloads of the head views: traces, measurements of their heads, and values per cell."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from explorer.components.payload import PROJECT, pack_payload, payload_bytes
from explorer.components.player.payload import NOTHING, Offer, View, player_payload
from explorer.components.player.sentences import player_sentences
from explorer.core.i18n import section
from explorer.core.trace import Trace
from explorer.heads.comparison.attention_comparison import AttentionComparison
from explorer.heads.comparison.trace_comparison import TraceComparison
from explorer.heads.patching.patching_result import AXES, PatchedTexts
from explorer.heads.reports.head_report import HeadReport
from explorer.heads.roles.role_names import (
    group_key,
    group_name,
    score_text,
    sentence_of,
    unit_of,
)
from explorer.heads.roles.roles import ROLES

CellValues = Mapping[str, NDArray[np.float32]]
"""By site, (layer, head, query, key): numbers per cell other than weights, sent as float32."""


@dataclass(frozen=True, slots=True)
class Sides:
    """Description of the two sides of a comparison.

    names: of the two.
    given: heading of the second side if it is given the output of the first; "" if each has its own
        output, or both are given the answer.
    rule: which head of the second side is shown beside a head of the first: its match or the head
        at the same place.
    about: further text on them for the caption of a figure; "" = none.
    outputs: tokens that each says, where more of them than are compared; None = those compared.
    """

    names: tuple[str, str]
    given: str = ""
    rule: Literal["matched", "same"] = "matched"
    about: str = ""
    outputs: tuple[Sequence[str], Sequence[str]] | None = None


def head_grid_payload(
    trace: Trace,
    report: HeadReport | None,
    *,
    language: str = "en",
    view: View | None = None,
    offer: Offer = NOTHING,
    more: Mapping[str, Any] | None = None,
) -> bytes:
    """Every head of `trace`, with the metrics and roles of `report`.

    offer, more: as in `player_payload`.
    """
    targets = report.facts["targets"] if report else ""
    header = {
        "view": "head_grid",
        "heads": _heads(report, language) if report else {},
        "metrics": report.metrics if report else (),
        "sentences": report.facts["sentences"] if report else 0,
        "linked_on": (report.facts.get("linked") or {}).get("sentences") if report else None,
        "roles": [sentence_of(role, targets) for role in ROLES],
        "role_groups": _role_groups(report, language) if report else {},
    }
    arrays = {"trace": _trace(trace, language, view, offer, more)}
    return pack_payload(header | _sentences(language, targets), arrays)


def model_comparison_payload(
    compared: TraceComparison,
    sides: Sides,
    *,
    patched: PatchedTexts | None = None,
    language: str = "en",
    view: View | None = None,
) -> bytes:
    """A text in two models or two states of one model, or two texts, with the similarity of their
    heads and, of two texts, what was patched.

    Without the `other` head of `view`, the second side opens with the head that the rule of `sides`
    shows beside the head of the first.
    """
    attention = compared.attention
    matched = attention.matched()
    heads = {
        site: {
            "order": attention.clustered(site),
            "matched": matched[matched.site == site].iloc[:, 1:5].to_numpy(int).tolist(),
        }
        for site in attention.sites
    }
    similarity = {site: _similarity(attention, site) for site in attention.sites}
    arrays = {
        "original": _trace(compared.original, language, view),
        "changed": _trace(compared.forced, language, view),
    }
    header = {
        "view": "model_comparison",
        "names": sides.names,
        "outputs": sides.outputs or compared.outputs,
        "pair": view and view.other,
        "given": sides.given,
        "rule": sides.rule,
        "about": sides.about,
        "similar": heads,
        "patched": patched and _patched(patched),
        "project": PROJECT,
    }
    return pack_payload(header | _sentences(language), arrays | _named("similarity", similarity))


def metric_matrix_payload(report: HeadReport, batch: str, *, language: str = "en") -> bytes:
    """Every metric of every head, by layer and head. batch: the name of the sentences, as a page
    writes it."""
    header = {
        "view": "metric_matrix",
        "heads": _heads(report, language),
        "metrics": report.metrics,
        "level": report.facts.get("level"),
        "model": report.facts.get("model"),
        "batch": batch,
        "sentences": report.facts["sentences"],
        "removed_on": (report.facts.get("ablation") or {}).get("sentences"),
        "project": PROJECT,
    }
    return pack_payload(header | _sentences(language), {})


def words_payload(words: Sequence[str], label: str, targets: str, *, language: str = "en") -> bytes:
    """The meanings of the words in a table.

    words: names of sentences of the sections "heads" and "roles", each with one "NAME_title".
    label: label of the button that opens them. targets: of the batch that was measured.
    """
    own = {**section("heads", language), **_role_strings(targets, language)}
    strings = {key: own[key] for word in words for key in (word, f"{word}_title")}
    shared = section("player", language).items()
    papers = {key: text for key, text in shared if key.startswith(("paper_", "words_"))}
    header = {"view": "words", "words": words, "label": label, "language": language}
    return pack_payload(header | {"strings": strings, "player_strings": papers}, {})


def _trace(
    trace: Trace,
    language: str,
    view: View | None,
    offer: Offer = NOTHING,
    more: Mapping[str, Any] | None = None,
) -> NDArray[Any]:
    data = player_payload(trace, language=language, view=view, offer=offer, more=more)
    return payload_bytes(data)


def _similarity(attention: AttentionComparison, site: str) -> NDArray[np.float32]:
    """(heads of the first, heads of the second) at a site, in the order of layers and heads."""
    table = attention.similarity
    rows, columns = (labels.get_level_values("site") == site for labels in table.axes)
    return table.to_numpy(np.float32)[np.ix_(rows, columns)]


def _patched(patched: PatchedTexts) -> dict[str, Any]:
    """By site, or stack of a residual stream, the labels of both texts at each position, and each
    value as [layer, head or position, share restored, metric]."""
    found = patched.found
    site, *place = AXES[found.sites]
    tables = []
    for name, rows in found.table.groupby(site, sort=False):
        tokens = []
        if found.sites == "residual":
            positions = rows.drop_duplicates("position")
            tokens = positions[["clean_token", "corrupted_token"]].to_numpy().tolist()
        cells = rows[[*place, "restored", "metric"]].itertuples(index=False, name=None)
        tables.append({"site": name, "tokens": tokens, "cells": list(cells)})
    return {
        "prefix": patched.prefix,
        "step": patched.step,
        "predicted": found.predicted,
        "metrics": (found.clean, found.corrupted),
        "tables": tables,
    }


def _named(name: str, values: CellValues) -> dict[str, NDArray[Any]]:
    """The arrays of all sites under names such as "similarity.cross"."""
    return {f"{name}.{site}": np.asarray(array, dtype=np.float32) for site, array in values.items()}


def _sentences(language: str, targets: str = "") -> dict[str, Any]:
    """targets: of the batch that was measured; "" = none was."""
    return {
        "language": language,
        "strings": section("heads", language),
        "role_strings": _role_strings(targets, language),
        "player_strings": player_sentences(language),
    }


def _role_strings(targets: str, language: str) -> dict[str, str]:
    """The sentences on roles, which call a token what the batch consists of."""
    unit = unit_of(targets, language)
    return {key: text.replace("{unit}", unit) for key, text in section("roles", language).items()}


def _role_groups(report: HeadReport, language: str) -> dict[str, list[tuple[str, str]]]:
    """By site, the key and the name of every group of roles."""
    targets = report.facts["targets"]
    return {
        site: [
            (group_key(group), group_name(group, targets, language))
            for group in report.role_groups(site)
        ]
        for site in sorted(set(report.heads.site))
    }


def _heads(report: HeadReport, language: str) -> dict[str, list[dict[str, Any]]]:
    """Site → one entry per head, in order of layers and heads. An entry has layer, head, metrics as
    [mean, low, high], and the roles three times: as keys of their groups, as a caption, and as
    lines with scores."""
    by_site: dict[str, list[dict[str, Any]]] = {}
    targets = report.facts["targets"]
    for row in report.heads.to_dict("records"):
        key = (str(row["site"]), int(row["layer"]), int(row["head"]))
        scores = report.held_scores(*key)
        by_site.setdefault(str(row["site"]), []).append(
            {
                "layer": int(row["layer"]),
                "head": int(row["head"]),
                "metrics": {
                    name: [row[name], row[f"{name}_low"], row[f"{name}_high"]]
                    for name in report.metrics
                },
                "offset": row.get("positional_offset"),
                "roles": [group_key(one.group) for one in scores],
                "role_caption": report.role_caption(*key, language),
                "role_lines": [score_text(one, targets, language) for one in scores]
                or [report.role_text(*key, language)],
            }
        )
    return by_site
