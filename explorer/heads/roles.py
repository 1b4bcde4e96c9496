"""What a head seems to be for, with the evidence: a score, a threshold, and how much it rests on.

"No clear role" is an answer. A role says where a head looks, not that the model needs it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from explorer.heads.attention_metrics import (
    Cells,
    Weights,
    at_offset,
    mass_on,
    normalised_entropy,
    peak_on,
)
from explorer.heads.bootstrap import Tally

FEWEST_QUERIES = 20
"""Below, no role is given: one sentence proves nothing."""

SAME = 0.95
"""Two roles that name the same cells in this share of the queries cannot be told apart."""

Doubt = Literal["", "elsewhere", "later", "no_gold", "too_few"]
"""Why a role cannot be given: a sentence of the section `roles`, after "doubt_"."""


@dataclass(frozen=True, slots=True)
class Role:
    """A role: the sites that can have it, and the score from which a head does."""

    sites: tuple[str, ...]
    threshold: float


_OWN = ("encoder", "decoder")  # queries and keys are one sequence
ROLES: Mapping[str, Role] = {
    # share of queries whose largest weight is there; 0.9 as for Voita's positional heads
    "previous": Role(_OWN, 0.9),
    "self": Role(_OWN, 0.9),
    "next": Role(("encoder",), 0.9),
    "copy": Role(("cross",), 0.9),
    "reverse": Role(("cross",), 0.9),
    # where the answer comes from is no fixed position: most of the queries will do
    "alignment": Role(("cross",), 0.5),
    # mean mass on BOS, EOS and padding: most of it
    "sink": Role(("encoder", "decoder", "cross"), 0.5),
    # mean normalised entropy: next to none of the weights stands out
    "diffuse": Role(("encoder", "decoder", "cross"), 0.9),
}
_OFFSETS = {"previous": -1, "self": 0, "next": 1}


def role_cells(
    site: str, opened: Cells, content: NDArray[np.int64], gold: Cells | None
) -> dict[str, Cells]:
    """Where a head would look that had each role, (B, Q, K), for the roles with a place.

    opened: (B, Q, K) open cells; content: (B,) symbols of each source, its end not counted.
    gold: (B, Q, K) where the answer of each query comes from, where that is known.

    Copy: query t looks at source t; reverse: at source n−1−t. Query t predicts the t-th symbol
    of the output, so on a copy task both the copy and the alignment are "position +0".
    """
    if site != "cross":
        offsets = {role: delta for role, delta in _OFFSETS.items() if site in ROLES[role].sites}
        return {role: at_offset(opened, delta) for role, delta in offsets.items()}
    query, key = np.indices(opened.shape[-2:])
    last = content[:, None, None] - 1
    cells = {
        "copy": opened & (key == query) & (key <= last),
        "reverse": opened & (key == last - query),
    }
    return cells if gold is None else cells | {"alignment": opened & gold}


def role_scores(
    site: str,
    weights: Weights,
    opened: Cells,
    special: Cells,
    cells: Mapping[str, Cells],
) -> dict[str, Tally]:
    """The score of every role that `site` can have, a tally (B, H) each.

    special: (B, K) True where the key is BOS, EOS or padding.
    """
    scores = {role: peak_on(weights, opened, where) for role, where in cells.items()}
    sink = mass_on(weights, opened & special[:, None], opened.sum(-1) > 1)  # those with a choice
    return {**scores, "sink": sink, "diffuse": normalised_entropy(weights, opened)}


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
