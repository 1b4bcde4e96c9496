"""Roles of heads, with their evidence: a score, a threshold and the number of queries.

"No clear role" is an answer. A role says where a head looks, not that the model needs it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from explorer.core.sites import SITES
from explorer.heads.attention_metrics import (
    Cells,
    SiteAttention,
    at_offset,
    normalised_entropy,
    peak_on,
    sink,
)
from explorer.heads.bootstrap import PerExampleMean

FEWEST_QUERIES = 20
"""With fewer queries no role is given: one sentence proves nothing."""

SAME = 0.95
"""Two roles that name the same cells in this share of the queries cannot be told apart."""

Doubt = Literal["", "elsewhere", "later", "no_gold", "too_few"]
"""Why a role cannot be given: a sentence of the section `roles`, after "doubt_"."""


@dataclass(frozen=True, slots=True)
class Role:
    """A role: the sites that can have it, and the score from which a head has it."""

    sites: tuple[str, ...]
    threshold: float


_SELF_ATTENTION = ("encoder", "decoder")
ROLES: Mapping[str, Role] = {
    # share of queries whose largest weight is there; 0.9 as for Voita's positional heads
    "previous": Role(_SELF_ATTENTION, 0.9),
    "self": Role(_SELF_ATTENTION, 0.9),
    "next": Role(("encoder",), 0.9),
    "copy": Role(("cross",), 0.9),
    "reverse": Role(("cross",), 0.9),
    # the gold position is not a fixed offset: most of the queries suffice
    "alignment": Role(("cross",), 0.5),
    # mean mass on BOS, EOS and padding: most of it
    "sink": Role(SITES, 0.5),
    # mean normalised entropy: close to uniform
    "diffuse": Role(SITES, 0.9),
}
_OFFSETS = {"previous": -1, "self": 0, "next": 1}


@dataclass(frozen=True, slots=True, eq=False)
class Content:
    """Which content of a text each position of cross-attention is; −1 for a special or padding.

    keys: (B, K), of the source. rows: (B, Q), what each row predicts, of the output.
    """

    keys: NDArray[np.int64]
    rows: NDArray[np.int64]


def role_cells(
    site: str, unmasked: Cells, content: Content | None, gold: Cells | None
) -> dict[str, Cells]:
    """The cells (B, Q, K) where a head with each role looks, for the roles defined by cells.

    unmasked: (B, Q, K).
    content: of cross-attention.
    gold: (B, Q, K) where the prediction of each query comes from, where that is known.

    Copy: the row that predicts symbol t looks at source symbol t; reverse: at n−1−t. On a copy task
    both the copy and the alignment are "position +0".
    """
    if site != "cross":
        offsets = {role: delta for role, delta in _OFFSETS.items() if site in ROLES[role].sites}
        return {role: at_offset(unmasked, delta) for role, delta in offsets.items()}
    assert content is not None
    keys, rows = content.keys[:, None], content.rows[:, :, None]
    last = keys.max(-1, keepdims=True)  # (B, 1, 1)
    inside = unmasked & (keys >= 0) & (rows >= 0)
    cells = {"copy": inside & (keys == rows), "reverse": inside & (keys == last - rows)}
    return cells if gold is None else cells | {"alignment": unmasked & gold}


def role_scores(attention: SiteAttention, cells: Mapping[str, Cells]) -> dict[str, PerExampleMean]:
    """The score (B, H) of every role that a head of this site can have.

    cells: of `role_cells`. The score is the share of queries whose largest weight lies on them;
    for "sink" and "diffuse" the sink mass and the normalised entropy.
    """
    weights, unmasked = attention.weights, attention.unmasked
    return {
        **{role: peak_on(weights, unmasked, where) for role, where in cells.items()},
        "sink": sink(weights, unmasked, attention.special),
        "diffuse": normalised_entropy(weights, unmasked),
    }


def same_cells(cells: Mapping[str, Cells]) -> dict[tuple[str, str], NDArray[np.int64]]:
    """For every two roles, (queries for which they name the same cells, queries that have both)."""
    counts = {}
    for one, other in combinations(cells, 2):
        both = cells[one].any(-1) & cells[other].any(-1)  # (B, Q)
        same = (cells[one] == cells[other]).all(-1) & both
        counts[one, other] = np.array([same.sum(), both.sum()])
    return counts


def doubt(role: str, site: str, queries: float, gold: bool) -> Doubt:
    """Why a head of `site` cannot have `role` on this evidence; "" when it can."""
    if site not in ROLES[role].sites:
        return "later" if (role, site) == ("next", "decoder") else "elsewhere"
    if role == "alignment" and not gold:
        return "no_gold"
    return "too_few" if queries < FEWEST_QUERIES else ""
