"""The words of a trace of pieces, and the trace with its pieces merged into words.

Where a word begins is decided in `word_segmentation`; here weights and masks are merged.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.core.mask_reasons import EDITED, LATER, OUTSIDE, PADDING, UNMASKED
from explorer.core.sites import sides
from explorer.core.trace import Trace, check_trace
from explorer.core.word_segmentation import Word, grouped, is_special, known_mark

_PRECEDENCE = np.array([UNMASKED, PADDING, LATER, OUTSIDE, EDITED], dtype=np.uint8)
"""Codes of `REASONS`: a word has the first one that any of its cells has."""

_RANKS = np.argsort(_PRECEDENCE).astype(np.uint8)  # by code, its place in that order

Grouping = Callable[[Sequence[str], str], tuple[Word, ...]]
"""Labels and the mark of words → words: `grouped`, or `spaced`."""


def source_words(trace: Trace, grouping: Grouping = grouped) -> tuple[Word, ...]:
    """The words of the source, over its S positions."""
    check_trace(trace)
    return grouping(trace.source_tokens, word_mark(trace))


def target_words(trace: Trace, grouping: Grouping = grouped) -> tuple[Word, ...]:
    """The words fed in, over the T rows; a word cut off at the last row ends there."""
    return _target(trace, grouping)[0]


def predicted_words(trace: Trace, grouping: Grouping = grouped) -> tuple[str, ...]:
    """The word that follows each word fed in; empty when unknown."""
    return _target(trace, grouping)[1]


def marks_words(trace: Trace) -> bool:
    """Whether the labels mark where words begin."""
    return word_mark(trace) != ""


def word_mark(trace: Trace) -> str:
    """The mark of words in the labels, as from `mark_of`; "" if every label is a word."""
    labels = (*trace.source_tokens, *trace.target_tokens, *trace.predicted_tokens)
    return known_mark(trace.facts, labels)


def has_words(trace: Trace) -> bool:
    """Whether merging changes the trace: any word has several pieces, or another label than its
    only piece, because that bears a mark."""
    sides = (source_words(trace), trace.source_tokens), (target_words(trace), trace.target_tokens)
    return any(
        (word.label,) != tuple(tokens[word.start : word.stop])
        for words, tokens in sides
        for word in words
    )


def content(trace: Trace) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Masks of the source positions (S,) and output tokens (N,), True = content.

    The output is the tokens fed in without <bos>, and the last prediction if it is known.
    """
    check_trace(trace)
    outputs = (*trace.target_tokens[1:], *trace.predicted_tokens[-1:])
    return _content(trace.source_tokens), _content(outputs)


def read_tokens(trace: Trace) -> tuple[str, ...]:
    """What the model was given: the source, or the prompt of a decoder alone."""
    return trace.source_tokens or trace.target_tokens[: trace.facts.get("prompt", 0)]


