"""Which source token each token of the output comes from, read off attention, and how wrong
that is.

A row of cross-attention belongs to the token *fed in*, so there are two rows from which the
output token yᵢ may be aligned:

    prediction   the row that predicts yᵢ, where yᵢ₋₁ is fed in (the naive reading)
    input        the row where yᵢ itself is fed in (Shift-Att, Chen et al. 2020, arXiv 2004.14837)

Which of the two is nearer to what people link differs by layer and by model: measure it. Either
way yᵢ is linked to the one source token with the largest weight in that row. Only content
counts: <bos>, <eos>, padding and other specials are neither linked nor linked to, and positions
in the Pharaoh format count content tokens only, from 0.

Several rows predict a word of several pieces, and where it is fed in there are as many: a word is
linked from the mean of those rows, to the word on whose pieces they put most together. The row of
a *merged* trace that stands before a word will not do for the first timing: most of the piece rows
it is the mean of predict other pieces of its own word.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from explorer.core.errors import AlignmentError
from explorer.core.files import reading
from explorer.core.trace import Trace
from explorer.core.vocabulary import shorten
from explorer.core.word_segmentation import Word, is_special
from explorer.core.words import merged_weights, predicted_words, source_words, target_words

TIMINGS = ("prediction", "input")
"""The row a token is aligned from: the one that predicts it, or the one where it is fed in."""

_LINK = re.compile(r"(\d+)([-p?])(\d+)")

Links = frozenset[tuple[int, int]]
"""(source, target) pairs, both counted from 0."""


@dataclass(frozen=True, slots=True)
class Gold:
    """Links people drew: those they were sure of, and those that are at least possible.

    Sure links are possible too, whether or not they are named twice.
    """

    sure: Links
    possible: Links

    def __post_init__(self) -> None:
        object.__setattr__(self, "possible", self.possible | self.sure)


def aligned_keys(
    weights: NDArray[np.floating],
    source: NDArray[np.bool_],
    outputs: NDArray[np.bool_],
    timing: str,
) -> NDArray[np.intp]:
    """The source position each output token is linked to, (N,), −1 = to none.

    weights: (T, S), row t has the token before output t fed in. source: (S,), outputs: (N,),
    True = content. An output has no link where it is no content, where the source has none, and
    where it was never fed in although the timing asks for that row. The first of equal weights
    wins. Raises `AlignmentError` on an unknown timing.
    """
    if timing not in TIMINGS:
        raise AlignmentError("bad_timing", timing=timing, known=", ".join(TIMINGS))
    keys = np.full(len(outputs), -1, dtype=np.intp)
    if not source.any():
        return keys
    best = np.where(source, weights, -np.inf).argmax(-1)  # (T,)
    rows = np.arange(len(outputs)) + (timing == "input")  # (N,)
    linked = outputs & (rows < len(weights))
    keys[linked] = best[rows[linked]]
    return keys


def content(trace: Trace) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """What may be linked: (S,) source positions, (N,) output tokens; True = content.

    The output is what was fed in after the beginning, and the last prediction where it is known.
    """
    outputs = (*trace.target_tokens[1:], *trace.predicted_tokens[-1:])
    return _content(trace.source_tokens), _content(outputs)


def word_content(trace: Trace) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """As `content`, of the words that the pieces of `trace` make up."""
    source = [word.label for word in source_words(trace)]
    target = [word.label for word in target_words(trace)]
    return _content(source), _content((*target[1:], *predicted_words(trace)[-1:]))


def _content(tokens: Sequence[str]) -> NDArray[np.bool_]:
    return np.array([not is_special(token) for token in tokens], dtype=np.bool_)


def align(trace: Trace, layer: int, head: int | None = None, timing: str = "prediction") -> Links:
    """Links between the content tokens of `trace`, pieces or words as it has them.

    head: None = the mean of the layer's heads. Raises `AlignmentError` on a layer, a head or a
    timing there is not, and on a trace of words under "prediction": `align_words` has its pieces.
    """
    if timing == "prediction" and trace.facts.get("unit") == "words":
        raise AlignmentError("words_not_pieces")
    return links(matrix(trace, layer, head), *content(trace), timing)


def align_words(
    trace: Trace, layer: int, head: int | None = None, timing: str = "prediction"
) -> Links:
    """Links between the words of `trace`, which has pieces; counted as in `words.merge`.

    The weights of word w, of the pieces `start` to `stop` − 1, on the word of the pieces K are

        prediction   1/|w| · Σ_{start−1 ≤ t ≤ stop−2} Σ_{k ∈ K} A[t, k]
        input        1/|w| · Σ_{start ≤ t ≤ stop−1}   Σ_{k ∈ K} A[t, k]

    as row t − 1 predicts the piece that row t has fed in. Otherwise as `align`.
    """
    words = target_words(trace)
    rows = _predicting(words) if timing == "prediction" else words
    weights = merged_weights(matrix(trace, layer, head), rows, source_words(trace))
    return links(weights, *word_content(trace), timing)


def _predicting(words: Sequence[Word]) -> list[Word]:
    """The rows that predict each word but the first, and the last row: what that one predicts
    was fed in nowhere."""
    last = words[-1].stop - 1
    rows = [Word(word.label, word.start - 1, word.stop - 1) for word in words[1:]]
    return [*rows, Word("", last, last + 1)]


def matrix(trace: Trace, layer: int, head: int | None) -> NDArray[np.float32]:
    """Cross-attention (T, S) of one head, or with None the mean of the layer's heads."""
    weights = trace.attention("cross")
    layers, heads = weights.shape[:2]
    if not 0 <= layer < layers or not 0 <= (head or 0) < heads:
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
    """As `aligned_keys`, by position among content tokens."""
    keys = aligned_keys(weights, source, outputs, timing)
    columns, rows = np.cumsum(source) - 1, np.cumsum(outputs) - 1
    found = np.flatnonzero(keys >= 0)
    return frozenset((int(columns[keys[place]]), int(rows[place])) for place in found)


