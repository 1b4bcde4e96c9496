"""Tables as CSV for spreadsheets, in the one way that all exports share.

`dom/js/csv.ts` writes the matrix that the player exports by the same rule.
"""

import unicodedata
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

_FORMULA_STARTS = frozenset("=+-@−")
_LINE_STARTS = ("\t", "\r", "\n")
_BLANK_LETTERS = frozenset("\u115f\u1160\u3164\uffa0\u2800")  # invisible letters
_INVISIBLE = "ZCM"  # first letters of the categories of spaces, controls and combining marks


def csv_text(table: "pd.DataFrame") -> str:
    """The rows of `table` under its columns as CSV of RFC 4180, without formulas.

    Lines end with CR LF; a cell that contains CR or LF is quoted.
    """
    safe = table.rename(columns=escaped)
    for position, kind in enumerate(safe.dtypes):
        if str(kind).startswith(("object", "str")):
            safe.isetitem(position, [escaped(cell) for cell in safe.iloc[:, position]])
    return safe.to_csv(index=False, lineterminator="\r\n")


def csv_bytes(table: "pd.DataFrame") -> bytes:
    """As `csv_text`, with the byte order mark that tells spreadsheets it is UTF-8."""
    return csv_text(table).encode("utf-8-sig")


def escaped(cell: Any) -> Any:
    """`cell`; with a leading ' if it is a text that a spreadsheet would read as a formula.

    A formula begins with =, +, - or @, also full-width, also after invisible characters.
    """
    if not isinstance(cell, str):
        return cell
    normalised = unicodedata.normalize("NFKC", cell)
    first = next((character for character in normalised if not _is_invisible(character)), "")
    formula = first in _FORMULA_STARTS
    return f"'{cell}" if formula or cell.startswith(_LINE_STARTS) else cell


def _is_invisible(character: str) -> bool:
    return unicodedata.category(character)[0] in _INVISIBLE or character in _BLANK_LETTERS