def word_content(
    trace: Trace, grouping: Grouping = grouped
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """As `content`, for the words of a trace of pieces."""
    source = [word.label for word in source_words(trace, grouping)]
    target = [word.label for word in target_words(trace, grouping)]
    return _content(source), _content((*target[1:], *predicted_words(trace, grouping)[-1:]))


def _content(tokens: Sequence[str]) -> NDArray[np.bool_]:
    return np.array([not is_special(token) for token in tokens], dtype=np.bool_)


def merge(trace: Trace) -> Trace:
    """`trace` with its pieces merged into words.

    For words Q of query pieces and K of key pieces:

        A'[Q, K] = 1/|Q| · Σ_{q ∈ Q} Σ_{k ∈ K} A[q, k]

    the sum over key pieces, because the weight on a word is that on all of its pieces; the mean
    over query pieces, because the row of each sums to 1. So merged rows sum to 1 as well:
    Σ_K A'[Q, K] = 1/|Q| · Σ_q Σ_k A[q, k] = 1/|Q| · |Q|.

    A cell is masked if all cells of its pieces are; among their reasons, padding wins over later
    position, later position over outside the window, and that over edited. A target row is the word
    fed in. It predicts what its last piece predicts, shown as the whole next word; the candidates
    of a step are those of that piece, first *pieces* of the next word, and `losses` are theirs.
    The gold alignment of a word is that of any of its pieces. `facts["unit"]` is "words". Scores,
    values and head outputs are dropped: their sums or means are not what a head computed.

    The errors that the model measured are kept. A trace that was changed after its capture fails
    `integrity` after merging, too.
    """
    source = source_words(trace)
    target, predicted = _target(trace)
    axes = sides(source, target)
    arrays: dict[str, NDArray[Any]] = {}
    for site in trace.sites:
        arrays[f"{site}.attention"] = merged_weights(trace.attention(site), *axes[site])
        arrays[f"{site}.closed"] = merged_codes(trace.arrays[f"{site}.closed"], *axes[site])
        if f"{site}.sink" in trace.arrays:
            sink = trace.arrays[f"{site}.sink"][..., None]  # treated as one more key
            one_key = (Word("", 0, 1),)
            arrays[f"{site}.sink"] = merged_weights(sink, axes[site][0], one_key)[..., 0]
    if trace.gold is not None:
        arrays["gold"] = _any_cell(trace.gold, *axes[trace.gold_site])
    steps, candidates = _merged_steps(trace, target or source)
    changed = not trace.integrity().set_index("check").loc["unchanged_since_capture", "ok"]
    return Trace(
        source_tokens=tuple(word.label for word in source),
        target_tokens=tuple(word.label for word in target),
        predicted_tokens=predicted,
        text=trace.text,
        arrays=arrays | steps,
        candidate_tokens=candidates,
        measured=trace.measured,
        facts={**trace.facts, "unit": "words"},
        digest=trace.digest if changed else "",  # of another trace: the check fails
    )


def word_axes(trace: Trace) -> dict[str, tuple[tuple[Word, ...], tuple[Word, ...]]]:
    """By site, the words of the queries and those of the keys, for `merged_weights`."""
    return sides(source_words(trace), target_words(trace))


def merged_weights(
    weights: NDArray[np.floating],
    queries: Sequence[Word],
    keys: Sequence[Word],
    *,
    adding: type[np.floating] = np.float64,
) -> NDArray[np.float32]:
    """(…, query, key) of pieces → of words: summed over keys, averaged over queries.

    adding: the numbers in which sums are made; float32 takes a quarter of the time and is off by
        about 1e-7.
    """
    starts, sizes = _starts(queries), np.array([word.stop - word.start for word in queries])
    summed = weights[..., starts, :].astype(adding, copy=False)
    for piece in range(1, max(sizes, default=0)):  # whole rows: reduceat takes each cell alone
        longer = np.flatnonzero(sizes > piece)
        summed[..., longer, :] += weights[..., starts[longer] + piece, :]
    merged = _summed_keys(summed, keys) / sizes[:, None].astype(adding)
    return merged.astype(np.float32, copy=False)


def _summed_keys(cells: NDArray[np.floating], keys: Sequence[Word]) -> NDArray[np.floating]:
    """(…, key) of pieces → of words. Only words of several pieces are added up: reduceat takes
    longer for a cell than a copy."""
    starts = _starts(keys)
    sizes = np.diff(starts, append=cells.shape[-1])
    sums = np.take(cells, starts, axis=-1)
    longer = sizes > 1
    if longer.any():
        pieces = np.take(cells, starts[0] + np.flatnonzero(np.repeat(longer, sizes)), axis=-1)
        begins = np.cumsum(sizes[longer]) - sizes[longer]
        sums[..., longer] = np.add.reduceat(pieces, begins, axis=-1)
    return sums


def merged_codes(
    codes: NDArray[np.uint8], queries: Sequence[Word], keys: Sequence[Word]
) -> NDArray[np.uint8]:
    """Codes of `REASONS` (…, query, key) of pieces → of words: the first in `_PRECEDENCE` of those
    of its cells."""
    across = np.minimum.reduceat(_RANKS[codes], _starts(keys), axis=-1)
    return _PRECEDENCE[np.minimum.reduceat(across, _starts(queries), axis=-2)]


def _any_cell(
    cells: NDArray[np.bool_], queries: Sequence[Word], keys: Sequence[Word]
) -> NDArray[np.bool_]:
    """(…, query, key) of pieces → of words: True where any piece cell is."""
    columns = np.logical_or.reduceat(cells, _starts(keys), axis=-1)
    merged: NDArray[np.bool_] = np.logical_or.reduceat(columns, _starts(queries), axis=-2)
    return merged


def _merged_steps(
    trace: Trace, words: Sequence[Word]
) -> tuple[dict[str, NDArray[Any]], tuple[str, ...]]:
    """The candidates at the last piece of each word, one step a word."""
    if "steps.step" not in trace.arrays:
        return {}, ()
    last = np.array([word.stop for word in words])  # step of the last piece
    step = trace.arrays["steps.step"]
    kept = np.isin(step, last)
    columns = {
        name: array[kept] for name, array in trace.arrays.items() if name.startswith("steps.")
    }
    columns["steps.step"] = np.searchsorted(last, step[kept]) + 1
    return columns, tuple(np.array(trace.candidate_tokens, dtype=object)[kept])


def _target(trace: Trace, grouping: Grouping = grouped) -> tuple[tuple[Word, ...], tuple[str, ...]]:
    """The words fed in, and the word that follows each.

    The last prediction was not fed in, but it may continue the last word or show that an
    apostrophe is inside it; so it is grouped together with the tokens fed in.
    """
    check_trace(trace)
    mark, fed = word_mark(trace), trace.target_tokens
    predicted = trace.predicted_tokens
    if not fed:
        return (), ()
    if predicted[:-1] != fed[1:]:  # teacher forcing: each row has its own guess, if any
        words = grouping(fed, mark)
        guesses = [predicted[word.stop - 1 : word.stop] for word in words] if predicted else []
        return words, tuple(_spelled(guess, mark) for guess in guesses)
    words = grouping((*fed, *predicted[-1:]), mark)
    labels = [word.label for word in words[1:]]
    last = words[-1]
    if last.start == len(fed):
        return words[:-1], tuple(labels)
    cut = Word(_spelled(fed[last.start :], mark), last.start, len(fed))
    return (*words[:-1], cut), (*labels, _spelled(predicted[-1:], mark))


def _starts(words: Sequence[Word]) -> NDArray[np.intp]:
    return np.array([word.start for word in words], dtype=np.intp)


def _spelled(tokens: Sequence[str], mark: str) -> str:
    """The text these tokens spell."""
    return "".join(word.label for word in grouped(tokens, mark))
