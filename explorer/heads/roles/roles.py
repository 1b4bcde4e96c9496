"""Roles of heads, with their evidence: a score, its chance level, a threshold and the number of
queries.

"No clear role" is an answer. A role says where a head looks, not that the model needs it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from explorer.core.sites import SITES
from explorer.heads.metrics.attention_metrics import (
    Cells,
    SiteAttention,
    at_offset,
    normalised_entropy,
    peak_on,
    sink,
)
from explorer.heads.metrics.bootstrap import PerExampleMean
from explorer.heads.roles.shuffled_keys import mass_chance, peak_chance

FEWEST_QUERIES = 20
"""With fewer queries no role is given: one sentence proves nothing."""

SAME = 0.95
"""Two roles that name the same cells in this share of the queries cannot be told apart."""

NEAREST_EFFECT = 0.1
"""Least effect, at the lower end of its interval, of a role that is named as the nearest although
it is below its threshold. Voita et al. 2019, arXiv 1905.09418, call a head syntactic from 10 %
above a baseline on."""

Doubt = Literal["", "elsewhere", "later", "no_gold", "absent", "too_few"]
"""Why a role cannot be given: a sentence of the section `roles`, after "doubt_"."""

UNSPOKEN = ("elsewhere", "later")
"""The doubts without a sentence: roles of another attention, and the next position in a decoder,
which masks it."""

WITHOUT_SCORE = ("elsewhere", "later", "no_gold", "absent")
"""The doubts with which a role has no score."""


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
    # no fixed offset: most of the queries suffice
    "alignment": Role(("cross",), 0.5),
    "same_token": Role(_SELF_ATTENTION, 0.5),
    "induction": Role(("decoder",), 0.5),
    "punctuation": Role(SITES, 0.5),
    # mean mass on BOS, EOS and padding: most of it
    "sink": Role(SITES, 0.5),
    "end": Role(SITES, 0.5),
    # mean normalised entropy: close to uniform
    "diffuse": Role(SITES, 0.9),
}
_OFFSETS = {"previous": -1, "self": 0, "next": 1}


@dataclass(frozen=True, slots=True, eq=False)
class Content:
    """Number of the content token at each position of cross-attention; −1 for specials and padding.

    keys: (B, K), in the source. rows: (B, Q), in the output, of the token that a row predicts.
    """

    keys: NDArray[np.int64]
    rows: NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class RoleScore:
    """The score (B, H) of a role and its chance level; None if it has no chance level."""

    score: PerExampleMean
    chance: PerExampleMean | None

    @property
    def effect(self) -> PerExampleMean | None:
        """Score − chance, over the same queries: its interval is that of paired differences."""
        if self.chance is None:
            return None
        return PerExampleMean(self.score.total - self.chance.total, self.score.count)


def role_cells(attention: SiteAttention, content: Content | None = None) -> dict[str, Cells]:
    """The cells (B, Q, K) where a head with each role looks; all roles but "diffuse" have some.

    content: only for cross-attention.

    Induction: a row looks at what came after an earlier occurrence of its token. Source: Olsson et
    al. 2022, arXiv 2209.11895.

    Copy: the row that predicts symbol t looks at source symbol t; reverse: at n−1−t. On a copy task
    both the copy and the alignment are "position +0".
    """
    unmasked = attention.unmasked
    if attention.site != "cross":
        sites = {role: ROLES[role].sites for role in _OFFSETS}
        offsets = [role for role in _OFFSETS if attention.site in sites[role]]
        cells = {role: at_offset(unmasked, _OFFSETS[role]) for role in offsets}
        if attention.repeats is not None:
            cells["same_token"] = unmasked & attention.repeats
            if attention.site in ROLES["induction"].sites:
                after = np.zeros_like(attention.repeats)
                after[:, :, 1:] = attention.repeats[:, :, :-1]
                cells["induction"] = unmasked & after
    else:
        assert content is not None
        cells = _cross_cells(unmasked, content)
        if attention.gold is not None:
            cells["alignment"] = unmasked & attention.gold
    keys = {
        "punctuation": attention.punctuation,
        "sink": attention.special,
        "end": attention.end,
    }
    found = {role: which for role, which in keys.items() if which is not None}
    return cells | {role: unmasked & which[:, None] for role, which in found.items()}


def role_scores(attention: SiteAttention, cells: Mapping[str, Cells]) -> dict[str, RoleScore]:
    """The score of every role that a head of this site can have.

    cells: of `role_cells`. The score is the share of queries whose largest weight lies on them;
    for "sink" and "diffuse" the sink mass and the normalised entropy.
    """
    weights, unmasked = attention.weights, attention.unmasked
    scores = {"diffuse": RoleScore(normalised_entropy(weights, unmasked), None)}
    for role, where in cells.items():
        if role == "sink":
            score = sink(weights, unmasked, attention.special)
            scores[role] = RoleScore(score, mass_chance(weights, unmasked, where))
        else:
            chance = peak_chance(unmasked, where, weights.shape[1])
            scores[role] = RoleScore(peak_on(weights, unmasked, where), chance)
    return scores


def same_cells(cells: Mapping[str, Cells]) -> dict[tuple[str, str], NDArray[np.int64]]:
    """For every two roles, (queries for which they name the same cells, queries that have any)."""
    counts = {}
    for one, other in combinations(cells, 2):
        any_cell = cells[one].any(-1) | cells[other].any(-1)  # (B, Q)
        same = (cells[one] == cells[other]).all(-1) & any_cell
        counts[one, other] = np.array([same.sum(), any_cell.sum()])
    return counts


def doubt(role: str, site: str, queries: float, gold: bool) -> Doubt:
    """Why a head of `site` cannot have `role` on this evidence; "" when it can."""
    if site not in ROLES[role].sites:
        return "later" if (role, site) == ("next", "decoder") else "elsewhere"
    if role == "alignment" and not gold:
        return "no_gold"
    if not queries:
        return "absent"
    return "too_few" if queries < FEWEST_QUERIES else ""


def _cross_cells(unmasked: Cells, content: Content) -> dict[str, Cells]:
    keys, rows = content.keys[:, None], content.rows[:, :, None]
    last = keys.max(-1, keepdims=True)  # (B, 1, 1)
    inside = unmasked & (keys >= 0) & (rows >= 0)
    return {"copy": inside & (keys == rows), "reverse": inside & (keys == last - rows)}
