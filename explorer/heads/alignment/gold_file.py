"""Files of sentence pairs to align: the texts, the gold links between them, and the tokens that
these links count."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from explorer.core.alignment import Gold, parse_links
from explorer.core.errors import AlignmentError, VocabularyError
from explorer.core.given_tokens import refuse_other_tokens, split_tokens
from explorer.core.number_format import typed_number
from explorer.core.vocabulary import shorten
from explorer.data.parallel_corpus import (
    Pair,
    most_columns,
    parse_column,
    parse_rows,
    read_table,
)

if TYPE_CHECKING:
    from explorer.model.measurable import MeasurableModel

Unit = Literal["pieces", "words", "whitespace"]
"""Unit that links connect: pieces of the model, words as the app shows them, or space-separated
words of the text."""

_ENOUGH_PAIRS = 10
"""Pairs with links that suffice: if links count from 0, one of them links a first token."""

UNITS: tuple[Unit | Literal["columns"], ...] = ("columns", "pieces", "words", "whitespace")
"""The units, and "columns": tokens in columns of their own, beside a text as it is written."""


@dataclass(frozen=True, slots=True)
class GoldFile:
    """The gold links of each pair; name: of the file."""

    links: tuple[Gold, ...]
    name: str


@dataclass(frozen=True, slots=True)
class GivenTokens:
    """The tokens of the source and of the target of each pair; name: of the file."""

    pairs: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...]
    name: str


@dataclass(frozen=True, slots=True)
class AlignmentFile:
    """A table of pairs, in the order of its rows; `pair_links` and `linked_sentences` read it."""

    pairs: tuple[Pair, ...]
    tokens: Unit | GivenTokens
    gold: GoldFile | None

    @property
    def unit(self) -> str:
        """Unit that links count, one of `UNITS`."""
        return self.tokens if isinstance(self.tokens, str) else "columns"

    @classmethod
    def read(
        cls,
        path: Path,
        columns: Sequence[str],
        unit: str | None = None,
    ) -> "AlignmentFile":
        """The table in the file at `path`; see `parse`. Raises `FileError` as well."""
        return cls.parse(read_table(path), path.name, columns, unit)

    @classmethod
    def parse(
        cls,
        data: bytes,
        name: str,
        columns: Sequence[str],
        unit: str | None = None,
    ) -> "AlignmentFile":
        """The table in the bytes of a file called `name`.

        columns: by number or heading: source and target text, then links, then source and target
        tokens; links, tokens or both may be missing.
        unit: of `UNITS`; None = the columns of tokens if there are any, else "whitespace", as files
        of links count, if there are links, else "pieces".

        Raises `PairsError`, and `AlignmentError` on a file without pairs or links, on malformed
        links, on links that count from 1, on other columns, and on tokens that do not spell the
        text.
        """
        if not 2 <= len(columns) <= 5:
            raise AlignmentError("which_columns", got=len(columns))
        pairs = parse_rows(data, name, columns[:2])
        if not pairs:
            raise AlignmentError("nothing_to_align", name=shorten(name))
        for column in columns[2:]:
            if (typed_number(column) or 0) > (count := most_columns(data, name)):
                raise AlignmentError(
                    "beyond_columns", name=shorten(name), column=column, count=count
                )
        gold = None
        if len(columns) in (3, 5):
            cells = enumerate(parse_column(data, name, columns[2]), start=1)
            gold = GoldFile(tuple(parse_links(cell, row, name) for row, cell in cells), name)
            if not any(links.possible for links in gold.links):
                raise AlignmentError("no_links", name=shorten(name), column=shorten(columns[2]))
            _refuse_counted_from_one(gold)
        if len(columns) < 4 and unit == "columns":
            raise AlignmentError("no_token_columns")
        if len(columns) == 5 and unit == "pieces":
            named = shorten(", ".join(columns[3:]))
            raise AlignmentError("links_of_tokens", name=shorten(name), columns=named)
        if unit is None:
            counted = gold is not None
            unit = "columns" if len(columns) > 3 else "whitespace" if counted else "pieces"
        return cls(pairs, _tokens(data, name, columns[-2:], pairs, unit), gold)


def fits(model: "MeasurableModel", pair: Pair, row: int) -> bool:
    """Whether the model has positions for the pair in this row, from 1. Raises `AlignmentError` on
    one that it cannot read."""
    try:
        model.check_text(pair.source, "source")
        model.check_text(pair.target, "target")
    except VocabularyError as error:
        if error.key in ("long_source", "long_target"):
            return False
        raise AlignmentError("pair_refused", row=row, name=model.name, reason=error) from error
    return True


def refuse_other_spaces(pair: Pair, sizes: tuple[int, int], row: int) -> None:
    """Raise `AlignmentError` unless the pieces spell as many words as the texts have."""
    for text, size in zip((pair.source, pair.target), sizes, strict=True):
        if len(text.split()) != size:
            raise AlignmentError("uneven_tokens", row=row, expected=len(text.split()), got=size)


def _refuse_counted_from_one(gold: GoldFile) -> None:
    """Raise `AlignmentError` if at least `_ENOUGH_PAIRS` pairs have links, and none of these links
    uses token 0 of either side: they count from 1."""
    linked = [one.possible for one in gold.links if one.possible]
    if len(linked) >= _ENOUGH_PAIRS and all(min(link) > 0 for links in linked for link in links):
        raise AlignmentError("counted_from_one", name=shorten(gold.name), pairs=len(linked))


def _tokens(
    data: bytes, name: str, columns: Sequence[str], pairs: Sequence[Pair], unit: str
) -> Unit | GivenTokens:
    """The checked tokens in these columns if the unit is "columns", else the unit itself."""
    for other_unit in ("pieces", "words", "whitespace"):
        if unit == other_unit:
            return other_unit
    if unit != "columns":
        raise AlignmentError("unknown_unit", got=unit, known=", ".join(UNITS))
    source, target = (map(split_tokens, parse_column(data, name, one)) for one in columns)
    given = GivenTokens(tuple(zip(source, target, strict=True)), name)
    for row, (pair, tokens) in enumerate(zip(pairs, given.pairs, strict=True), start=1):
        try:
            for text, listed in zip((pair.source, pair.target), tokens, strict=True):
                refuse_other_tokens(text, listed)
        except AlignmentError as error:
            raise AlignmentError("tokens_refused", row=row, name=name, reason=error) from error
    return given
