"""Align sentence pairs by attention, and compare heads by their error rate on gold links.

Each pair is teacher-forced: the decoder is fed the given translation.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import product

import numpy as np
from numpy.typing import NDArray

from explorer.core.alignment import (
    TIMINGS,
    Gold,
    Links,
    agreement,
    align,
    align_words,
    diagonal_links,
    pharaoh,
    refuse_foreign,
)
from explorer.core.errors import AlignmentError
from explorer.core.given_tokens import TokenPieces, align_tokens, pair_pieces
from explorer.core.trace import Trace
from explorer.core.word_segmentation import grouped, spaced
from explorer.core.words import Grouping, content, word_content
from explorer.data.parallel_corpus import Pair
from explorer.heads.alignment.aer_report import (
    DIAGONAL,
    LENGTHS,
    MEDIUM,
    SHORT,
    AlignmentMethod,
    AlignmentReport,
    ErrorRate,
)
from explorer.heads.alignment.forced_traces import forced_traces
from explorer.heads.alignment.gold_file import (
    GivenTokens,
    GoldFile,
    Unit,
    fits,
    refuse_foreign_links,
)
from explorer.heads.metrics.bootstrap import PerExampleMean
from explorer.model.explorable import ExplorableModel

_GROUPINGS = {"words": grouped, "whitespace": spaced}


@dataclass(frozen=True, slots=True)
class CorpusLinks:
    """Links of each pair by one method; a skipped pair has no links."""

    method: AlignmentMethod
    links: tuple[Links, ...]
    error_rate: ErrorRate | None

    def text(self) -> str:
        """The links in Pharaoh format, one line a pair."""
        return "".join(f"{pharaoh(links)}\n" for links in self.links)


@dataclass(frozen=True, slots=True)
class CorpusAlignment:
    """Result of `align_pairs`.

    methods: with gold links, sorted by error rate, the lowest first, and including `DIAGONAL`.
    skipped: the rows, from 1, that are longer than the model's positions.
    unlinked: the other rows without any gold link; the error rates do not count them.
    other_words: with gold links of words, the rows where spaces separate another number of them.
    """

    methods: tuple[CorpusLinks, ...]
    skipped: tuple[int, ...]
    unlinked: tuple[int, ...] = ()
    other_words: tuple[int, ...] = ()

    def report(self, name: str, unit: str) -> AlignmentReport:
        """The error rates; name: of the pairs; unit: what the links count."""
        rates = [(one.method, one.error_rate) for one in self.methods if one.error_rate is not None]
        pairs = len(self.methods[0].links)
        left_out = len(self.skipped), len(self.unlinked)
        return AlignmentReport(name, unit, pairs, left_out[0], tuple(rates), left_out[1])


def all_methods(
    model: ExplorableModel, layer: int | None = None, timing: str | None = None
) -> tuple[AlignmentMethod, ...]:
    """Every head of every layer and every layer's mean, with both timings.

    layer, timing: if given, only the methods of this layer or with this timing.
    """
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
    tokens: Unit | GivenTokens = "pieces",
    gold: GoldFile | None = None,
    progress: Callable[[float], None] = lambda share: None,
) -> CorpusAlignment:
    """Align every pair by every method, and with gold links also by `DIAGONAL`.

    tokens: units that links connect and count.
    progress: called with the share done, 0 to 1.

    Raises `AlignmentError` on a pair the model cannot read, on a head that does not exist, on a
    pair whose tokens the model's pieces do not spell, and on gold links that do not fit the pairs.
    """
    if gold is not None and len(gold.links) != len(pairs):
        raise AlignmentError(
            "gold_lines_differ", name=gold.name, got=len(gold.links), expected=len(pairs)
        )
    if isinstance(tokens, GivenTokens) and len(tokens.pairs) != len(pairs):
        raise AlignmentError(
            "token_rows_differ", name=tokens.name, got=len(tokens.pairs), expected=len(pairs)
        )
    if gold is not None:
        refuse_foreign_links(pairs, tokens, gold)
    rows = [row for row, pair in enumerate(pairs) if fits(model, pair, row + 1)]
    if gold is not None and not rows:
        raise AlignmentError("all_too_long", count=len(pairs), name=model.name)
    linked = [row for row in rows if gold is None or gold.links[row].possible]
    if not linked and gold is not None:
        raise AlignmentError("nothing_linked", name=gold.name)
    tried = (*methods, DIAGONAL) if gold is not None else tuple(methods)
    work = _Work(tried, tokens, pairs, gold)
    traces = forced_traces(model, [_texts(pairs[row]) for row in rows])
    for done, (number, trace) in enumerate(traces, start=1):
        work.add(rows[number], trace)
        progress(done / len(rows))
    if gold is not None and work.counts_words:
        raise AlignmentError("links_of_words", name=gold.name)
    rates = work.error_rates(linked)
    found = [
        CorpusLinks(method, tuple(links), rate)
        for method, links, rate in zip(tried, work.links, rates, strict=True)
    ]
    found.sort(key=lambda one: one.error_rate.value if one.error_rate else 0.0)
    return CorpusAlignment(
        tuple(found),
        skipped=tuple(sorted({*range(1, len(pairs) + 1)} - {row + 1 for row in rows})),
        unlinked=tuple(sorted(row + 1 for row in {*rows} - {*linked})),
        other_words=tuple(work.other_words),
    )


@dataclass
class _Work:
    """The links found so far: by method and pair."""

    methods: tuple[AlignmentMethod, ...]
    tokens: Unit | GivenTokens
    pairs: Sequence[Pair]
    gold: GoldFile | None
    links: list[list[Links]] = field(init=False)
    lengths: list[int] = field(init=False)
    more_pieces: bool = field(init=False, default=False)
    beyond_words: bool = field(init=False, default=False)
    other_words: list[int] = field(init=False, default_factory=list)

    def __post_init__(self) -> None:
        self.links = [[frozenset()] * len(self.pairs) for _ in self.methods]
        self.lengths = [0] * len(self.pairs)

    def add(self, row: int, trace: Trace) -> None:
        """Align one pair by every method."""
        given = self._given(row, trace)
        sizes = self.lengths[row], _ = self._sizes(trace) if given is None else _count(given)
        if self.tokens == "whitespace":
            refuse_other_spaces(self.pairs[row], sizes, row + 1)
        if self.gold is not None:
            refuse_foreign(self.gold.links[row], *sizes, row + 1, self.gold.name)
            self._compare_with_words(row, sizes, self.gold.links[row])
        for links, method in zip(self.links, self.methods, strict=True):
            if method.layer is None:
                links[row] = diagonal_links(*sizes)
                continue
            place = (trace, method.layer, method.head, method.timing)
            if given is not None:
                links[row] = align_tokens(*place, *given)
            elif self._grouping is None:
                links[row] = align(*place)
            else:
                links[row] = align_words(*place, self._grouping)

    def _compare_with_words(self, row: int, sizes: tuple[int, int], gold: Gold) -> None:
        """Record how the tokens of a pair with links compare with its space-separated words.

        Pieces: whether there are more pieces than words, and whether a link goes beyond the words.
        Words of the app: whether their number differs.
        """
        words = [len(text.split()) for text in _texts(self.pairs[row])]
        for side, (size, count) in enumerate(zip(sizes, words, strict=True)):
            self.more_pieces |= bool(gold.possible) and size > count
            self.beyond_words |= any(link[side] >= count for link in gold.possible)
        if self.tokens == "words" and gold.possible and list(sizes) != words:
            self.other_words.append(row + 1)

    @property
    def counts_words(self) -> bool:
        """Whether the unit is pieces, but the gold links count words.

        True if some pair has more pieces than words, but no link goes beyond the words.
        """
        return self.tokens == "pieces" and self.more_pieces and not self.beyond_words

    @property
    def _grouping(self) -> Grouping | None:
        return _GROUPINGS.get(self.tokens) if isinstance(self.tokens, str) else None

    def _given(self, row: int, trace: Trace) -> tuple[TokenPieces, TokenPieces] | None:
        """The pieces of the given tokens of a pair, or None without given tokens."""
        if not isinstance(self.tokens, GivenTokens):
            return None
        try:
            return pair_pieces(trace, *self.tokens.pairs[row])
        except AlignmentError as error:
            facts = {"row": row + 1, "name": self.tokens.name, "reason": error}
            raise AlignmentError("tokens_refused", **facts) from error

    def _sizes(self, trace: Trace) -> tuple[int, int]:
        """How many tokens the source and the output have."""
        grouping = self._grouping
        source, outputs = content(trace) if grouping is None else word_content(trace, grouping)
        return int(source.sum()), int(outputs.sum())

    def error_rates(self, rows: Sequence[int]) -> list[ErrorRate | None]:
        """Error rate of each method over the aligned pairs."""
        if self.gold is None:
            return [None] * len(self.methods)
        gold = [self.gold.links[row] for row in rows]
        counts = [agreement([links[row] for row in rows], gold) for links in self.links]
        agreeing, linked = np.array(counts, np.float64).transpose(1, 2, 0)  # (pair, method)
        lengths = np.array([self.lengths[row] for row in rows])
        in_class = (lengths <= SHORT, (lengths > SHORT) & (lengths <= MEDIUM), lengths > MEDIUM)
        low, high = PerExampleMean(agreeing, linked).interval()
        by_length = np.array(
            [_rates(agreeing[one], linked[one]) for one in in_class]
        )  # (3, method)
        columns = zip(_rates(agreeing, linked), 1 - high, 1 - low, by_length.T, strict=True)
        return [
            ErrorRate(float(value), float(lower), float(upper), tuple(map(float, classes)))
            for value, lower, upper, classes in columns
        ]


def error_rate_table(found: CorpusAlignment) -> str:
    """The error rates as text: one line a method, then the notes needed to read them."""
    columns = "".join(f"{name:>8}" for name in LENGTHS)
    lines = [f"{'head':9} {'row':10}    AER  {'95 % interval':15}{columns}  source tokens\n"]
    for one in found.methods:
        rate = one.error_rate
        assert rate is not None
        by_length = "".join(f"{_percent(value):>8}" for value in rate.by_length)
        known = not np.isnan(rate.low)
        interval = f"{_percent(rate.low)}–{_percent(rate.high)}" if known else "–"
        lines.append(
            f"{one.method.name:9} {one.method.timing:10} {_percent(rate.value):>6}  {interval:15}"
            f"{by_length}\n"
        )
    if found.methods[0].method == DIAGONAL:
        lines.append(
            "No head is better than the diagonal: these links say little about the attention.\n"
        )
    return "".join(lines)


def _count(given: tuple[TokenPieces, TokenPieces]) -> tuple[int, int]:
    source, target = given
    return len(source.tokens), len(target.tokens)


def _texts(pair: Pair) -> tuple[str, str]:
    return pair.source, pair.target


def refuse_other_spaces(pair: Pair, sizes: tuple[int, int], row: int) -> None:
    """Raise `AlignmentError` unless the pieces spell as many words as the texts have."""
    for text, size in zip(_texts(pair), sizes, strict=True):
        if len(text.split()) != size:
            raise AlignmentError("uneven_tokens", row=row, expected=len(text.split()), got=size)


def _rates(agreeing: NDArray[np.float64], linked: NDArray[np.float64]) -> NDArray[np.float64]:
    """The error rate of each method, (method,), from counts (pair, method); NaN without links."""
    total = linked.sum(0)
    share = np.full(total.shape, np.nan)
    return 1 - np.divide(agreeing.sum(0), total, out=share, where=total > 0)


def _percent(share: float) -> str:
    return "–" if np.isnan(share) else f"{share:.1%}"