def pharaoh(links: Links) -> str:
    """Links as one line, "0-0 1-2": source-target, by target."""
    ordered = sorted(links, key=lambda link: (link[1], link[0]))
    return " ".join(f"{source}-{target}" for source, target in ordered)


def error_rate(found: Iterable[Links], gold: Iterable[Gold]) -> float:
    """Alignment error rate of a corpus, 0 (best) to 1; NaN where nobody linked anything.

    1 − (|A ∩ S| + |A ∩ P|) / (|A| + |S|) with A found, S sure, P possible, each counted over all
    sentences (Och & Ney 2003, doi 10.1162/089120103321337421). Raises `ValueError` unless both
    have as many sentences.
    """
    agreeing = linked = 0
    for links, right in zip(found, gold, strict=True):
        agreeing += len(links & right.sure) + len(links & right.possible)
        linked += len(links) + len(right.sure)
    return 1 - agreeing / linked if linked else float("nan")


def read_gold(path: str | Path) -> tuple[Gold, ...]:
    """The links of a file in Pharaoh format, one sentence a line; see `parse_gold`.

    Raises `FileError`, too.
    """
    path = Path(path)
    with reading(path):
        data = path.read_bytes()
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise AlignmentError("bad_gold_encoding", name=path.name) from error
    return parse_gold(text, path.name)


def parse_gold(text: str, name: str) -> tuple[Gold, ...]:
    """The links in the text of a file called `name`, one sentence a line.

    "0-0" is a sure link, "1p2" and "1?2" are possible ones: source before target, counted from
    0. An empty line is a sentence without links. Raises `AlignmentError` on anything else.
    """
    lines = text.splitlines()
    return tuple(_gold(line, number, name) for number, line in enumerate(lines, start=1))


def _gold(line: str, number: int, name: str) -> Gold:
    kinds: dict[bool, set[tuple[int, int]]] = {True: set(), False: set()}
    for word in line.split():
        link = _LINK.fullmatch(word)
        if link is None:
            raise AlignmentError("bad_link", name=name, line=number, got=shorten(word))
        kinds[link[2] == "-"].add((int(link[1]), int(link[3])))
    return Gold(frozenset(kinds[True]), frozenset(kinds[False]))


def refuse_foreign(gold: Gold, source: int, target: int, line: int, name: str) -> None:
    """Raise `AlignmentError` when a link is to a token a sentence does not have.

    source, target: how many content tokens it has. Files that count from 1, or other words,
    are found out here.
    """
    for one, other in sorted(gold.possible):
        if one >= source or other >= target:
            raise AlignmentError(
                "foreign_link",
                name=name,
                line=line,
                link=f"{one}-{other}",
                source=source,
                target=target,
            )
