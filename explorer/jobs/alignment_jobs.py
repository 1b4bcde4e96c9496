"""Measurements of the alignment error rates of a model's heads on a file of gold links, and their
reports.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from explorer.core.errors import AlignmentError, MeasurementError
from explorer.core.vocabulary import shorten
from explorer.data.delimited import table
from explorer.heads.alignment.aer_report import AlignmentReport
from explorer.heads.alignment.gold_file import AlignmentFile, fits, refuse_foreign_links
from explorer.heads.reports.report_files import (
    REPORT_FILES,
    Stored,
    measured_folder,
    newest_first,
    stored,
)
from explorer.jobs.measurement import MeasuredSentences, Measurement, QueuedMeasurement, submit
from explorer.jobs.measurement_jobs import MOST_CHARACTERS, MOST_SENTENCES

if TYPE_CHECKING:
    from explorer.model.measurable import MeasurableModel

LINKS = ("1", "2", "3")
"""The columns of texts and links."""

WITH_TOKENS = (*LINKS, "4", "5")
"""The columns of texts, links and tokens."""


@dataclass(frozen=True, slots=True)
class GoldTable:
    """A file of pairs with links, and maybe tokens. columns: `LINKS` or `WITH_TOKENS`, or the
    headings of these columns."""

    name: str
    data: bytes
    columns: tuple[str, ...]

    @classmethod
    def of(cls, name: str, data: bytes) -> "GoldTable":
        """The table in `data`, the bytes of a file called `name`. Raises `PairsError`.

        It has columns of tokens if any row has them, so that all rows are counted alike. A first
        row without a digit in the column of links has headings.
        """
        name = shorten(name)
        rows = list(table(data, name))
        columns = WITH_TOKENS if any(len(row) >= len(WITH_TOKENS) for row in rows) else LINKS
        return cls(name, data, _headings(rows, len(columns)) or columns)

    @property
    def pairs(self) -> int:
        """Number of pairs."""
        headings = self.columns not in (LINKS, WITH_TOKENS)
        return sum(1 for _ in table(self.data, self.name)) - headings

    @property
    def has_tokens(self) -> bool:
        """Whether there are columns of tokens."""
        return len(self.columns) == len(WITH_TOKENS)


def _headings(rows: Sequence[Sequence[str]], count: int) -> tuple[str, ...]:
    """The headings of the first `count` columns.

    Empty if the first row is a pair, or if its headings cannot be joined by commas.
    """
    first = tuple(cell.strip() for cell in rows[0][:count]) if rows else ()
    if len({*first} - {""}) < count or "," in "".join(first):
        return ()
    return () if re.search(r"\d", first[len(LINKS) - 1]) else first


StoredAlignment: TypeAlias = Stored[AlignmentReport]


def check(model: "MeasurableModel", gold: GoldTable) -> AlignmentFile:
    """The checked table. Raises `ExplorerError` on a table that the process would refuse."""
    given = AlignmentFile.parse(gold.data, gold.name, gold.columns)
    characters = sum(len(pair.source) + len(pair.target) for pair in given.pairs)
    if len(given.pairs) > MOST_SENTENCES or characters > MOST_CHARACTERS:
        raise MeasurementError(
            "measure_too_large", limit=MOST_SENTENCES, characters=MOST_CHARACTERS
        )
    assert given.gold is not None
    refuse_foreign_links(given.pairs, given.tokens, given.gold)
    fitting = [fits(model, pair, row) for row, pair in enumerate(given.pairs, start=1)]
    if not any(fitting):
        raise AlignmentError("all_too_long", count=len(given.pairs), name=model.name)
    return given


def start(checkpoint: Path | bytes, name: str, gold: GoldTable, digest: str) -> QueuedMeasurement:
    """Start or queue an alignment. If the same one is active or done, return its job instead.

    `checkpoint`, `name` and errors as in `measurement_jobs.start`.
    """
    number = sha256(repr((gold.name, gold.columns)).encode() + gold.data).hexdigest()[:16]
    job = Measurement.of("alignment", digest, number)
    queued = QueuedMeasurement(job, name, MeasuredSentences(gold.name, gold.pairs))
    submit(queued, checkpoint, partial(_command, gold))
    return queued


def stored_alignments(digest: str) -> list[StoredAlignment]:
    """All reports on the model with this digest, the newest first."""
    folder = measured_folder(digest, "alignment")
    return stored(AlignmentReport.load, newest_first(folder, REPORT_FILES["alignment"]))


def _command(gold: GoldTable, folder: Path, checkpoint: Path, report: Path) -> Sequence[str]:
    """The arguments that align the pairs."""
    given = folder / "pairs.tsv"
    given.write_bytes(gold.data)
    return [
        "align",
        str(checkpoint),
        f"--pairs={given}",
        f"--columns={','.join(gold.columns)}",
        f"--called={gold.name}",
        f"--report={report}",
    ]
