"""JSON from files that anybody may have written: bounded before it is parsed, and cleaned.

All facts, settings and metrics are cleaned here, so that UTF-8, JavaScript and spreadsheets can
represent every value.
"""

import json
import math
from pathlib import Path
from typing import Any

from explorer.core.files import read_bytes
from explorer.core.vocabulary import valid_text

DEEPEST = 32
"""Deepest allowed nesting of lists and objects."""

LARGEST_FILE = 4 * 2**20
"""Bytes. A larger file is not read."""

LARGEST_INTEGER = 2**63 - 1
MOST_VALUES = 400_000
"""Values of one text: an empty object, two characters of text, takes 72 bytes of memory."""


def parse(text: str | bytes) -> Any:
    """The cleaned values of a JSON text; see `clean`.

    Raises `ValueError` on anything else, and on more than `MOST_VALUES` values, before it
    allocates them.
    """
    if isinstance(text, bytes):
        text = text.decode("utf-8-sig", errors="surrogatepass")
    if sum(map(text.count, ",[{")) > MOST_VALUES:
        raise ValueError("too many values")
    try:
        return clean(json.loads(text))
    except RecursionError as error:
        raise ValueError("too deeply nested") from error


def parse_object(text: str | bytes) -> dict[str, Any]:
    """As `parse`, for a JSON object. Raises `ValueError` on any other value, too."""
    value = parse(text)
    if not isinstance(value, dict):
        raise ValueError("no object")
    return value


def read_object(path: Path) -> dict[str, Any]:
    """The object in a file. Raises `FileError` if it cannot be read or has over `LARGEST_FILE`
    bytes, `ValueError` if it holds no object."""
    return parse_object(read_bytes(path, LARGEST_FILE))


def clean(value: Any, depth: int = 0) -> Any:
    """`value` with "?" for each lone surrogate, and null for NaN, infinities and integers that
    64 bits cannot hold. Raises `ValueError` on values nested deeper than `DEEPEST`."""
    if isinstance(value, str):
        return valid_text(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, int):
        return value if abs(value) <= LARGEST_INTEGER else None
    if isinstance(value, list | dict):
        if depth >= DEEPEST:
            raise ValueError("too deeply nested")
        if isinstance(value, list):
            return [clean(item, depth + 1) for item in value]
        return {valid_text(key): clean(item, depth + 1) for key, item in value.items()}
    return value


def number(value: object, least: float, most: float, otherwise: float) -> float:
    """`value` if it is a number from `least` to `most`, else `otherwise`."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return otherwise
    return float(value) if least <= value <= most else otherwise


def whole_number(value: object) -> int:
    """A whole number from 0 on. Raises `ValueError`, `TypeError`."""
    number = int(value)  # type: ignore[call-overload]
    if isinstance(value, bool) or number < 0 or number > LARGEST_INTEGER:
        raise ValueError("no whole number")
    return number
