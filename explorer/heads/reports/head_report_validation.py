"""Checks on the parts of a head report from a file. Each raises `ValueError`."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, get_args

import pandas as pd
from pandas.api.types import is_bool_dtype, is_integer_dtype, is_numeric_dtype

from explorer.core.sites import SITES
from explorer.heads.metrics.attention_metrics import OFFSETS
from explorer.heads.roles.roles import ROLES, Doubt

if TYPE_CHECKING:
    from explorer.model.evaluation_batch import Targets

KEYS = ["site", "layer", "head"]
TARGETS: "tuple[Targets, ...]" = (*("task", "given", "greedy", "next", "masked", "labels", "none"),)
"""Where the targets of an evaluation batch may be from."""

MOST_LAYERS = 10_000  # or heads

_NUMBERS_OF_ROLE = (
    *("score", "low", "high", "chance", "effect", "effect_low", "effect_high"),
    *("threshold", "queries", "sentences"),
)
_REMOVED = ("zero_loss", "zero_exact")
_NUMBERS_OF_OFFSET = ("share", "low", "high", "chance", "queries")


def check_heads(heads: pd.DataFrame) -> None:
    """One row a head, at least one; all columns but the site are numbers."""
    _check_keys(heads)
    numbers = (is_numeric_dtype(heads[name]) for name in heads if name != "site")
    _require(len(heads) > 0 and all(numbers))
    _require(not heads.duplicated(KEYS).any())


def check_roles(roles: pd.DataFrame, heads: pd.DataFrame) -> None:
    """Known roles and doubts, one row a head of each role there is; scores, thresholds and
    counts are numbers."""
    _check_keys(roles)
    _require({*_NUMBERS_OF_ROLE, "role", "holds", "doubt"} <= {*roles.columns})
    _require(set(roles.role) <= {*ROLES} and set(roles.doubt) <= {*get_args(Doubt)})
    _require(all(is_numeric_dtype(roles[name]) for name in _NUMBERS_OF_ROLE))
    _require(is_bool_dtype(roles.holds))
    keys = heads[KEYS].to_numpy().tolist()
    _require(all(own[KEYS].to_numpy().tolist() == keys for _, own in roles.groupby("role")))


def check_offsets(offsets: pd.DataFrame, heads: pd.DataFrame) -> None:
    """One row a head of each offset; shares and counts are numbers."""
    _check_keys(offsets)
    _require({*_NUMBERS_OF_OFFSET, "offset"} <= {*offsets.columns})
    _require(set(offsets.offset) <= {*OFFSETS})
    _require(all(is_numeric_dtype(offsets[name]) for name in _NUMBERS_OF_OFFSET))
    keys = heads[KEYS].to_numpy().tolist()
    _require(all(own[KEYS].to_numpy().tolist() == keys for _, own in offsets.groupby("offset")))


def check_facts(facts: Mapping[str, Any], heads: pd.DataFrame) -> None:
    """The facts that pages show are there and of their types."""
    _require(all(isinstance(facts[name], str) for name in ("model", "digest", "batch")))
    _require(_is_count(facts["sentences"]) and facts["targets"] in TARGETS)
    _require(_is_share(facts["level"]) and isinstance(facts["confounds"], list))
    for pair in facts["confounds"]:
        one, other = pair["roles"]
        _require(pair["site"] in SITES and {one, other} <= {*ROLES} and _is_share(pair["share"]))
    if linked := facts.get("linked"):
        _require(isinstance(linked["batch"], str) and _is_count(linked["sentences"]))
    if ablation := facts.get("ablation"):
        _require(_is_count(ablation["sentences"]) and isinstance(ablation["means"], str))
        _require({*ablation["together"]} <= {*SITES} and {*_REMOVED} <= {*heads.columns})
        for effects in ablation["together"].values():
            _require(all(_is_share(share) for share in effects["exact"]))
            _require(len(effects["exact"]) == len(effects["loss"]) == 2)
            _require(all(type(loss) in (int, float) for loss in effects["loss"]))


def _check_keys(table: pd.DataFrame) -> None:
    _require({*KEYS} <= {*table.columns} and set(table.site) <= {*SITES})
    for key in ("layer", "head"):
        whole = is_integer_dtype(table[key]) or table.empty
        _require(whole and table[key].between(0, MOST_LAYERS).all())


def _is_count(value: object) -> bool:
    return type(value) is int and value >= 0


def _is_share(value: object) -> bool:
    return type(value) in (int, float) and 0 <= value <= 1  # type: ignore[operator]


def _require(holds: object) -> None:
    if not holds:
        raise ValueError("no head report")
