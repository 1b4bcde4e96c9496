"""Sentence pairs whose word alignment people drew, as an evaluation batch."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from explorer.core.alignment import Gold, refuse_foreign, without_ends
from explorer.core.errors import AlignmentError
from explorer.core.given_tokens import token_pieces
from explorer.core.word_segmentation import grouped, is_special, known_mark, spaced
from explorer.heads.alignment.gold_file import (
    AlignmentFile,
    GivenTokens,
    fits,
    refuse_other_spaces,
)
from explorer.model.evaluation_batch import EvaluationBatch
from explorer.model.measurable import MeasurableModel

Places = tuple[int, ...]
"""The positions of the pieces of a token."""

PieceLinks = frozenset[tuple[int, int]]
"""Pairs (row, source position): the row predicts a piece of a target token, and the source token
linked to it has a piece at that position."""


def linked_sentences(
    model: MeasurableModel, path: Path, columns: Sequence[str] = ("1", "2", "3")
) -> EvaluationBatch:
    """The pairs of a file with links; columns: as in `AlignmentFile.parse`, three or five.

    Both sure and possible links count: a link that a head finds is right if it is possible (Och &
    Ney 2003). Pairs that are too long for the model are left out.

    Raises `FileError`, `PairsError` and `AlignmentError` as `AlignmentFile.read` does, and
    `AlignmentError` on tokens and links that do not fit the pairs, and for a model that decodes
    nothing; otherwise as `BatchPasses.pairs`.
    """
    file = AlignmentFile.read(path, columns)
    if file.gold is None:
        raise AlignmentError("linked_columns", got=len(columns))
    rows = [row for row, pair in enumerate(file.pairs) if fits(model, pair, row + 1)]
    texts = [(file.pairs[row].source, file.pairs[row].target) for row in rows]
    batch = model.passes.pairs(texts, path.name)
    if batch.targets != "given":
        raise AlignmentError("links_refused", name=model.name)
    places = []
    for number, row in enumerate(rows):
        source, output = _labels(model, batch, number)
        mark = known_mark(model.facts, (*source, *output))
        places.append(_tokens_of(file, row, (source, output), mark))
    sizes = [(len(keys), len(queries)) for keys, queries in places]
    links = []
    given = without_ends([file.gold.links[row] for row in rows], sizes)
    for row, gold, (keys, queries) in zip(rows, given, places, strict=True):
        refuse_foreign(gold, len(keys), len(queries), row + 1, file.gold.name)
        links.append(_piece_links(gold, keys, queries))
    return replace(batch, links=tuple(links))


def _labels(
    model: MeasurableModel, batch: EvaluationBatch, number: int
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Labels that the encoder reads, and labels that the rows of the decoder predict."""
    assert batch.source is not None
    size, rows = (int(side.lengths[number]) for side in (batch.source, batch.labels))
    return (
        model.passes.labels(batch.source.ids[number, :size].tolist(), "source"),
        model.passes.labels(batch.labels.ids[number, :rows].tolist(), "target"),
    )


def _tokens_of(
    given: AlignmentFile, row: int, sides: tuple[Sequence[str], Sequence[str]], mark: str
) -> tuple[list[Places], list[Places]]:
    """Positions of the pieces of each token that links count, for source and target."""
    if isinstance(given.tokens, GivenTokens):
        try:
            keys, queries = (
                _given_places(labels, tokens, mark)
                for labels, tokens in zip(sides, given.tokens.pairs[row], strict=True)
            )
        except AlignmentError as error:
            facts = {"row": row + 1, "name": given.tokens.name, "reason": error}
            raise AlignmentError("tokens_refused", **facts) from error
        return keys, queries
    keys, queries = (_word_places(labels, mark, given.tokens) for labels in sides)
    if given.tokens == "whitespace":
        refuse_other_spaces(given.pairs[row], (len(keys), len(queries)), row + 1)
    return keys, queries


def _given_places(labels: Sequence[str], tokens: Sequence[str], mark: str) -> list[Places]:
    """Positions of the pieces of each given token.

    A piece that spells characters of two tokens belongs to both.
    """
    found = token_pieces(labels, tokens, mark)
    return [tuple(found.pieces[one.start : one.stop].tolist()) for one in found.tokens]


def _word_places(labels: Sequence[str], mark: str, unit: str) -> list[Places]:
    """Positions of the pieces of each unit, without specials.

    unit: words, space-separated words, or single pieces.
    """
    split = spaced if unit == "whitespace" else grouped
    words = split(labels, mark if unit != "pieces" else "")
    return [tuple(range(word.start, word.stop)) for word in words if not is_special(word.label)]


def _piece_links(gold: Gold, keys: Sequence[Places], queries: Sequence[Places]) -> PieceLinks:
    """The links of tokens as links of their pieces."""
    return frozenset(
        (row, position)
        for key, query in gold.possible
        for row in queries[query]
        for position in keys[key]
    )
