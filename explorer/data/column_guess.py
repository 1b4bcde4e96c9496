"""Guesses about the columns of a file of pairs, from its first rows."""

import re
from collections.abc import Sequence
from itertools import islice

from explorer.core.errors import PairsError
from explorer.core.vocabulary import shorten
from explorer.data.delimited import table

Rows = tuple[tuple[str, ...], ...]

MOST_COLUMNS = 12

_ROWS = 20
_USUAL = 0.75  # share of the rows that must agree
_MOST_WORDS = 3  # most words of a heading
_ENDS = tuple(".!?…。！？")
_CLOSING = "\"'”’»）)」』 "
_PREPARED = re.compile(r"&(?:apos|quot|amp|lt|gt|bar|#91|#93);|(?<!\S)@-@(?!\S)|\w+@@(?!\S)")
_HEADINGS = """
source target src tgt translation sentence text input output id number
english french german spanish italian portuguese russian chinese japanese
en eng fr fra fre de deu ger es spa it ita pt por ru rus zh zho cmn ja jpn
原文 译文 源语言 目标语言 中文 英文 法文 英语 法语 编号 序号
"""


def first_rows(data: bytes, name: str) -> Rows:
    """The first rows of a table, up to the first that cannot be read."""
    rows: list[tuple[str, ...]] = []
    try:
        for row in islice(table(data, name), _ROWS):
            rows.append(tuple(row[:MOST_COLUMNS]))
    except PairsError:
        return tuple(rows)
    return tuple(rows)


def looks_headed(rows: Rows, columns: Sequence[int]) -> bool:
    """Whether the first row has headings, not a pair, in the columns with these indices."""
    return len(rows) > 1 and all(_has_heading(_column(rows, index)) for index in columns)


def is_numbers(rows: Rows, column: int) -> bool:
    """Whether a column has only numbers; its first row may be a heading."""
    below = _column(rows[1:] or rows, column)
    return any(below) and all(_is_number(cell) for cell in below if cell)


def prepared_mark(rows: Rows, column: int) -> str:
    """The first mark in a column that Moses or subword-nmt wrote into the texts, as "&apos;",
    "@-@" and "week@@"; "" without one."""
    found = filter(None, map(_PREPARED.search, _column(rows, column)))
    return next((match[0] for match in found), "")


def text_columns(rows: Rows, name: str) -> tuple[int, int]:
    """The indices of the two columns of texts in a file called `name`.

    The first two; but if one of these has only numbers, such as ids, the only two columns that have
    other text. If both have only numbers and there are not two others, the numbers are the texts.

    Raises `PairsError` if it is not clear which two are meant.
    """
    columns = range(max(map(len, rows), default=0))
    numbers = [column for column in columns if is_numbers(rows, column)]
    texts = [column for column in columns if column not in numbers]
    if len(texts) == 2:
        return texts[0], texts[1]
    both = {0, 1} <= set(numbers) and len(texts) < 2
    if len(columns) <= 2 or not {0, 1} & set(numbers) or both:
        return 0, 1
    listed = ", ".join(str(column + 1) for column in numbers)
    raise PairsError("which_texts", name=shorten(name), numbers=listed, columns=len(columns))


def column_names(rows: Rows, columns: tuple[int, int]) -> tuple[str, ...]:
    """Names of `columns`: the headings in the first row; numbers from 1 on if it has none, or the
    same one twice."""
    headings = tuple(_column(rows, index)[0] for index in columns) if rows else ()
    if len(set(headings)) == 2 and looks_headed(rows, columns):
        return headings
    return tuple(str(index + 1) for index in columns)


def _column(rows: Rows, index: int) -> list[str]:
    return [row[index].strip() if index < len(row) else "" for row in rows]


def _has_heading(cells: list[str]) -> bool:
    """Whether the first cell is a heading.

    It is a known one, or a few words without a final mark while most other cells are whole
    sentences or numbers.
    """
    first, others = cells[0], cells[1:]
    if first.casefold() in _HEADINGS.split():
        return True
    if not first or _is_number(first) or _ends(first) or len(first.split()) > _MOST_WORDS:
        return False
    return sum(_ends(cell) or _is_number(cell) for cell in others) >= _USUAL * len(others)


def _ends(text: str) -> bool:
    return text.rstrip(_CLOSING).endswith(_ENDS)


def _is_number(text: str) -> bool:
    return text.translate({ord(mark): None for mark in ".,-#+ "}).isdecimal()
