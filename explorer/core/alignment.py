"""Word alignment from cross-attention: which source token each output token comes from, and the
alignment error rate.

A row of cross-attention belongs to the token *fed in*, so the output token yᵢ can be aligned from
one of two rows:

    prediction   the row that predicts yᵢ, where yᵢ₋₁ is fed in (the naive reading)
    input        the row where yᵢ itself is fed in (Shift-Att, Chen et al. 2020, arXiv 2004.14837)

Which of the two agrees better with links drawn by people differs by layer and by model: measure
it. In both, yᵢ is linked to the one source token with the largest weight in that row. Specials
(<bos>, <eos>, padding …) are neither linked nor linked to, and positions in the Pharaoh format
count the other tokens, the content, from 0.

A word of several pieces is predicted in several rows and fed in in as many: it is linked from the
mean of those rows to the word whose pieces have the largest weight together. A *merged* trace has
no such row for the timing "prediction": its row before a word is a mean over rows most of which
predict other pieces of the word before.
"""

import re
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.core.errors import AlignmentError
from explorer.core.number_format import typed_number
from explorer.core.trace import Trace, check_trace, is_index, refuse_no_number
from explorer.core.vocabulary import shorten
from explorer.core.word_segmentation import Word, grouped
from explorer.core.words import (
    Grouping,
    content,
    merged_weights,
    source_words,
    target_words,
    word_content,
)

TIMINGS = ("prediction", "input")
"""The row that a token is aligned by: the row that predicts it, or the row it is fed into."""

_LINK = re.compile(r"(\d+)([-p?])(\d+)")
_SOFT = re.compile(r"[\d.eE+-]+(?:,[\d.eE+-]+)+")  # weights of one target token over the source
_WEIGHT = re.compile(r"\d*\.\d+(?:[eE][+-]?\d+)?")  # of the only target token
_FAIRSEQ = re.compile(r"A-(\d+)\t(.*)")

Links = frozenset[tuple[int, int]]
"""(source, target) pairs, both counted from 0."""


@dataclass(frozen=True, slots=True)
class Gold:
    """Gold links. Every sure link is also possible.

    Raises `AlignmentError` on anything but sets of links.
    """

    sure: Links
    possible: Links

    def __post_init__(self) -> None:
        _check_links(self.sure)
        _check_links(self.possible)
        object.__setattr__(self, "possible", self.possible | self.sure)


def aligned_keys(
    weights: NDArray[np.floating],
    source: NDArray[np.bool_],
    outputs: NDArray[np.bool_],
    timing: str,
) -> NDArray[np.intp]:
    """The source position to which each output token is linked, (N,); −1 = none.

    weights: (T, S); in row t the token before output t is fed in.
    source, outputs: (S,) and (N,), True = content.

    An output has no link if it is not content, if the source has no content, or if the row of
    the timing does not exist because the output was not fed in. Of equal weights the first wins.

    Raises `AlignmentError` on an unknown timing.
    """
    refuse_unknown_timing(timing)
    keys = np.full(len(outputs), -1, dtype=np.intp)
    if not source.any():
        return keys
    best = np.where(source, weights, -np.inf).argmax(-1)  # (T,)
    rows = np.arange(len(outputs)) + (timing == "input")  # (N,)
    linked = outputs & (rows < len(weights))
    keys[linked] = best[rows[linked]]
    return keys


def align(trace: Trace, layer: int, head: int | None = None, timing: str = "prediction") -> Links:
    """Links between the content tokens of `trace`.

    head: None = the mean of the heads of the layer.

    Raises `AlignmentError` on a layer, head or timing that does not exist, and on a merged trace
    with the timing "prediction": use `align_words` on the trace of pieces.
    """
    check_trace(trace)
    refuse_unknown_timing(timing)
    if timing == "prediction" and trace.facts.get("unit") == "words":
        raise AlignmentError("words_not_pieces")
    return links(matrix(trace, layer, head), *content(trace), timing)


def align_words(
    trace: Trace,
    layer: int,
    head: int | None = None,
    timing: str = "prediction",
    grouping: Grouping = grouped,
) -> Links:
    """As `align`, but between words: the weights of their pieces are joined.

    grouping: definition of a word: `grouped`, or `spaced`, which counts as gold files do.

    The weight of word w, of the pieces `start` to `stop` − 1, on the word of the pieces K is

        prediction   1/|w| · Σ_{start−1 ≤ t ≤ stop−2} Σ_{k ∈ K} A[t, k]
        input        1/|w| · Σ_{start ≤ t ≤ stop−1}   Σ_{k ∈ K} A[t, k]

    because row t − 1 predicts the piece that is fed in in row t.
    """
    check_trace(trace)
    refuse_unknown_timing(timing)
    words = target_words(trace, grouping)
    rows = _predicting(words) if timing == "prediction" else words
    weights = merged_weights(matrix(trace, layer, head), rows, source_words(trace, grouping))
    return links(weights, *word_content(trace, grouping), timing)


