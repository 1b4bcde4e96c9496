"""Head reports: the measurements of every head, as tables that can be saved and shown."""

import json
import math
import re
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from explorer.core import json_values
from explorer.core.csv_text import csv_text
from explorer.core.errors import HeadReportError
from explorer.core.files import as_path, read_text, replace_atomically
from explorer.core.i18n import say
from explorer.core.sites import Head
from explorer.heads.reports.head_report_validation import (
    KEYS,
    check_facts,
    check_heads,
    check_offsets,
    check_roles,
)
from explorer.heads.roles.role_names import (
    GroupScore,
    RoleGroup,
    group_name,
    joined_roles,
    score_text,
)
from explorer.heads.roles.roles import NEAREST_EFFECT, ROLES

FORMAT_VERSION = 3
_TABLES = ("heads", "roles", "offsets")
_REMOVED_REPORTS = {"pruning": "pruning", "rates": "alignment"}
"""A name in the file of a kind of report of earlier versions → the kind."""

_REMOVED_COLUMNS = re.compile("zero_bleu.*|(zero|mean|only)_.*_(p|bound|most)")
"""Columns of `heads` that earlier versions measured."""

LARGEST_FILE = 8 * 2**20
"""Bytes. A larger file is not opened."""

REMOVED_ON = 256
"""Default number of sentences on which each head is removed in turn."""

_MOST_ROWS = 60  # of the table in a notebook

RoleRow = Mapping[Hashable, Any]
"""A row of the table of roles, by column."""


