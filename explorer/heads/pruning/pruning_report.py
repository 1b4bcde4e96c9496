"""Pruning curves in a file: read, written and resumed."""

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from explorer.core import json_values
from explorer.core.csv_text import csv_bytes
from explorer.core.errors import PruningError
from explorer.core.files import read_bytes, write_atomically
from explorer.core.sites import SITES

if TYPE_CHECKING:
    import pandas as pd

ORDERS = ("importance", "confidence", "contribution", "greedy", "random")
"""Orders of removal; see `pruning_study.pruning_curve`."""

FORMAT_VERSION = 2
LARGEST_FILE = 4 * 2**20
"""Bytes. A larger file is not opened."""

LOSS_COLUMNS = ("loss", "low", "high", "change_low", "change_high")
"""Columns of a table: one for each field of a `PruningPoint` after the number of heads."""

_BLEU_COLUMNS = ("bleu", "bleu_low", "bleu_high", "bleu_change_low", "bleu_change_high")

_HEAD = re.compile(rf"({'|'.join(SITES)})\.\d{{1,4}}\.\d{{1,4}}")
"""A head as `Head` is written."""

_TEXTS = ("model", "digest", "batch", "targets", "sentences_digest")
_NUMBERS = ("sentences", "heads", "seed", "draws")


@dataclass(frozen=True, slots=True)
class PruningPoint:
    """One measurement with `heads_left` heads: loss in nats a token, or BLEU from 0 to 100.

    low, high: 95 % bootstrap over sentences, NaN for a single one; for random orders the smallest
        and the largest.
    change_low, change_high: of the change from all heads, 95 % paired bootstrap over sentences, NaN
        for a single one and for random orders.
    """

    heads_left: int
    value: float
    low: float
    high: float
    change_low: float = math.nan
    change_high: float = math.nan

    @property
    def has_interval(self) -> bool:
        return math.isfinite(self.low) and math.isfinite(self.high)

    @property
    def has_change(self) -> bool:
        return math.isfinite(self.change_low) and math.isfinite(self.change_high)


@dataclass(frozen=True, slots=True)
class PruningCurve:
    """One order of removal, as far as it was measured.

    removed: the heads in this order, as far as it is known; empty for "random".
    """

    order: str
    removed: tuple[str, ...] = ()
    losses: tuple[PruningPoint, ...] = ()
    bleu: tuple[PruningPoint, ...] = ()


