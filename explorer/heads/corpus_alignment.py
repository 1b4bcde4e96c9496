"""Align sentence pairs by attention, and compare heads by their error rate on gold links.

Each pair is teacher-forced: the decoder is fed the given translation.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from explorer.core.alignment import (
    TIMINGS,
    Gold,
    Links,
    agreement,
    align,
    align_words,
    content,
    diagonal_links,
    parse_gold,
    pharaoh,
    read_gold,
    refuse_foreign,
    word_content,
)
from explorer.core.errors import AlignmentError, VocabularyError
from explorer.core.trace import Trace
from explorer.core.word_segmentation import grouped, spaced
from explorer.data.parallel_corpus import Pair, read_column
from explorer.heads.bootstrap import PerExampleMean
from explorer.heads.forced_traces import forced_traces
from explorer.model.explorable import ExplorableModel

Tokens = Literal["pieces", "words", "whitespace"]
"""What links connect: pieces of the model, words as the app shows them, or what spaces separate in
the file, which is how gold files count."""

_GROUPINGS = {"words": grouped, "whitespace": spaced}

SHORT, MEDIUM = 10, 20
"""Source tokens: the longest short and the longest medium sentence."""

LENGTHS = (f"1–{SHORT}", f"{SHORT + 1}–{MEDIUM}", f"{MEDIUM + 1}+")
"""Names of the classes of sentences by their source tokens."""


@dataclass(frozen=True, slots=True)
class AlignmentMethod:
    """Where links are taken from.

    layer: of the decoder; None for the diagonal, which looks at no attention.
    head: of the layer, or None for the mean of its heads.
    timing: "prediction", the row that predicts a token, or "input", the row where it is fed in.
    """

    layer: int | None
    head: int | None
    timing: str

    @property
    def name(self) -> str:
        if self.layer is None:
            return "diagonal"
        return f"L{self.layer} {'mean' if self.head is None else f'H{self.head}'}"


DIAGONAL = AlignmentMethod(None, None, "")
"""The baseline, see `diagonal_links`."""


@dataclass(frozen=True, slots=True)
class GoldFile:
    """The links of each pair, drawn by people; name: of the file."""

    links: tuple[Gold, ...]
    name: str

    @classmethod
    def of_file(cls, path: Path) -> "GoldFile":
        """Raises `FileError`, and `AlignmentError` on what are no links."""
        return cls(read_gold(path), path.name)

    @classmethod
    def of_column(cls, path: Path, column: str) -> "GoldFile":
        """The links in one column of a file of pairs. Raises as `of_file` does, and `PairsError`
        on a column that does not exist."""
        cells = read_column(path, column)
        return cls(parse_gold("\n".join(cells), path.name), path.name)


@dataclass(frozen=True, slots=True)
class ErrorRate:
    """Alignment error rate of a corpus, 0 (best) to 1, NaN without links.

    low, high: 95 % bootstrap interval over sentences.
    by_length: of each class of `LENGTHS`.
    """

    value: float
    low: float
    high: float
    by_length: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class CorpusLinks:
    """The links of each pair by one method; none of a pair that was skipped."""

    method: AlignmentMethod
    links: tuple[Links, ...]
    error_rate: ErrorRate | None

    def text(self) -> str:
        """The links in Pharaoh format, one line a pair."""
        return "".join(f"{pharaoh(links)}\n" for links in self.links)


@dataclass(frozen=True, slots=True)
class CorpusAlignment:
    """What `align_pairs` found.

    methods: with gold links the lowest error rate first, and among them `DIAGONAL`.
    skipped: the rows, from 1, that are longer than the model's positions.
    """

    methods: tuple[CorpusLinks, ...]
    skipped: tuple[int, ...]


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
    tokens: Tokens = "pieces",
    gold: GoldFile | None = None,
) -> CorpusAlignment:
    """Every pair aligned by every method, and with gold links also by `DIAGONAL`.

    Raises `AlignmentError` on a pair the model cannot read, on a head that does not exist, on a
    pair whose whitespace tokens the model's pieces do not spell, and on gold links that do not fit
    the pairs.
    """
    if gold is not None and len(gold.links) != len(pairs):
        raise AlignmentError(
            "gold_lines_differ", name=gold.name, got=len(gold.links), expected=len(pairs)
        )
    rows, skipped = _readable(model, pairs)
    tried = (*methods, DIAGONAL) if gold is not None else tuple(methods)
    work = _Work(tried, tokens, pairs, gold)
    for number, trace in forced_traces(model, [_texts(pairs[row]) for row in rows]):
        work.add(rows[number], trace)
    found = [
        CorpusLinks(method, tuple(links), work.error_rate(links, rows))
        for method, links in zip(tried, work.links, strict=True)
    ]
    found.sort(key=lambda one: one.error_rate.value if one.error_rate else 0.0)
    return CorpusAlignment(tuple(found), tuple(row + 1 for row in skipped))


@dataclass
class _Work:
    """The links found so far: by method and pair."""

    methods: tuple[AlignmentMethod, ...]
    tokens: Tokens
    pairs: Sequence[Pair]
    gold: GoldFile | None
    links: list[list[Links]] = field(init=False)
    lengths: list[int] = field(init=False)

    def __post_init__(self) -> None:
        self.links = [[frozenset()] * len(self.pairs) for _ in self.methods]
        self.lengths = [0] * len(self.pairs)

    def add(self, row: int, trace: Trace) -> None:
        """Align one pair by every method."""
        grouping = _GROUPINGS.get(self.tokens)
        source, outputs = content(trace) if grouping is None else word_content(trace, grouping)
        sizes = self.lengths[row], _ = int(source.sum()), int(outputs.sum())
        if self.tokens == "whitespace":
            _refuse_other_spaces(self.pairs[row], sizes, row + 1)
        if self.gold is not None:
            refuse_foreign(self.gold.links[row], *sizes, row + 1, self.gold.name)
        for links, method in zip(self.links, self.methods, strict=True):
            if method.layer is None:
                links[row] = diagonal_links(*sizes)
            elif grouping is None:
                links[row] = align(trace, method.layer, method.head, method.timing)
            else:
                links[row] = align_words(trace, method.layer, method.head, method.timing, grouping)

    def error_rate(self, links: Sequence[Links], rows: Sequence[int]) -> ErrorRate | None:
        """Of the pairs that were aligned."""
        if self.gold is None:
            return None
        gold = [self.gold.links[row] for row in rows]
        agreeing, linked = agreement([links[row] for row in rows], gold)
        lengths = np.array([self.lengths[row] for row in rows])
        classes = [
            lengths <= SHORT,
            (lengths > SHORT) & (lengths <= MEDIUM),
            lengths > MEDIUM,
        ]
        low, high = _interval(agreeing, linked)
        by_length = tuple(_rate(agreeing[one], linked[one]) for one in classes)
        return ErrorRate(_rate(agreeing, linked), low, high, by_length)


def error_rate_table(found: CorpusAlignment) -> str:
    """The error rates as text: one line a method, and what a reader must know of them."""
    columns = "".join(f"{name:>8}" for name in LENGTHS)
    lines = [f"{'head':9} {'row':10}    AER  {'95 % interval':15}{columns}  source tokens\n"]
    for one in found.methods:
        rate = one.error_rate
        assert rate is not None
        by_length = "".join(f"{_percent(value):>8}" for value in rate.by_length)
        interval = f"{_percent(rate.low)}–{_percent(rate.high)}"
        lines.append(
            f"{one.method.name:9} {one.method.timing:10} {_percent(rate.value):>6}  {interval:15}"
            f"{by_length}\n"
        )
    if found.methods[0].method == DIAGONAL:
        lines.append(
            "No head is better than the diagonal: these links say little about the attention.\n"
        )
    return "".join(lines)


def _readable(model: ExplorableModel, pairs: Sequence[Pair]) -> tuple[list[int], list[int]]:
    """The pairs the model has positions for, and those that are too long."""
    rows: list[int] = []
    skipped: list[int] = []
    for row, pair in enumerate(pairs):
        try:
            model.check_text(pair.source, "source")
            model.check_text(pair.target, "target")
        except VocabularyError as error:
            if error.key not in ("long_source", "long_target"):
                raise AlignmentError(
                    "pair_refused", row=row + 1, name=model.name, reason=error
                ) from error
            skipped.append(row)
        else:
            rows.append(row)
    return rows, skipped


def _texts(pair: Pair) -> tuple[str, str]:
    return pair.source, pair.target


def _refuse_other_spaces(pair: Pair, sizes: tuple[int, int], row: int) -> None:
    """Raise `AlignmentError` unless the pieces spell as many words as the texts have."""
    for text, size in zip(_texts(pair), sizes, strict=True):
        if len(text.split()) != size:
            raise AlignmentError("uneven_tokens", row=row, expected=len(text.split()), got=size)


def _rate(agreeing: NDArray[np.int64], linked: NDArray[np.int64]) -> float:
    return 1 - float(agreeing.sum()) / float(linked.sum()) if linked.sum() else float("nan")


def _interval(agreeing: NDArray[np.int64], linked: NDArray[np.int64]) -> tuple[float, float]:
    """95 % bootstrap interval of the error rate over sentences."""
    if not linked.sum():
        return float("nan"), float("nan")
    low, high = PerExampleMean(agreeing.astype(np.float64), linked.astype(np.float64)).interval()
    return 1 - float(high), 1 - float(low)


def _percent(share: float) -> str:
    return "–" if np.isnan(share) else f"{share:.1%}"
