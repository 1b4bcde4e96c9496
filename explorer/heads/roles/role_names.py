"""How the roles of a head are named, the same on every page.

Roles that name the same cells on a batch are one there, with the plainest of their names.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from explorer.core.i18n import say

RoleGroup = tuple[str, ...]
"""Roles that cannot be distinguished on a batch: one role, or several."""

_VAGUE = ("alignment", "sink")
"""Roles whose cells another role of their group names more plainly."""


@dataclass(frozen=True, slots=True)
class GroupScore:
    """A group of roles with the score of one of them and its chance level, NaN if it has none."""

    group: RoleGroup
    score: float
    chance: float


def group_key(group: RoleGroup) -> str:
    """The name of a group in payloads and addresses: "copy", or "copy=alignment"."""
    return "=".join(group)


def joined_roles(roles: Sequence[str], pairs: Iterable[Sequence[str]]) -> tuple[RoleGroup, ...]:
    """The roles in their order, each grouped with all roles that `pairs` connect it with."""
    groups = [{role} for role in roles]
    for pair in pairs:
        joined = [group for group in groups if group & set(pair)]
        groups = [group for group in groups if group not in joined] + [set().union(*joined)]
    named = [tuple(role for role in roles if role in group) for group in groups]
    return tuple(sorted(named, key=lambda group: roles.index(group[0])))


def sentence_of(role: str, targets: str) -> str:
    """Key of the sentence in the section `roles` that names a role.

    Outside a toy task "copy" has another name: attention to the same position copies nothing.
    """
    return "same_place" if role == "copy" and targets != "task" else role


def unit_of(targets: str, language: str) -> str:
    """What the names of roles call a token: a symbol of a toy task, else a word."""
    return say("roles.symbol" if targets == "task" else "roles.word", language)


def role_name(role: str, targets: str, language: str) -> str:
    """ "previous word". targets: of the batch."""
    unit = unit_of(targets, language)
    return say(f"roles.{sentence_of(role, targets)}", language, unit=unit)


def group_name(group: RoleGroup, targets: str, language: str) -> str:
    """The plainest name of its roles: "mirrored place". targets: of the batch."""
    return role_name(_plainest(group), targets, language)


def score_text(found: GroupScore, targets: str, language: str, *, is_partly: bool = False) -> str:
    """The role of a group with its score, and its chance level if there is one, in percent.

    is_partly: whether the score is below the threshold of the role.
    """
    role = group_name(found.group, targets, language)
    return say(
        f"roles.scored{'' if math.isnan(found.chance) else '_chance'}",
        language,
        role=say("roles.partly", language, role=role) if is_partly else role,
        score=_whole_percent(found.score),
        chance=_whole_percent(found.chance),
    )


def _plainest(group: RoleGroup) -> str:
    return next((role for role in group if role not in _VAGUE), group[0])


def _whole_percent(share: float) -> str:
    return f"{100 * share:.0f}\u00a0%"