@dataclass(frozen=True, slots=True)
class PruningReport:
    """facts: model, digest (its weights), batch (its name), targets (see `EvaluationBatch`),
    sentences_digest, and the numbers of sentences, heads, random draws and their seed.
    points: at which numbers of heads left the losses are measured, all first; bleu_points: BLEU.
    """

    facts: Mapping[str, Any]
    points: tuple[int, ...]
    bleu_points: tuple[int, ...]
    curves: tuple[PruningCurve, ...]

    @property
    def complete(self) -> bool:
        return all(map(self.has_all, self.curves))

    def has_all(self, curve: PruningCurve) -> bool:
        """Whether every point of a curve was measured."""
        return len(curve.losses) == len(self.points) and len(curve.bleu) == len(self.bleu_points)

    def curve(self, order: str) -> PruningCurve:
        """The curve of this order; an empty one if there is none."""
        return next((one for one in self.curves if one.order == order), PruningCurve(order))

    def with_curve(self, curve: PruningCurve) -> "PruningReport":
        """The report with this curve replacing the one of its order."""
        curves = {one.order: one for one in self.curves} | {curve.order: curve}
        return replace(self, curves=tuple(curves[name] for name in ORDERS if name in curves))

    def with_orders(self, orders: Sequence[str]) -> "PruningReport":
        """The report with a curve for each of these orders; a new curve is empty."""
        report = self
        for order in orders:
            report = report.with_curve(report.curve(order))
        return report

    def table(self) -> "pd.DataFrame":
        """One row for each order and number of heads.

        Columns: order, heads_left, loss, low, high, change_low, change_high; for a translator the
        same of bleu, NaN where it was not measured; removed, the heads removed since the row
        before.
        """
        import pandas as pd

        rows = []
        for curve in self.curves:
            bleu = {point.heads_left: point for point in curve.bleu}
            for point in curve.losses:
                row: dict[str, Any] = {"order": curve.order, "heads_left": point.heads_left}
                row |= dict(zip(LOSS_COLUMNS, astuple(point)[1:], strict=True))
                if found := bleu.get(point.heads_left):
                    row |= dict(zip(_BLEU_COLUMNS, astuple(found)[1:], strict=True))
                rows.append(row | {"removed": " ".join(self.removed_at(curve, point.heads_left))})
        columns = ["order", "heads_left", *LOSS_COLUMNS]
        columns += _BLEU_COLUMNS if self.bleu_points else []
        return pd.DataFrame(rows, columns=[*columns, "removed"])

    def removed_at(self, curve: PruningCurve, heads_left: int) -> tuple[str, ...]:
        """The heads removed between the previous point and the point with `heads_left` heads."""
        heads = int(self.facts["heads"])
        before = [stay for stay in self.points if stay > heads_left]
        return curve.removed[heads - before[-1] : heads - heads_left] if before else ()

    def to_csv(self) -> bytes:
        return csv_bytes(self.table())

    def to_json(self) -> str:
        """The report as JSON; `load` reads it back."""
        written = {
            "pruning": FORMAT_VERSION,
            "facts": dict(self.facts),
            "points": self.points,
            "bleu_points": self.bleu_points,
            "curves": [
                {
                    "order": curve.order,
                    "removed": curve.removed,
                    "losses": [_row(point) for point in curve.losses],
                    "bleu": [_row(point) for point in curve.bleu],
                }
                for curve in self.curves
            ],
        }
        return json.dumps(written, ensure_ascii=False, allow_nan=False)

    def save(self, path: Path) -> None:
        """Write the report as JSON, or as CSV to a path ending in ".csv". Raises `FileError`."""
        csv = path.suffix == ".csv"
        write_atomically(path, self.to_csv() if csv else self.to_json().encode())

    @classmethod
    def load(cls, path: Path) -> "PruningReport":
        """The curves in a file. Raises `PruningError` if it has none, and `FileError` if it cannot
        be read."""
        data = read_bytes(path, LARGEST_FILE)
        try:
            return _parsed(json_values.parse_object(data))
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise PruningError("no_pruning_report", name=path.name) from error


def _row(point: PruningPoint) -> list[float | None]:
    ends = astuple(point)[2:]
    return [point.heads_left, point.value, *(end if math.isfinite(end) else None for end in ends)]


def _parsed(read: dict[str, Any]) -> PruningReport:
    """Report from parsed JSON.

    Raises `ValueError`, `TypeError`, `KeyError` or `AttributeError` if it is malformed.
    """
    if read["pruning"] != FORMAT_VERSION:
        raise ValueError
    facts: dict[str, Any] = {name: str(read["facts"][name]) for name in _TEXTS}
    facts |= {name: json_values.whole_number(read["facts"][name]) for name in _NUMBERS}
    points, bleu_points = (
        tuple(map(json_values.whole_number, read[name])) for name in ("points", "bleu_points")
    )
    report = PruningReport(facts, points, bleu_points, ())
    for curve in read["curves"]:
        report = report.with_curve(_parsed_curve(curve, points, bleu_points))
    if not points or len(report.curves) != len(read["curves"]):
        raise ValueError
    return report


def _parsed_curve(
    read: dict[str, Any], points: Sequence[int], bleu_points: Sequence[int]
) -> PruningCurve:
    losses, bleu = (
        tuple(map(_parsed_point, read["losses"])),
        tuple(map(_parsed_point, read["bleu"])),
    )
    for found, wanted in ((losses, points), (bleu, bleu_points)):
        if [point.heads_left for point in found] != list(wanted[: len(found)]):
            raise ValueError
    removed = tuple(map(str, read["removed"]))
    if read["order"] not in ORDERS or not all(map(_HEAD.fullmatch, removed)):
        raise ValueError
    return PruningCurve(read["order"], removed, losses, bleu)


def _parsed_point(read: Sequence[Any]) -> PruningPoint:
    heads_left, value, *ends = read
    low, high, change_low, change_high = (math.nan if end is None else float(end) for end in ends)
    if any(
        math.isnan(one) != math.isnan(other)
        for one, other in ((low, high), (change_low, change_high))
    ):
        raise ValueError
    stay = json_values.whole_number(heads_left)
    return PruningPoint(stay, float(value), low, high, change_low, change_high)
