"""Parallel corpora: sentences and their translations, from two columns of a file.

Every row is counted as kept, or as left out for one of four reasons. The held-out parts are
chosen by a hash of the normalised source alone, so that all translations of a sentence are in one
part, whatever the order of the rows. Of few sources none is held out: each is needed to learn from.
"""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Literal

from explorer.core.errors import PairsError
from explorer.core.files import as_path, opened, size_of
from explorer.core.number_format import typed_number
from explorer.core.sentencepiece_vocabulary import tidy
from explorer.core.vocabulary import shorten
from explorer.data.delimited import side_by_side, table, texts

LARGEST_PAIRS = 64 * 2**20
"""Bytes. A larger file is refused."""

FEWEST_PAIRS = 30
FEWEST_SOURCES = 20
"""Distinct sources."""

HELD_OUT_FROM = 100
"""Distinct sources. With fewer, all pairs are for training."""

_PAIRS_OF_FEW_SOURCES = 100_000  # so many pairs must have `FEWEST_SOURCES` distinct sources

HELD_OUT = 2000
"""Distinct sources in each of the two held-out parts, but at most one in twenty."""

Part = Literal["training", "dev", "test"]
HELD_OUT_PARTS: tuple[Part, ...] = ("dev", "test")


@dataclass(frozen=True, slots=True)
class Pair:
    """A sentence and one translation of it."""

    source: str
    target: str


@dataclass(frozen=True, slots=True)
class RowCounts:
    """How many rows of a file are used, and how many are not, by reason."""

    rows: int
    kept: int  # distinct pairs
    incomplete: int  # too few columns
    blank: int  # one side empty
    duplicate: int  # source and target as in an earlier row


@dataclass(frozen=True)
class ParallelCorpus:
    """The distinct pairs of a file, and the SHA-256 by which a resumed training checks that it
    is the same file."""

    pairs: tuple[Pair, ...]
    counts: RowCounts
    digest: str

    @cached_property
    def _parts(self) -> dict[str, Part]:
        return held_out_parts(pair.source for pair in self.pairs)

    @property
    def holds_out(self) -> bool:
        """Whether some pairs are held out."""
        return bool(self._parts)

    def part(self, name: Part) -> tuple[Pair, ...]:
        """The pairs of one part."""
        return tuple(
            pair
            for pair in self.pairs
            if self._parts.get(normalised(pair.source), "training") == name
        )


def read_pairs(path: str | Path, columns: Sequence[str] = ("1", "2")) -> ParallelCorpus:
    """The pairs in a file of tab- or comma-separated columns, of JSON lines or TMX, UTF-8, or in
    the files of one folder whose names `path` ends with, "corpus.en,corpus.fr", line by line.

    columns: of source and target: numbers from 1 on, or names that the first row or the format has.
    Raises `FileError`, and `PairsError` on a file that is too large, has another encoding, or is
    not such a table.
    """
    path = as_path(path)
    return parse_pairs(read_table(path), path.name, columns)


def read_further_pairs(path: str | Path, columns: Sequence[str] = ("1", "2")) -> ParallelCorpus:
    """As `read_pairs`, for a file from which no part is held out: one pair is enough."""
    path = as_path(path)
    return _parse(read_table(path), shorten(path.name), columns, fewest=1, fewest_sources=1)


def read_rows(path: str | Path, columns: Sequence[str] = ("1", "2")) -> tuple[Pair, ...]:
    """The pairs of all rows in the order of the file, duplicates included; rows without a text in
    any column are skipped. Raises `PairsError` as `read_pairs` does, and on a row without both
    texts."""
    path = as_path(path)
    return parse_rows(read_table(path), path.name, columns)


def parse_rows(data: bytes, name: str, columns: Sequence[str]) -> tuple[Pair, ...]:
    """The pairs of all rows in the bytes of a file called `name`; see `read_rows`."""
    rows = _written_rows(data, shorten(name), columns)
    indices = _column_indices(rows, columns, shorten(name))
    pairs = []
    for number, row in enumerate(rows, start=1):
        texts = [tidy(row[index]) for index in indices if index < len(row)]
        if len(texts) < 2 or not all(texts):
            named = ", ".join(columns)
            raise PairsError("pair_missing", name=shorten(name), row=number, columns=named)
        pairs.append(Pair(*texts))
    return tuple(pairs)


def most_columns(data: bytes, name: str) -> int:
    """The columns of the widest row. Raises `PairsError` as `read_pairs` does."""
    return max(map(len, _written_rows(data, shorten(name), ("1",))), default=0)


def _written_rows(data: bytes, name: str, columns: Sequence[str]) -> Iterator[list[str]]:
    """The rows of a table with a text in some column: spreadsheets save blank ones at the end. The
    first has the headings if `columns` are names."""
    rows = table(data, name, named=not _numbers(columns))
    return (row for row in rows if any(map(str.strip, row)))


def parse_column(data: bytes, name: str, column: str) -> list[str]:
    """The cells of one column of the rows of `parse_rows`, "" for a shorter row.

    `column` and errors as in `read_pairs`.
    """
    rows = _written_rows(data, shorten(name), [column])
    index = _column_index(rows, column, shorten(name))
    return [row[index] if index < len(row) else "" for row in rows]


def read_sources(path: str | Path, column: str = "1") -> list[str]:
    """The texts of a file that are not blank. Raises `FileError` and `PairsError`.

    One a line or in the first column, see `delimited.texts`; or in another column, by number or
    heading as in `read_pairs`.
    """
    path = as_path(path)
    data = read_table(path)
    found = texts(data, path.name) if column == "1" else parse_column(data, path.name, column)
    return [text for text in map(tidy, found) if text]


