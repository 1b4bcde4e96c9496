"""How the roles of a head are named, the same on every page.

Roles that name the same cells on a batch are one there: "copy = alignment here".
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from explorer.core.i18n import say
from explorer.core.number_format import short_number

RoleGroup = tuple[str, ...]
"""Roles that cannot be distinguished on a batch: one role, or several."""


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


def group_name(group: RoleGroup, targets: str, language: str) -> str:
    """ "copy", or "copy = alignment here". targets: of the batch."""
    names = " = ".join(say(f"roles.{sentence_of(role, targets)}", language) for role in group)
    return names if len(group) == 1 else say("roles.one_role", language, roles=names)


def score_text(sentence: str, found: GroupScore, targets: str, language: str) -> str:
    """A group with its score, and its chance level if there is one.

    sentence: "score", or "nearest" for a role below its threshold.
    """
    facts = {
        "role": group_name(found.group, targets, language),
        "score": short_number(found.score),
        "chance": short_number(found.chance),
    }
    return say(
        f"roles.{sentence}{'' if math.isnan(found.chance) else '_chance'}", language, **facts
    )
