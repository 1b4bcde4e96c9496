"""Rows of a file of texts in columns, read one after the other: of a delimited text file, or of
one of `other_formats`.

Held as a list of rows, a file would take many times its size.
"""

import csv
import io
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from itertools import islice

from explorer.core.alignment import in_order_of_ids
from explorer.core.errors import PairsError
from explorer.core.vocabulary import shorten
from explorer.data.other_formats import other_format, tmx_rows

MOST_ROWS = 1_000_000
"""Most lines of a file. Reading and encoding so many short rows takes 2 GB."""

_LONGEST_FIELD = 100_000
_LONGEST_ROW = 400_000  # bytes; each of so many empty columns takes 8 bytes of memory
_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")
_LOOKED_AT = 20  # lines from which the separator is inferred


def table(data: bytes, name: str, *, named: bool = False) -> Iterator[list[str]]:
    """The rows of a table without its empty lines, of JSON lines or TMX. Raises `PairsError`.

    If most of the first lines of a table have a tab, tabs separate the columns and quotes are
    ordinary characters; else semicolons or commas separate them, and quotes may enclose a field.

    named: whether the first row has the names of the columns in any format that names them itself.
    """
    data = _in_utf8(data, name)
    if (rows := _other_rows(data, name)) is not None:
        yield from islice(rows, 0 if named else 1, None)
        return
    separator = _separator(_lines(data, name))
    if separator == "\t":
        yield from _tab_rows(data, name)
    else:
        yield from _quoted_rows(_lines(data, name), separator, name)


def texts(data: bytes, name: str) -> Iterator[str]:
    """The texts of a file without blank ones: the first column of `lines_or_table`. Raises
    `PairsError`."""
    rows = lines_or_table(data, name)
    yield from (row[0] for row in rows if row and row[0].strip())


def lines_or_table(data: bytes, name: str) -> Iterator[list[str]]:
    """The rows of `table` in a file whose name ends in ".csv", in JSON lines and in TMX; of any
    other file its lines without empty ones, separated by tabs alone, so that commas and quotes are
    parts of a text. Raises `PairsError`."""
    is_csv, name = name.lower().endswith(".csv"), shorten(name)
    data = _in_utf8(data, name)
    in_lines = not is_csv and _other_rows(data, name) is None
    yield from _tab_rows(data, name) if in_lines else table(data, name)


def side_by_side(files: Mapping[str, bytes]) -> bytes:
    """Line-parallel files, by their names, as one table in UTF-8, a column for each file.

    Lines "A-3" of fairseq are put into the order of their numbers. Raises `PairsError` on files of
    other numbers of lines, on a line with a tab, and as `table` does.
    """
    columns = {name: _text_lines(data, name) for name, data in files.items()}
    counts = {name: len(lines) for name, lines in columns.items()}
    if len(set(counts.values())) > 1:
        listed = ", ".join(f"“{name}” {count}" for name, count in counts.items())
        raise PairsError("not_parallel", counts=listed)
    rows = ("\t".join(cells) for cells in zip(*columns.values(), strict=True))
    return "".join(f"{row}\n" for row in rows).encode()


def _text_lines(data: bytes, name: str) -> list[str]:
    """The lines of a file of one text a line."""
    data = _in_utf8(data, name)
    if _other_rows(data, name, bars=True) is not None:
        raise PairsError("line_of_columns", name=name, line=1)
    lines = in_order_of_ids([line.rstrip("\r\n") for line in _lines(data, name)], name)
    for number, line in enumerate(lines, start=1):
        if "\t" in line:
            raise PairsError("line_of_columns", name=name, line=number)
    return lines


def _in_utf8(data: bytes, name: str) -> bytes:
    """The same text in UTF-8 where a byte order mark says that it is in UTF-16, as in the "Unicode
    text" of a spreadsheet; other bytes unchanged. Raises `PairsError` on a damaged text."""
    if not data.startswith(_UTF16_MARKS):
        return data
    try:
        return data.decode("utf-16").encode()
    except UnicodeDecodeError as error:
        line = data[: error.start].decode("utf-16", "ignore").count("\n") + 1
        raise PairsError("wrong_encoding", name=name, line=line) from error