def parse_pairs(data: bytes, name: str, columns: Sequence[str] = ("1", "2")) -> ParallelCorpus:
    """The pairs in the bytes of a file called `name`; see `read_pairs`."""
    return _parse(data, shorten(name), columns, FEWEST_PAIRS, FEWEST_SOURCES)


def _parse(
    data: bytes, name: str, columns: Sequence[str], fewest: int, fewest_sources: int
) -> ParallelCorpus:
    """The pairs in the bytes of a file called `name`; fewest, fewest_sources: distinct pairs and
    sources that it must have. Raises `PairsError`."""
    deque(table(data, name), maxlen=0)  # a damaged file is refused before its rows are kept
    rows = table(data, name, named=not _numbers(columns))
    indices = _column_indices(rows, columns, name)
    kept: dict[Pair, None] = {}
    sources: set[str] = set()  # distinct, counted up to `fewest_sources`
    number = incomplete = blank = 0
    for row in rows:
        number += 1
        if len(row) <= max(indices):
            incomplete += 1
            continue
        pair = Pair(*(tidy(row[index]) for index in indices))
        if not pair.source or not pair.target:
            blank += 1
            continue
        kept[pair] = None
        if len(sources) < fewest_sources:
            sources.add(normalised(pair.source))
            if len(kept) > _PAIRS_OF_FEW_SOURCES:
                _refuse_few_sources(sources, name, fewest_sources)
    counts = RowCounts(
        number, len(kept), incomplete, blank, number - incomplete - blank - len(kept)
    )
    if not number:
        raise PairsError("empty_table", name=name)
    if incomplete == number:
        raise PairsError("one_column", name=name, columns=", ".join(columns))
    if counts.kept < fewest:
        key = "too_few_pairs" if counts.kept else "no_whole_pair"
        raise PairsError(key, name=name, least=fewest, **asdict(counts))
    _refuse_few_sources(sources, name, fewest_sources)
    return ParallelCorpus(tuple(kept), counts, sha256(data).hexdigest())


def normalised(source: str) -> str:
    """The letters and digits of a source in lower case: sources that agree in them count as
    one sentence. A text without letters and digits is its own normalised form."""
    return "".join(filter(str.isalnum, source.casefold())) or source


def held_out_parts(texts: Iterable[str]) -> dict[str, Part]:
    """The held-out part of each normalised text that is in one; empty for few texts."""
    known = sorted(set(map(normalised, texts)), key=_hash)
    if len(known) < HELD_OUT_FROM:
        return {}
    size = min(HELD_OUT, len(known) // 20)
    parts: dict[str, Part] = dict.fromkeys(known[:size], "test")
    parts |= dict.fromkeys(known[size : 2 * size], "dev")
    return parts


def references(pairs: Iterable[Pair]) -> dict[str, list[str]]:
    """Each distinct source with all its translations, in the order of the hash."""
    found: dict[str, list[str]] = {}
    for pair in sorted(pairs, key=lambda pair: _hash(normalised(pair.source))):
        found.setdefault(pair.source, []).append(pair.target)
    return found


def separator_of(texts: Sequence[str]) -> str:
    """The separator of two sentences: a space, or nothing if most texts have no spaces."""
    spaced = sum(" " in text for text in texts)
    return " " if 2 * spaced >= len(texts) else ""


def _hash(text: str) -> bytes:
    return sha256(text.encode()).digest()


def read_table(path: Path) -> bytes:
    """The bytes of a file of columns, or of the files named as in `read_pairs`, side by side.

    Raises `FileError`, and `PairsError` on a larger file than `LARGEST_PAIRS`, and on files that
    are not parallel.
    """
    names = path.name.split(",")
    if len(names) > 1 and not path.exists():
        parts = [path.with_name(name) if name else path for name in names]
        return side_by_side({part.name: read_table(part) for part in parts if part != path})
    with opened(path) as file:
        if size_of(file) > LARGEST_PAIRS:
            size, limit = size_of(file) // 2**20, LARGEST_PAIRS // 2**20
            raise PairsError("pairs_too_large", name=path.name, size=size, limit=limit)
        return file.read()


def _refuse_few_sources(sources: set[str], name: str, least: int) -> None:
    """Raise `PairsError` when the sources are too few for a training."""
    if len(sources) < least:
        raise PairsError("too_few_sources", name=name, got=len(sources), least=least)


def _column_indices(
    rows: Iterator[list[str]], columns: Sequence[str], name: str
) -> tuple[int, int]:
    """The indices of source and target in a row, from 0. Raises `PairsError`.

    If `columns` are headings, the row of headings is consumed.
    """
    if len(columns) != 2 or len(set(columns)) != 2:
        raise PairsError("two_columns", got=" ".join(columns))
    numbers = _numbers(columns)
    headings = [] if numbers else next(rows, [])
    one, other = numbers or [_heading(headings, column, name) for column in columns]
    return one, other


def _column_index(rows: Iterator[list[str]], column: str, name: str) -> int:
    """As `_column_indices`, for one column."""
    numbers = _numbers([column])
    return numbers[0] if numbers else _heading(next(rows, []), column, name)


def _numbers(columns: Sequence[str]) -> list[int]:
    """Indices from 0 of columns given by their numbers from 1; [] if they are not numbers."""
    numbers = [typed_number(column) or 0 for column in columns]
    return [number - 1 for number in numbers] if all(numbers) else []


def _heading(headings: Sequence[str], column: str, name: str) -> int:
    """The index of the column with this heading. Raises `PairsError`."""
    known = [heading.strip() for heading in headings]
    if column not in known:
        listed = shorten(", ".join(known))
        raise PairsError("no_column", name=name, column=shorten(column), known=listed)
    return known.index(column)
