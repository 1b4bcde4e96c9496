"""Formats of texts and translations that are no tables, recognised by what a file contains."""

import json
import re
from collections.abc import Sequence

from explorer.core.errors import PairsError

_BOM = b"\xef\xbb\xbf"
_HEAD = 4000  # bytes in which the root of XML is looked for
_LOOKED_AT = 20  # lines
_DECLARED = re.compile(r"<(?:\?xml|!doctype)\b", re.IGNORECASE)
_ROOT = re.compile(r"<([A-Za-z_][\w:.-]*)(?:\s[^<>]*)?>")
_NAMED = {"tmx": "TMX", "xliff": "XLIFF", "html": "HTML"}


def refuse_other_formats(data: bytes, name: str) -> None:
    """Raise `PairsError` on JSON, JSON lines, XML such as TMX, and the pairs of fast_align.

    As a table, such a file would be read without an error, as other texts than it holds.

    data: UTF-8.
    """
    text = data.removeprefix(_BOM).lstrip()
    if text.startswith((b"{", b"[")) and _is_json(text.decode(errors="replace")):
        raise PairsError("json_file", name=name)
    if text.startswith(b"<") and (form := _xml(text)):
        raise PairsError("xml_file", name=name, format=form)
    first = text.split(b"\n", _LOOKED_AT)[:_LOOKED_AT]
    if _has_bars([line for line in first if line.strip()]):
        raise PairsError("bars_file", name=name)


def _is_json(text: str) -> bool:
    """Whether a text, or its first line, is an object or a list, but not one of numbers alone, as
    “[1]” in front of a sentence."""
    try:
        found, end = json.JSONDecoder().raw_decode(text)
    except (ValueError, RecursionError):
        return False
    alone = not text[end:].partition("\n")[0].strip()
    return alone and (
        isinstance(found, dict) or isinstance(next(iter(found), 0), dict | list | str)
    )


def _xml(text: bytes) -> str:
    """The name of the format of XML, or "" for a text that begins with a tag but has no root: that
    is opened at its beginning and closed once, at its end."""
    head = text[:_HEAD].decode(errors="replace")
    root = _ROOT.search(head)
    tag = root[1] if root else ""
    closing = f"</{tag}>".encode()
    whole = root is not None and root.start() == 0 and text.rstrip().endswith(closing)
    if _DECLARED.match(head) or (whole and text.count(closing) == 1):
        return _NAMED.get(tag.lower(), "XML")
    return ""


def _has_bars(lines: Sequence[bytes]) -> bool:
    """Whether " ||| " is in each of the first lines, and a tab in none."""
    return bool(lines) and all(b" ||| " in line and b"\t" not in line for line in lines)