def _other_rows(data: bytes, name: str, *, bars: bool = False) -> Iterator[list[str]] | None:
    """The rows of JSON lines or TMX, the names of its columns first; None for a table.

    bars: whether “|||” may stand in lines. Raises `PairsError` on zero bytes, a format that is not
    read, too many or, but for TMX, too long lines.
    """
    if b"\0" in data:
        raise PairsError("binary_file", name=name)
    read = other_format(data, name, bars=bars)
    if read is not tmx_rows:
        _refuse_long(data, name)
    return None if read is None else _counted(read(_lines(data, name), name), name)


def _counted(rows: Iterable[list[str]], name: str) -> Iterator[list[str]]:
    for number, row in enumerate(rows):
        if number > MOST_ROWS:
            raise PairsError("too_many_rows", name=name, rows=number, limit=MOST_ROWS)
        yield row


def _refuse_long(data: bytes, name: str) -> None:
    """Raise `PairsError` on too many or too long lines."""
    lines = data.count(b"\n") + 1
    if lines > MOST_ROWS:
        raise PairsError("too_many_rows", name=name, rows=lines, limit=MOST_ROWS)
    for number, read in enumerate(io.BytesIO(data), start=1):
        if len(read) > _LONGEST_ROW:
            raise _long_row(name, number)


def _tab_rows(data: bytes, name: str) -> Iterator[list[str]]:
    for line in _lines(data, name):
        if row := line.rstrip("\r\n"):
            yield row.split("\t")


def _lines(data: bytes, name: str) -> Iterator[str]:
    """The lines with their line ends. Raises `PairsError` if one is not UTF-8."""
    try:
        yield from io.TextIOWrapper(io.BytesIO(data), "utf-8-sig", newline="")
    except UnicodeDecodeError as error:
        raise PairsError("wrong_encoding", name=name, line=_undecodable(data)) from error


def _separator(lines: Iterable[str]) -> str:
    """The separator of the columns, inferred from the first lines; one may be a title."""
    first = list(islice((line for line in lines if line.strip()), _LOOKED_AT))
    if first and 2 * sum("\t" in line for line in first) >= len(first):
        return "\t"
    return max(",;", key=lambda mark: (_agreeing(first, mark), "".join(first).count(mark)))


def _agreeing(lines: list[str], mark: str) -> int:
    """Number of rows that share the most frequent number of columns, at least two, if `mark`
    separates them."""
    try:
        widths = Counter(len(row) for row in csv.reader(lines, delimiter=mark) if len(row) > 1)
    except csv.Error:
        return 0
    return max(widths.values(), default=0)


def _quoted_rows(lines: Iterable[str], separator: str, name: str) -> Iterator[list[str]]:
    start, length = 1, 0

    def counted() -> Iterator[str]:
        """The lines; a row may have several, because quotes may enclose line ends."""
        nonlocal length
        for line in lines:
            length += len(line)
            if length > _LONGEST_ROW:
                raise _long_row(name, start)
            yield line

    reader = csv.reader(counted(), delimiter=separator, strict=True)
    csv.field_size_limit(_LONGEST_FIELD)
    try:
        for row in reader:
            start, length = reader.line_num + 1, 0
            if row:
                yield row
    except csv.Error as error:
        if "field limit" in str(error):
            facts = {"line": start, "limit": _LONGEST_FIELD}
            raise PairsError("long_field", name=name, **facts) from error
        raise PairsError("broken_quotes", name=name, line=reader.line_num) from error


def _long_row(name: str, line: int) -> PairsError:
    return PairsError("long_row", name=name, line=line, limit=f"{_LONGEST_ROW:,}")


def _undecodable(data: bytes) -> int:
    """The number of the first line that is not UTF-8, from 1."""
    number = 1
    with suppress(UnicodeDecodeError):
        for line in io.BytesIO(data):
            line.decode()
            number += 1
    return number
