"""Rows of a delimited text file, read one after the other.

Held as a list of rows, a file would take many times its size.
"""

import csv
import io
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import islice

from explorer.core.errors import PairsError
from explorer.core.vocabulary import shorten
from explorer.data.other_formats import refuse_other_formats

MOST_ROWS = 1_000_000
"""Most lines of a file. Reading and encoding so many short rows takes 2 GB."""

_LONGEST_FIELD = 100_000
_LONGEST_ROW = 400_000  # bytes; each of so many empty columns takes 8 bytes of memory
_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")
_LOOKED_AT = 20  # lines from which the separator is inferred


def table(data: bytes, name: str) -> Iterator[list[str]]:
    """The rows of a table without its empty lines. Raises `PairsError`.

    If most of the first lines have a tab, tabs separate the columns and quotes are ordinary
    characters; else semicolons or commas separate them, and quotes may enclose a field.
    """
    data = _in_utf8(data, name)
    _refuse_unreadable(data, name)
    separator = _separator(_lines(data, name))
    if separator == "\t":
        yield from _tab_rows(data, name)
    else:
        yield from _quoted_rows(_lines(data, name), separator, name)


def texts(data: bytes, name: str) -> Iterator[str]:
    """The texts of a file without blank ones. Raises `PairsError`.

    In a file whose name ends in ".csv", the first column; else each line up to its first tab,
    commas and quotes included.
    """
    is_csv, name = name.lower().endswith(".csv"), shorten(name)
    data = _in_utf8(data, name)
    if not is_csv:
        _refuse_unreadable(data, name)
    rows = table(data, name) if is_csv else _tab_rows(data, name)
    yield from (row[0] for row in rows if row[0].strip())


def decoded(data: bytes, name: str) -> str:
    """The text of a file without its byte order mark. Raises `PairsError` as `table` does."""
    data = _in_utf8(data, name)
    _refuse_unreadable(data, name)
    return "".join(_lines(data, name))


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


def _refuse_unreadable(data: bytes, name: str) -> None:
    """Raise `PairsError` on zero bytes, another format, too many or too long lines."""
    if b"\0" in data:
        raise PairsError("binary_file", name=name)
    refuse_other_formats(data, name)
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
