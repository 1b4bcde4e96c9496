"""Align sentence pairs by attention, and compare heads by their error rate on gold links.

Each pair is teacher-forced: the decoder is fed the given translation.
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
class AlignmentMethod:
    """The attention that links are taken from.

    head: of the layer, or None for the mean of its heads.
    timing: "prediction", the row that predicts a token, or "input", the row where it is fed in.
    """

    layer: int
    head: int | None
    timing: str

    @property
    def name(self) -> str:
        return f"L{self.layer} {'mean' if self.head is None else f'H{self.head}'}"


@dataclass(frozen=True, slots=True)
class CorpusLinks:
    """The links of each pair by one method, and their alignment error rate, 0 to 1, or None."""

    method: AlignmentMethod
    links: tuple[Links, ...]
    error_rate: float | None

    def text(self) -> str:
        """The links in Pharaoh format, one line a pair."""
        return "".join(f"{pharaoh(links)}\n" for links in self.links)


def all_methods(
    model: ExplorableModel, layer: int | None = None, timing: str | None = None
) -> tuple[AlignmentMethod, ...]:
    """Every head of every layer and every layer's mean, with both timings; only of `layer` and
    with `timing` where these are given."""
    config = model.transformer.config
    layers = range(config.decoder_layers) if layer is None else (layer,)
    heads = (*range(config.heads), None)
    timings = TIMINGS if timing is None else (timing,)
    return tuple(AlignmentMethod(*method) for method in product(layers, heads, timings))


def align_pairs(
    model: ExplorableModel,
    pairs: Sequence[Pair],
    methods: Sequence[AlignmentMethod],
    *,
    in_words: bool = False,
    gold_path: Path | None = None,
) -> list[CorpusLinks]:
    """Every pair aligned by every method; with gold links, the lowest error rate first.

    in_words: whether links are between words, as `words.grouped` counts them, not pieces.
    Raises `AlignmentError` on a pair the model cannot read, on a head that does not exist, and
    on a gold file that does not fit the pairs.
    """
    counted, linked = (word_content, align_words) if in_words else (content, align)
    gold = _read_gold(gold_path, len(pairs))
    found: list[list[Links]] = [[] for _ in methods]
    for row, pair in enumerate(pairs):
        trace = _traced(model, pair, row + 1)
        if gold_path is not None:
            source, outputs = counted(trace)
            sizes = int(source.sum()), int(outputs.sum())
            refuse_foreign(gold[row], *sizes, row + 1, gold_path.name)
        for links, method in zip(found, methods, strict=True):
            links.append(linked(trace, method.layer, method.head, method.timing))
    rates = [error_rate(links, gold) if gold_path else None for links in found]
    aligned = [
        CorpusLinks(method, tuple(links), rate)
        for method, links, rate in zip(methods, found, rates, strict=True)
    ]
    return sorted(aligned, key=lambda one: one.error_rate or 0.0)


def error_rate_table(aligned: Iterable[CorpusLinks]) -> str:
    """The error rates as text, one line a method."""
    lines = [
        f"{one.method.name:9} {one.method.timing:10} {one.error_rate:6.1%}\n" for one in aligned
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
    """The trace of one pair."""
    try:
        return model.trace(pair.source, target=pair.target)
    except (VocabularyError, TraceError) as error:
        raise AlignmentError("pair_refused", row=row, name=model.name, reason=error) from error