def refuse_unknown_timing(timing: object) -> None:
    if not isinstance(timing, str) or timing not in TIMINGS:
        raise AlignmentError("bad_timing", timing=timing, known=", ".join(TIMINGS))


def _predicting(words: Sequence[Word]) -> list[Word]:
    """The rows that predict each word but the first, and the last row, whose prediction was not
    fed in."""
    last = words[-1].stop - 1
    rows = [Word(word.label, word.start - 1, word.stop - 1) for word in words[1:]]
    return [*rows, Word("", last, last + 1)]


def matrix(trace: Trace, layer: int, head: int | None) -> NDArray[np.float32]:
    """Cross-attention (T, S) of one head; None = the mean of the heads of the layer."""
    check_trace(trace)
    weights = trace.attention("cross")
    layers, heads = weights.shape[:2]
    if not (is_index(layer, layers) and (head is None or is_index(head, heads))):
        refuse_no_number(AlignmentError, layer=layer, head=0 if head is None else head)
        wanted = f"L{layer}" if head is None else f"L{layer} H{head}"
        raise AlignmentError("no_cross_head", wanted=wanted, layers=layers, heads=heads)
    if head is None:
        mean: NDArray[np.float32] = weights[layer].mean(0)
        return mean
    return weights[layer, head]


def links(
    weights: NDArray[np.floating],
    source: NDArray[np.bool_],
    outputs: NDArray[np.bool_],
    timing: str,
) -> Links:
    """The links of `aligned_keys`, as positions among content tokens."""
    keys = aligned_keys(weights, source, outputs, timing)
    columns, rows = np.cumsum(source) - 1, np.cumsum(outputs) - 1
    found = np.flatnonzero(keys >= 0)
    return frozenset((int(columns[keys[output]]), int(rows[output])) for output in found)


def pharaoh(links: Links) -> str:
    """Links as one line, "0-0 1-2": source-target, by target."""
    ordered = sorted(links, key=lambda link: (link[1], link[0]))
    return " ".join(f"{source}-{target}" for source, target in ordered)


def error_rate(found: Iterable[Links], gold: Iterable[Gold]) -> float:
    """Alignment error rate of a corpus, 0 (best) to 1; NaN if there are no links at all.

    1 − (|A ∩ S| + |A ∩ P|) / (|A| + |S|) with A found, S sure, P possible, each counted over all
    sentences (Och & Ney 2003, doi 10.1162/089120103321337421).

    found: of each sentence, a set of links (source, target).

    Raises `AlignmentError` on anything else, and unless both have the same number of sentences.
    """
    all_found, all_gold = (_sentences(given) for given in (found, gold))
    if len(all_found) != len(all_gold):
        raise AlignmentError("uneven_links", found=len(all_found), gold=len(all_gold))
    agreeing = linked = 0
    for links, right in zip(all_found, all_gold, strict=True):
        _check_links(links)
        if not isinstance(right, Gold):
            raise AlignmentError("bad_links", got=type(right).__name__)
        agreeing += len(links & right.sure) + len(links & right.possible)
        linked += len(links) + len(right.sure)
    return 1 - agreeing / linked if linked else float("nan")


def _sentences(given: object) -> list[Any]:
    """The entries of a corpus, one a sentence. Raises `AlignmentError` if it is not a list."""
    if not isinstance(given, Iterable) or isinstance(given, str | bytes | Mapping | np.ndarray):
        raise AlignmentError("bad_links", got=type(given).__name__)
    return list(given)


def _check_links(links: object) -> None:
    """Raise `AlignmentError` unless this is a set of links."""
    if not isinstance(links, Set):
        raise AlignmentError("bad_links", got=type(links).__name__)
    for link in links:
        pair = isinstance(link, tuple) and len(link) == 2
        if not (pair and all(isinstance(end, Integral) and int(end) >= 0 for end in link)):
            raise AlignmentError("bad_links", got=shorten(str(link)))


