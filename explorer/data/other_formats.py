"""Formats of texts and translations that are no tables, recognised by what a file contains: JSON
lines and TMX are read as rows of columns, any other is refused.

A language of TMX, or a key of JSON, is a column; the columns are in the order in which they first
appear, the source language of a TMX first.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any
from xml.parsers import expat

from explorer.core.errors import PairsError

_BOM = b"\xef\xbb\xbf"
_HEAD = 4000  # bytes in which the root of XML is looked for
_LOOKED_AT = 20  # lines
_DECLARED = re.compile(r"<(?:\?xml|!doctype)\b", re.IGNORECASE)
_ROOT = re.compile(r"<([A-Za-z_][\w:.-]*)(?:\s[^<>]*)?>")
_NAMED = {"tmx": "TMX", "xliff": "XLIFF", "html": "HTML"}
_CODES = frozenset(("bpt", "ept", "ph", "it", "ut", "sub"))
"""The elements inside a sentence of TMX that hold codes of another format, not its words."""

Rows = Callable[[Iterable[str], str], Iterator[list[str]]]
"""A reader of the lines of a file with this name. The first row has the names of the columns. It
raises `PairsError` with the line, and the column where there is one, of what is broken."""


def other_format(data: bytes, name: str, *, bars: bool = False) -> Rows | None:
    """The reader of JSON lines or TMX; None for a table.

    data: UTF-8. bars: whether “|||” may stand in lines.

    Raises `PairsError` on any other JSON or XML, and on the pairs of fast_align: as a table, such a
    file would be read without an error, as other texts than it holds.
    """
    text = data.removeprefix(_BOM).lstrip()
    if text.startswith((b"{", b"[")) and (form := _json(text.decode(errors="replace"))):
        if form == "lines":
            return json_rows
        raise PairsError("json_file", name=name)
    if text.startswith(b"<") and (form := _xml(text)):
        if form == "TMX":
            return tmx_rows
        raise PairsError("xml_file", name=name, format=form)
    if bars:
        return None
    first = text.split(b"\n", _LOOKED_AT)[:_LOOKED_AT]
    if _has_bars([line for line in first if line.strip()]):
        raise PairsError("bars_file", name=name)
    return None


def json_rows(lines: Iterable[str], name: str) -> Iterator[list[str]]:
    """The texts of JSON lines: objects, perhaps under the key "translation", or lists of texts. An
    object or a list has the columns of the first one; what it lacks is ""."""
    keys: list[Any] = []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            found = json.loads(line.removeprefix("\ufeff"))
        except (ValueError, RecursionError) as error:
            facts = {"line": number, "column": getattr(error, "colno", 1)}
            raise PairsError("bad_json_line", name=name, **facts) from error
        cells = _json_cells(found)
        if not keys:
            keys = [key for key, cell in cells.items() if isinstance(cell, str)]
            yield [str(key) for key in keys]
        values = [cells.get(key) for key in keys]
        known = all(isinstance(cell, str | None) for cell in values)
        if not known or not any(isinstance(cell, str) for cell in values):
            raise PairsError("no_texts_in_json", name=name, line=number)
        yield [cell or "" for cell in values]


def _json_cells(found: Any) -> dict[Any, Any]:
    """The values in a line of JSON by their keys, or by their numbers from 1; {} without any."""
    if isinstance(found, dict) and isinstance(found.get("translation"), dict):
        found = found["translation"]
    if isinstance(found, list):
        return dict(enumerate(found, start=1))
    return found if isinstance(found, dict) else {}


def tmx_rows(lines: Iterable[str], name: str) -> Iterator[list[str]]:
    """The sentences of a TMX, one row for each of its units, without codes of other formats."""
    memory = _Memory()
    parser = expat.ParserCreate("utf-8")
    parser.buffer_text = True
    parser.StartElementHandler = memory.start
    parser.EndElementHandler = memory.end
    parser.CharacterDataHandler = memory.text
    parser.EntityDeclHandler = parser.SkippedEntityHandler = memory.refuse_entity
    try:
        for line in lines:
            parser.Parse(line.removeprefix("\ufeff").encode(), False)
        parser.Parse(b"", True)
    except (expat.ExpatError, _EntityError) as error:
        own = isinstance(error, _EntityError)
        facts = {
            "line": parser.CurrentLineNumber,
            "column": parser.CurrentColumnNumber + 1,
            "reason": "entity" if own else expat.ErrorString(getattr(error, "code", 0)),
        }
        raise PairsError("bad_tmx", name=name, **facts) from error
    columns = list(memory.languages)
    yield columns
    yield from ([unit.get(language, "") for language in columns] for unit in memory.units)


class _EntityError(Exception):
    """A TMX has an entity of its own."""


class _Memory:
    """The units of a TMX while it is parsed: language → sentence, by main language ("en")."""

    def __init__(self) -> None:
        self.languages: dict[str, None] = {}
        self.units: list[dict[str, str]] = []
        self._language = ""
        self._words: list[str] | None = None  # of the sentence that is open
        self._codes = 0  # elements of codes that are open inside it

    def start(self, element: str, attributes: dict[str, str]) -> None:
        if element == "header":
            self._know(attributes.get("srclang", "*all*"))
        elif element == "tu":
            self.units.append({})
        elif element == "tuv":
            self._language = self._know(attributes.get("xml:lang") or attributes.get("lang", ""))
        elif element == "seg":
            self._words = []
        elif element in _CODES:
            self._codes += 1

    def end(self, element: str) -> None:
        if element == "seg" and self._words is not None:
            if self.units and self._language:
                sentence = " ".join("".join(self._words).split())
                self.units[-1].setdefault(self._language, sentence)
            self._words = None
        elif element in _CODES:
            self._codes -= 1

    def text(self, text: str) -> None:
        if self._words is not None and not self._codes:
            self._words.append(text)

    def refuse_entity(self, *declared: Any) -> None:
        """Raise on a text that the file defines for itself, which may unfold to any size, or that
        is defined elsewhere."""
        raise _EntityError

    def _know(self, language: str) -> str:
        """The main language of a code, "en" of "en-US", which is a column from now on."""
        main = re.split("[-_]", language.strip().lower())[0]
        if main and main != "*all*":
            self.languages.setdefault(main)
        return main


def _json(text: str) -> str:
    """ "lines" if the first line is an object or a list of texts, "document" if a text is other
    JSON, "" for none and for a list of numbers alone, as “[1]” in front of a sentence."""
    try:
        found, end = json.JSONDecoder().raw_decode(text)
    except (ValueError, RecursionError):
        return ""
    first = next(iter(found), 0) if isinstance(found, list) else found
    if text[end:].partition("\n")[0].strip() or not isinstance(first, dict | list | str):
        return ""
    lines = "\n" not in text[:end] and (first is found or isinstance(first, str))
    return "lines" if lines else "document"


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
