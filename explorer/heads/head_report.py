"""Head reports: what was measured of every head, as tables that can be saved and shown."""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pandas as pd

from explorer.core import json_values
from explorer.core.csv_text import csv_text
from explorer.core.errors import HeadReportError
from explorer.core.files import as_path, read_text, replace_atomically
from explorer.core.i18n import say
from explorer.core.sites import Head
from explorer.heads.head_report_validation import KEYS, check_facts, check_heads, check_roles

FORMAT_VERSION = 1
LARGEST_FILE = 8 * 2**20
"""Bytes. A larger file is not opened."""


@dataclass(frozen=True, slots=True, eq=False)
class HeadReport:
    """Every head of a model, measured on an evaluation batch.

    heads: one row a head: site, layer, head, and for every metric x its mean over the batch
        with the ends of its bootstrap interval, x, x_low, x_high; NaN where it has no meaning.
    roles: one row a head and role: site, layer, head, role, score, low, high, threshold,
        queries, sentences, holds, doubt (why it cannot hold; see `roles.Doubt`).
    facts: JSON values: the batch (its name, size and where its targets are from), the model,
        its digest, and `confounds`: roles that cannot be distinguished on this batch.
    """

    heads: pd.DataFrame
    roles: pd.DataFrame
    facts: Mapping[str, Any]

    def __post_init__(self) -> None:
        object.__setattr__(self, "facts", MappingProxyType(dict(self.facts)))

    def __repr__(self) -> str:
        batch = f"{self.facts.get('batch')} ({self.facts.get('sentences')} sentences)"
        return f"HeadReport({len(self.heads)} heads, {len(self.metrics)} metrics on {batch})"

    @property
    def metrics(self) -> tuple[str, ...]:
        """The measured columns of `heads`."""
        names = set(self.heads.columns)
        return tuple(n for n in self.heads.columns if {f"{n}_low", f"{n}_high"} <= names)

    def roles_of(self, site: str, layer: int, head: int) -> tuple[str, ...]:
        """The roles a head has, in the order of `ROLES`; empty when it has no clear role."""
        own = self._rows(self.roles, Head(site, layer, head))
        return tuple(own.role[own.holds.astype(bool)])

    def confounded(self, site: str, role: str) -> tuple[str, ...]:
        """The roles that cannot be distinguished from `role` on this batch."""
        pairs = [set(pair["roles"]) for pair in self.facts["confounds"] if pair["site"] == site]
        return tuple(other for pair in pairs if role in pair for other in pair - {role})

    def summary(self, language: str = "en") -> str:
        """The batch, and the table of heads with their roles, without intervals, as text."""
        ends = {f"{name}{end}" for name in self.metrics for end in ("_low", "_high")}
        shown = self.heads.drop(columns=list(ends))
        named = [
            ", ".join(say(f"roles.{role}", language) for role in self.roles_of(*head))
            for head in zip(shown.site, shown.layer, shown["head"], strict=True)
        ]
        shown = shown.assign(roles=[names or say("roles.none", language) for names in named])
        text = shown.to_string(index=False, float_format="%.3g", na_rep="–")
        batch = f"{self.facts['batch']} ({self.facts['sentences']})"
        targets = say(f"roles.targets_{self.facts['targets']}", language)
        return f"{batch}: {targets}\n\n{text}"

    def with_columns(self, more: pd.DataFrame, **facts: Any) -> "HeadReport":
        """This report with the columns of `more`, a table with one row a head, and more facts."""
        new = [name for name in more.columns if name not in KEYS]
        others = self.heads.drop(columns=[name for name in new if name in self.heads.columns])
        heads = others.merge(more, on=KEYS, how="left", validate="one_to_one")
        return HeadReport(heads, self.roles, {**self.facts, **facts})

    def to_csv(self, path: str | Path | None = None) -> str:
        """The table of heads as CSV; also written to `path` if given. Raises `FileError`."""
        text = csv_text(self.heads)
        if path is not None:
            replace_atomically(as_path(path), text.encode())
        return text

    def save(self, path: str | Path) -> None:
        """Write one JSON file that `load` reads back. Raises `FileError`."""
        replace_atomically(as_path(path), self.to_json().encode())

    def to_json(self) -> str:
        """The contents of the file: tables by column; NaN and infinities as null."""
        tables = {"heads": _columns(self.heads), "roles": _columns(self.roles)}
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
            if content["version"] != FORMAT_VERSION:
                raise ValueError(content["version"])
            heads, roles = (_frame(content[table]) for table in ("heads", "roles"))
            facts = dict(content["facts"])
            check_heads(heads)
            check_roles(roles, heads)
            check_facts(facts, heads)
            return cls(heads, roles, facts)
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise HeadReportError("no_head_report", name=name) from error

    @staticmethod
    def _rows(table: pd.DataFrame, head: Head) -> pd.DataFrame:
        own = (table.site == head.site) & (table.layer == head.layer) & (table["head"] == head.head)
        return table[own]


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