def parse_gold(text: str, name: str) -> tuple[Gold, ...]:
    """The links in the text of a file called `name`, one sentence a line.

    "0-0" is a sure link, "1p2" and "1?2" are possible ones: source before target, counted from
    0 (Pharaoh, as Marian, fairseq and OpenNMT write hard alignments). In soft alignments, which
    have the weights of each target token over the source, "0.9,0.1 0.2,0.8" or "0.9 0.1 ; 0.2 0.8",
    the largest is a sure link. What stands before the last "|||", and the number in "A-3", are not
    read; lines of fairseq are put into the order of these numbers. An empty line is a sentence
    without links.

    Raises `AlignmentError` on anything else.
    """
    if not isinstance(text, str):
        raise AlignmentError("no_text", got=type(text).__name__)
    lines = in_order_of_ids(text.splitlines(), name)
    return tuple(parse_links(line, number, name) for number, line in enumerate(lines, start=1))


def in_order_of_ids(lines: list[str], name: str) -> list[str]:
    """Lines "A-1" of fairseq in the order of their numbers and without them; others unchanged.

    Raises `AlignmentError` on a number that is there twice or missing.
    """
    found = [_FAIRSEQ.fullmatch(line) for line in lines]
    texts = {int(one[1][:9]): one[2] for one in found if one}
    if not lines or not all(found):
        return lines
    if sorted(texts) != list(range(len(lines))):
        raise AlignmentError("bad_sentence_ids", name=name, last=len(lines) - 1)
    return [texts[number] for number in range(len(lines))]


def parse_links(line: str, number: int, name: str) -> Gold:
    """The links of one sentence, in the line or row `number` of a file called `name`; see
    `parse_gold`."""
    before, bars, written = line.rpartition("|||")
    offset = len(before) + len(bars)
    words = list(re.finditer(r"\S+", written))
    soft = any(words and all(map(kind.fullmatch, written.split())) for kind in (_SOFT, _WEIGHT))
    if soft or ";" in written.split():
        return Gold(_largest(written, number, name), frozenset())
    kinds: dict[bool, set[tuple[int, int]]] = {True: set(), False: set()}
    for word in words:
        link = _LINK.fullmatch(word[0])
        source, target = map(typed_number, link.group(1, 3)) if link else (None, None)
        if link is None or source is None or target is None:
            column = offset + word.start() + 1
            facts = {"name": name, "line": number, "column": column, "got": shorten(word[0])}
            raise AlignmentError("bad_link", **facts)
        kinds[link[2] == "-"].add((source, target))
    return Gold(frozenset(kinds[True]), frozenset(kinds[False]))


def _largest(written: str, number: int, name: str) -> Links:
    """The link of each target token to the source token with its largest weight, from the soft
    alignment in line `number`. Raises `AlignmentError` on rows that are not as long as the first,
    and on weights that are not from 0 to 1."""
    rows = written.split() if "," in written else written.split(";")
    found = set()
    width = 0
    for target, row in enumerate(rows):
        try:
            weights = [float(weight) for weight in row.replace(",", " ").split()]
        except ValueError:
            weights = []
        width = width or len(weights)
        if not weights or len(weights) != width or not all(0 <= one <= 1 for one in weights):
            facts = {"name": name, "line": number, "row": target + 1, "got": shorten(row.strip())}
            raise AlignmentError("bad_soft_row", **facts, expected=width)
        found.add((int(np.argmax(weights)), target))
    return frozenset(found)


def without_ends(gold: Sequence[Gold], sizes: Sequence[tuple[int, int]]) -> tuple[Gold, ...]:
    """Links of sentences without those of end tokens, where all sentences with links have one of
    the target's end token, as Marian and soft alignments do, and count from 0; else the same links.

    sizes: of each sentence, the numbers of its content tokens, source and target.
    """
    pairs = list(zip(gold, sizes, strict=True))
    linked = [(one, size) for one, size in pairs if one.possible]
    from_zero = any(0 in link for one, _ in linked for link in one.possible)
    if not from_zero or not all(
        max(target for _, target in one.possible) == size[1] for one, size in linked
    ):
        return tuple(gold)

    def inside(links: Links, size: tuple[int, int]) -> Links:
        return frozenset(link for link in links if link[0] != size[0] and link[1] != size[1])

    return tuple(Gold(inside(one.sure, size), inside(one.possible, size)) for one, size in pairs)


def refuse_foreign(gold: Gold, source: int, target: int, line: int, name: str) -> None:
    """Raise `AlignmentError` when a link is to a token that the sentence does not have.

    source, target: numbers of its content tokens. This detects files that count from 1, that
    segment words in another way, or, if some link has a 0, that link the end tokens, too.
    """
    from_zero = any(0 in link for link in gold.possible)
    for source_link, target_link in sorted(gold.possible):
        if source_link >= source or target_link >= target:
            to_end = from_zero and source_link <= source and target_link <= target
            raise AlignmentError(
                "end_link" if to_end else "foreign_link",
                name=name,
                line=line,
                link=f"{source_link}-{target_link}",
                source=source,
                target=target,
            )
