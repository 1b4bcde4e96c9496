"""The alignment error rates of all heads of a model on one file of gold links."""

import json
import math
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from explorer.core.alignment import TIMINGS
from explorer.core.csv_text import csv_bytes
from explorer.core.errors import AlignmentError
from explorer.core.files import write_atomically
from explorer.heads.alignment.gold_file import UNITS

if TYPE_CHECKING:
    import pandas as pd

SHORT, MEDIUM = 10, 20
"""Source tokens: the longest short and the longest medium sentence."""

LENGTHS = (f"1–{SHORT}", f"{SHORT + 1}–{MEDIUM}", f"{MEDIUM + 1}+")
"""Names of the classes of sentences by their source tokens."""

_MOST_RATES = 100_000
"""Most rates in a report that is read: layers × heads × timings."""


@dataclass(frozen=True, slots=True)
class AlignmentMethod:
    """Source of the links: one head, or the mean of a layer, with a timing.

    layer: of the decoder; None for the diagonal, which uses no attention.
    head: of the layer, or None for the mean of its heads.
    timing: "prediction", the row that predicts a token, or "input", the row where it is fed in.
    """

    layer: int | None
    head: int | None
    timing: str

    @property
    def name(self) -> str:
        if self.layer is None:
            return "diagonal"
        return f"L{self.layer} {'mean' if self.head is None else f'H{self.head}'}"


DIAGONAL = AlignmentMethod(None, None, "")
"""The baseline, see `diagonal_links`."""


@dataclass(frozen=True, slots=True)
class ErrorRate:
    """Alignment error rate of a corpus, 0 (best) to 1, NaN without links.

    low, high: 95 % bootstrap interval over sentences.
    by_length: of each class of `LENGTHS`.
    """

    value: float
    low: float
    high: float
    by_length: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class AlignmentReport:
    """Error rates of all methods on one file.

    name: of the pairs. unit: of the links, one of `gold_file.UNITS`.
    pairs: number in the file; skipped: number too long for the model; unlinked: number of the
    others without links, which the rates do not count.
    rates: of each method, the lowest first, including `DIAGONAL`.
    """

    name: str
    unit: str
    pairs: int
    skipped: int
    rates: tuple[tuple[AlignmentMethod, ErrorRate], ...]
    unlinked: int = 0

    @property
    def diagonal_wins(self) -> bool:
        """Whether no method is better than the diagonal."""
        return bool(self.rates) and self.rates[0][0] == DIAGONAL

    def table(self) -> "pd.DataFrame":
        """One row a method, in the order of `rates`: its name, timing and numbers."""
        import pandas as pd

        rows = [
            {
                "head": method.name,
                "row": method.timing,
                "error_rate": rate.value,
                "low": rate.low,
                "high": rate.high,
                **dict(zip(LENGTHS, rate.by_length, strict=True)),
            }
            for method, rate in self.rates
        ]
        return pd.DataFrame(rows)

    def to_csv(self) -> bytes:
        """The table for spreadsheets, rates from 0 to 1."""
        return csv_bytes(self.table())

    def to_json(self) -> str:
        """The report as JSON; `load` reads it back."""
        rates = [
            {**asdict(method), "rate": [_finite(one) for one in (rate.value, rate.low, rate.high)]}
            | {"by_length": [_finite(one) for one in rate.by_length]}
            for method, rate in self.rates
        ]
        facts = {
            **{"name": self.name, "unit": self.unit, "pairs": self.pairs},
            **{"skipped": self.skipped, "unlinked": self.unlinked},
        }
        return json.dumps({**facts, "rates": rates}, ensure_ascii=False, allow_nan=False)

    def save(self, path: Path) -> None:
        """Write the report as JSON, or as CSV to a path ending in ".csv". Raises `FileError`."""
        csv = path.suffix == ".csv"
        write_atomically(path, self.to_csv() if csv else self.to_json().encode())

    @classmethod
    def load(cls, path: Path) -> "AlignmentReport":
        """The report in a file. Raises `AlignmentError` if the file holds none."""
        try:
            read = json.loads(path.read_text(encoding="utf-8"))
            rates = tuple(map(_read_rate, read["rates"][:_MOST_RATES]))
            facts = str(read["name"]), read["unit"], int(read["pairs"]), int(read["skipped"])
            if read["unit"] not in UNITS or DIAGONAL not in dict(rates):
                raise ValueError
            return cls(*facts, rates, int(read.get("unlinked", 0)))  # older reports lack it
        except (OSError, ValueError, TypeError, KeyError, RecursionError) as error:
            raise AlignmentError("no_alignment_report", name=path.name) from error


def _read_rate(read: dict[str, Any]) -> tuple[AlignmentMethod, ErrorRate]:
    layer, head = (None if read[name] is None else int(read[name]) for name in ("layer", "head"))
    value, low, high = map(_number, read["rate"])
    by_length = tuple(map(_number, read["by_length"]))
    method = AlignmentMethod(layer, head, read["timing"])
    if len(by_length) != len(LENGTHS) or (method.timing not in TIMINGS and method != DIAGONAL):
        raise ValueError
    return method, ErrorRate(value, low, high, by_length)


def _finite(number: float) -> float | None:
    return number if math.isfinite(number) else None


def _number(read: float | None) -> float:
    number = math.nan if read is None else float(read)
    if number < 0 or number > 1:
        raise ValueError
    return number
