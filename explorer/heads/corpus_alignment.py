"""Align a file of sentences and their translations, and judge heads by links people drew.

Each pair is teacher-forced: the translation is given, and the model only looks at it.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path

from explorer.core.alignment import (
    TIMINGS,
    Gold,
    Links,
    align,
    align_words,
    content,
    error_rate,
    pharaoh,
    read_gold,
    refuse_foreign,
    word_content,
)
from explorer.core.errors import AlignmentError, TraceError, VocabularyError
from explorer.core.trace import Trace
from explorer.data.parallel_corpus import Pair
from explorer.model.explorable import ExplorableModel


@dataclass(frozen=True, slots=True)
class Reading:
    """Where links are read off: a head of a layer, or with None the mean of its heads, at the
    row that predicts a token or at the one where it is fed in."""

    layer: int
    head: int | None
    timing: str

    @property
    def name(self) -> str:
        return f"L{self.layer} {'mean' if self.head is None else f'H{self.head}'}"


@dataclass(frozen=True, slots=True)
class Aligned:
    """One way of reading, the links it gives each pair, and their error rate where it is known."""

    reading: Reading
    links: tuple[Links, ...]
    error_rate: float | None

    def text(self) -> str:
        """The links in Pharaoh format, a line a pair."""
        return "".join(f"{pharaoh(links)}\n" for links in self.links)


def readings(
    model: ExplorableModel, layer: int | None = None, timing: str | None = None
) -> tuple[Reading, ...]:
    """Every head of every layer and every layer's mean, under both timings; of one layer or
    under one timing only where these are given."""
    config = model.transformer.config
    layers = range(config.decoder_layers) if layer is None else (layer,)
    heads = (*range(config.heads), None)
    timings = TIMINGS if timing is None else (timing,)
    return tuple(Reading(*way) for way in product(layers, heads, timings))


def align_pairs(
    model: ExplorableModel,
    pairs: Sequence[Pair],
    ways: Sequence[Reading],
    *,
    in_words: bool = False,
    gold_path: Path | None = None,
) -> list[Aligned]:
    """Every pair aligned in every way; with gold links, the way with the fewest errors first.

    in_words: whether links are between words, as `words.grouped` counts them, not pieces.
    Raises `AlignmentError` on a pair the model cannot read, on a head there is not, and on a
    gold file that does not fit the pairs.
    """
    counted, linked = (word_content, align_words) if in_words else (content, align)
    gold = _read_gold(gold_path, len(pairs))
    found: list[list[Links]] = [[] for _ in ways]
    for row, pair in enumerate(pairs):
        trace = _traced(model, pair, row + 1)
        if gold_path is not None:
            source, outputs = counted(trace)
            sizes = int(source.sum()), int(outputs.sum())
            refuse_foreign(gold[row], *sizes, row + 1, gold_path.name)
        for links, way in zip(found, ways, strict=True):
            links.append(linked(trace, way.layer, way.head, way.timing))
    rates = [error_rate(links, gold) if gold_path else None for links in found]
    aligned = [
        Aligned(way, tuple(links), rate)
        for way, links, rate in zip(ways, found, rates, strict=True)
    ]
    return sorted(aligned, key=lambda one: one.error_rate or 0.0)


def report(aligned: Iterable[Aligned]) -> str:
    """Error rates as a table, a line a way of reading."""
    lines = [
        f"{one.reading.name:9} {one.reading.timing:10} {one.error_rate:6.1%}\n" for one in aligned
    ]
    return "".join([f"{'head':9} {'row':10}    AER\n", *lines])


def _read_gold(path: Path | None, pairs: int) -> tuple[Gold, ...]:
    if path is None:
        return ()
    gold = read_gold(path)
    if len(gold) != pairs:
        raise AlignmentError("gold_lines_differ", name=path.name, got=len(gold), expected=pairs)
    return gold


def _traced(model: ExplorableModel, pair: Pair, row: int) -> Trace:
    """What the model sees in one pair."""
    try:
        return model.trace(pair.source, target=pair.target)
    except (VocabularyError, TraceError) as error:
        raise AlignmentError("pair_refused", row=row, name=model.name, reason=error) from error
