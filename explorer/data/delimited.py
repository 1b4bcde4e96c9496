"""The rows of a table in a text file, read one after the other.

As text, lines and rows at once a file would take many times its bytes.
"""

import csv
import io
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import islice
from typing import TextIO

from explorer.core.errors import PairsError

_LONGEST_FIELD = 100_000
_LOOKED_AT = 20  # lines that tell what separates the columns


def table(data: bytes, name: str) -> Iterator[list[str]]:
    """The rows of a table, empty lines left out. Raises `PairsError`.

    Tabs separate, and then quotes are ordinary characters; without tabs in the first lines,
    semicolons or commas do, and quotes may enclose a field.
    """
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise PairsError("wrong_encoding", name=name, line=1)
    if b"\0" in data:
        raise PairsError("binary_file", name=name)
    try:
        separator = _separator(_lines(data))
        if separator != "\t":
            yield from _quoted_rows(_lines(data), separator, name)
            return
        for line in _lines(data):
            if row := line.rstrip("\r\n"):
                yield row.split("\t")
    except UnicodeDecodeError as error:
        raise PairsError("wrong_encoding", name=name, line=_undecodable(data)) from error


def _lines(data: bytes) -> TextIO:
    """The lines with their ends. Raises `UnicodeDecodeError` where it gets to what is not
    UTF-8."""
    return io.TextIOWrapper(io.BytesIO(data), "utf-8-sig", newline="")


def _separator(lines: Iterable[str]) -> str:
    """What separates the columns, by the first lines: a title may stand over them."""
    first = list(islice((line for line in lines if line.strip()), _LOOKED_AT))
    if first and 2 * sum("\t" in line for line in first) >= len(first):
        return "\t"
    return max(",;", key=lambda mark: (_agreeing(first, mark), "".join(first).count(mark)))


def _agreeing(lines: list[str], mark: str) -> int:
    """How many rows have one number of columns, more than one, when `mark` separates them."""
    try:
        widths = Counter(len(row) for row in csv.reader(lines, delimiter=mark) if len(row) > 1)
    except csv.Error:
        return 0
    return max(widths.values(), default=0)


def _quoted_rows(lines: TextIO, separator: str, name: str) -> Iterator[list[str]]:
    reader = csv.reader(lines, delimiter=separator, strict=True)
    csv.field_size_limit(_LONGEST_FIELD)
    begun = 1
    try:
        for row in reader:
            begun = reader.line_num + 1
            if row:
                yield row
    except csv.Error as error:
        if "field limit" in str(error):
            facts = {"line": begun, "limit": _LONGEST_FIELD}
            raise PairsError("long_field", name=name, **facts) from error
        raise PairsError("broken_quotes", name=name, line=reader.line_num) from error


def _undecodable(data: bytes) -> int:
    """The number of the first line that is not UTF-8."""
    number = 1
    with suppress(UnicodeDecodeError):
        for line in io.BytesIO(data):
            line.decode()
            number += 1
    return number