@dataclass(frozen=True, slots=True, eq=False)
class HeadReport:
    """Every head of a model, measured on an evaluation batch.

    heads: one row a head: site, layer, head, and for every metric x its mean over the batch
        with the ends of its interval, x, x_low, x_high; NaN where it has no meaning.
    roles: one row a head and role: site, layer, head, role, score, low, high, chance (the score
        under shuffled keys, see `shuffled_keys`; NaN where there is none), effect (score − chance)
        with effect_low and effect_high, threshold, queries, sentences, holds (the lower end of
        the score is at or above the threshold, and the effect's is above 0), doubt (why it cannot
        hold; see `roles.Doubt`).
    offsets: one row a head and offset: site, layer, head, offset (key − query), share (of the
        queries that may attend there, those whose largest weight does), low, high, chance, queries.
    facts: JSON values: the batch (its name, size and where its targets are from), the model,
        its digest, `linked` (the batch of the alignment, where that is another), and `confounds`:
        roles that cannot be distinguished on this batch.
    """

    heads: pd.DataFrame
    roles: pd.DataFrame
    offsets: pd.DataFrame
    facts: Mapping[str, Any]
    _by_head: Mapping[Head, Sequence[RoleRow]] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "facts", MappingProxyType(dict(self.facts)))
        by_head: dict[Head, list[RoleRow]] = {}
        for row in self.roles.to_dict("records"):
            key = Head(str(row["site"]), int(row["layer"]), int(row["head"]))
            by_head.setdefault(key, []).append(row)
        object.__setattr__(self, "_by_head", by_head)

    def __repr__(self) -> str:
        batch = f"{self.facts.get('batch')} ({self.facts.get('sentences')} sentences)"
        return f"HeadReport({len(self.heads)} heads, {len(self.metrics)} metrics on {batch})"

    def _repr_html_(self) -> str:
        """The table of heads with their roles, without intervals, for a notebook."""
        return self._without_intervals("en").to_html(
            index=False, float_format="{:.3g}".format, na_rep="–", max_rows=_MOST_ROWS
        )

    @property
    def metrics(self) -> tuple[str, ...]:
        """The measured columns of `heads`."""
        names = set(self.heads.columns)
        return tuple(n for n in self.heads.columns if {f"{n}_low", f"{n}_high"} <= names)

    def roles_of(self, site: str, layer: int, head: int) -> tuple[str, ...]:
        """The roles a head has, in the order of `ROLES`; empty when it has no clear role."""
        return tuple(str(row["role"]) for row in self.role_rows(site, layer, head) if row["holds"])

    def role_rows(self, site: str, layer: int, head: int) -> Sequence[RoleRow]:
        """The rows of `roles` of one head."""
        return self._by_head.get(Head(site, layer, head), ())

    def confounded(self, site: str, role: str) -> tuple[str, ...]:
        """The roles that cannot be distinguished from `role` on this batch."""
        pairs = [set(pair["roles"]) for pair in self.facts["confounds"] if pair["site"] == site]
        return tuple(other for pair in pairs if role in pair for other in pair - {role})

    def has_role(self) -> NDArray[np.bool_]:
        """Whether each head, in the order of `heads`, has a role."""
        keys = zip(self.heads.site, self.heads.layer, self.heads["head"], strict=True)
        return np.array([bool(self.roles_of(*key)) for key in keys], dtype=np.bool_)

    def role_groups(self, site: str) -> tuple[RoleGroup, ...]:
        """All roles, in the order of `ROLES`; those that cannot be distinguished are one group."""
        pairs = [pair["roles"] for pair in self.facts["confounds"] if pair["site"] == site]
        return joined_roles(tuple(ROLES), pairs)

    def held_groups(self, site: str, layer: int, head: int) -> tuple[RoleGroup, ...]:
        """The groups with a role that the head has; empty when it has no clear role."""
        held = set(self.roles_of(site, layer, head))
        return tuple(group for group in self.role_groups(site) if held & set(group))

    def held_scores(self, site: str, layer: int, head: int) -> tuple[GroupScore, ...]:
        """Each of `held_groups` with score and chance of its first role that holds."""
        rows = self.role_rows(site, layer, head)
        held = {str(row["role"]): row for row in rows if row["holds"]}
        groups = self.held_groups(site, layer, head)
        first = [next(held[role] for role in group if role in held) for group in groups]
        return tuple(map(_group_score, groups, first))

    def nearest_role(self, site: str, layer: int, head: int) -> GroupScore | None:
        """The role with the score most above chance, for a head without a role.

        None if no effect is at least `NEAREST_EFFECT` at the lower end of its interval.
        """
        rows = self.role_rows(site, layer, head)
        near = [row for row in rows if not row["doubt"] and row["effect_low"] >= NEAREST_EFFECT]
        if not near or any(row["holds"] for row in rows):
            return None
        best = max(near, key=lambda row: float(row["effect"]))
        group = next(one for one in self.role_groups(site) if best["role"] in one)
        return _group_score(group, best)

    def role_text(self, site: str, layer: int, head: int, language: str = "en") -> str:
        """As `role_caption`; the nearest role of a head that has none is given with its score."""
        if nearest := self.nearest_role(site, layer, head):
            return score_text(nearest, self.facts["targets"], language, is_partly=True)
        return self.role_caption(site, layer, head, language)

    def role_caption(self, site: str, layer: int, head: int, language: str = "en") -> str:
        """The roles of a head, else the nearest one, in two or three words: "previous word",
        "partly previous word", "no clear role"."""
        targets = self.facts["targets"]
        if held := self.held_groups(site, layer, head):
            names = (group_name(group, targets, language) for group in held)
            return say("heads.comma", language).join(names)
        if nearest := self.nearest_role(site, layer, head):
            name = group_name(nearest.group, targets, language)
            return say("roles.partly", language, role=name)
        return say("roles.none", language)

    def summary(self, language: str = "en") -> str:
        """The batch, and the table of heads with their roles, without intervals, as text."""
        shown = self._without_intervals(language)
        text = shown.to_string(index=False, float_format="%.3g", na_rep="–")
        batch = f"{self.facts['batch']} ({self.facts['sentences']})"
        targets = say(f"roles.targets_{self.facts['targets']}", language)
        return f"{batch}: {targets}\n\n{text}"

    def _without_intervals(self, language: str) -> pd.DataFrame:
        ends = [f"{name}{end}" for name in self.metrics for end in ("_low", "_high")]
        return self.heads.drop(columns=ends).assign(roles=self._role_texts(language))

    def with_columns(self, more: pd.DataFrame, **facts: Any) -> "HeadReport":
        """This report with the columns of `more`, a table with one row a head, and more facts."""
        new = [name for name in more.columns if name not in KEYS]
        others = self.heads.drop(columns=[name for name in new if name in self.heads.columns])
        heads = others.merge(more, on=KEYS, how="left", validate="one_to_one")
        return HeadReport(heads, self.roles, self.offsets, {**self.facts, **facts})

    def _role_texts(self, language: str) -> list[str]:
        """The `role_text` of each head, in the order of `heads`."""
        keys = zip(self.heads.site, self.heads.layer, self.heads["head"], strict=True)
        return [self.role_text(*key, language) for key in keys]

    def to_csv(
        self,
        path: str | Path | None = None,
        language: str = "en",
        table: Literal["heads", "roles"] = "heads",
    ) -> str:
        """One table as CSV, also written to `path` if given. Raises `FileError`.

        table: "heads" has the column role, see `role_text`.
        """
        text = csv_text(self.roles if table == "roles" else self._heads_with_roles(language))
        if path is not None:
            replace_atomically(as_path(path), text.encode())
        return text

    def _heads_with_roles(self, language: str) -> pd.DataFrame:
        others = [name for name in self.heads.columns if name not in (*KEYS, "role")]
        heads = self.heads.assign(role=self._role_texts(language))
        return heads[[*KEYS, "role", *others]]

    def save(self, path: str | Path) -> None:
        """Write one JSON file that `load` reads back. Raises `FileError`."""
        replace_atomically(as_path(path), self.to_json().encode())

    def to_json(self) -> str:
        """The contents of the file: tables by column; NaN and infinities as null."""
        tables = {name: _columns(getattr(self, name)) for name in _TABLES}
        content = {"version": FORMAT_VERSION, "facts": dict(self.facts), **tables}
        return json.dumps(content, ensure_ascii=False, allow_nan=False)

    @classmethod
    def load(cls, path: str | Path) -> "HeadReport":
        """The report in a file. Raises `FileError`, `HeadReportError`. Runs no code."""
        path = as_path(path)
        return cls.from_json(read_text(path, LARGEST_FILE), path.name)

    @classmethod
    def from_json(cls, text: str, name: str = "report") -> "HeadReport":
        """The report in the contents of a file called `name`; see `load`."""
        try:
            content = json_values.parse_object(text)
            for mark, kind in _REMOVED_REPORTS.items():
                if mark in content:
                    raise HeadReportError(f"removed_report_{kind}", name=name)
            version = content["version"]
            if version != FORMAT_VERSION or type(version) is not int:
                old = type(version) is int and 0 < version < FORMAT_VERSION
                raise HeadReportError("old_head_report" if old else "no_head_report", name=name)
            heads, roles, offsets = (_frame(content[table]) for table in _TABLES)
            heads = heads[[name for name in heads if not _REMOVED_COLUMNS.fullmatch(str(name))]]
            facts = dict(content["facts"])
            check_heads(heads)
            check_roles(roles, heads)
            check_offsets(offsets, heads)
            check_facts(facts, heads)
            return cls(heads, roles, offsets, facts)
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise HeadReportError("no_head_report", name=name) from error


def _group_score(group: RoleGroup, row: RoleRow) -> GroupScore:
    return GroupScore(group, float(row["score"]), float(row["chance"]))


def _columns(table: pd.DataFrame) -> dict[str, list[Any]]:
    return {str(name): [_plain(value) for value in table[name].tolist()] for name in table}


def _plain(value: Any) -> Any:
    if isinstance(value, float):
        # Seven digits are far more precise than the intervals, and keep the file small.
        return float(f"{value:.7g}") if math.isfinite(value) else None
    return value


def _frame(columns: dict[str, list[Any]]) -> pd.DataFrame:
    """The table of `columns`; null becomes NaN in a column of numbers."""
    if not all(isinstance(column, list) for column in columns.values()):
        raise ValueError("no columns")
    frame = pd.DataFrame(columns)
    empty = [name for name in frame if name not in ("site", "role", "doubt")]
    return frame.astype({name: float for name in empty if frame[name].isna().any()})
