"""Sentences over which heads are measured, as padded token ids with the kind of each token, and the
expected prediction of each row."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from explorer.core.errors import EvaluationBatchError
from explorer.data.continued_data import AlignedTask


class TokenKind(IntEnum):
    """Kind of a token in a sequence. The id does not show it: some models pad with a token
    that also ends a text."""

    CONTENT = 0
    SPECIAL = 1  # such as the beginning, or a language
    END = 2
    PADDING = 3


@dataclass(frozen=True, slots=True, eq=False)
class TokenRows:
    """N sequences.

    ids: (N, L). kinds: (N, L) uint8 of `TokenKind`.
    """

    ids: Tensor
    kinds: Tensor

    @classmethod
    def of(
        cls, rows: Sequence[Sequence[int]], kind: Callable[[int], TokenKind], padding: int
    ) -> "TokenRows":
        """Sequences padded at the right with the id `padding`; kind: id → kind of the other ids."""
        longest = max(map(len, rows), default=0)
        ids = [[*row, *[padding] * (longest - len(row))] for row in rows]
        filled = TokenKind.PADDING
        kinds = [[*map(kind, row), *[filled] * (longest - len(row))] for row in rows]
        shape = (len(rows), longest)
        return cls(
            torch.tensor(ids, dtype=torch.long).view(shape),
            torch.tensor(kinds, dtype=torch.uint8).view(shape),
        )

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def real(self) -> Tensor:
        """(N, L) bool, False for padding."""
        return self.kinds != TokenKind.PADDING

    @property
    def ends(self) -> Tensor:
        """(N, L) bool, True for the end of a sequence."""
        return self.kinds == TokenKind.END

    @property
    def special(self) -> Tensor:
        """(N, L) bool, True for all but content: beginning, end, padding and others."""
        return self.kinds != TokenKind.CONTENT

    @property
    def lengths(self) -> Tensor:
        """(N,) tokens of each sequence without its padding."""
        return self.real.sum(1)

    @property
    def content_numbers(self) -> Tensor:
        """(N, L) numbers 0, 1, … of the content tokens of each sequence, −1 elsewhere."""
        content = self.kinds == TokenKind.CONTENT
        return (content.cumsum(1) - 1).masked_fill(~content, -1)

    def shifted(self) -> "TokenRows":
        """The token after each position; padding at the last."""
        ids, kinds = self.ids.roll(-1, 1), self.kinds.roll(-1, 1)
        kinds[:, -1:] = TokenKind.PADDING
        return TokenRows(ids, kinds)

    def only_last(self) -> "TokenRows":
        """Labels of which the last row of each sequence alone is real; its id means nothing."""
        last = torch.arange(self.ids.size(1)) == self.lengths[:, None] - 1  # (N, L)
        kinds = torch.where(last, TokenKind.CONTENT, TokenKind.PADDING).to(self.kinds)
        return TokenRows(torch.zeros_like(self.ids), kinds)

    def chosen(self, rows: Tensor) -> "TokenRows":
        """The sequences with these numbers, without the padding that all of them share."""
        kinds = self.kinds[rows]
        longest = int((kinds != TokenKind.PADDING).sum(1).max()) if len(rows) else 0
        return TokenRows(self.ids[rows, :longest], kinds[:, :longest])

    def repeated(self, copies: int) -> "TokenRows":
        """All sequences, `copies` times one after the other."""
        return TokenRows(self.ids.repeat(copies, 1), self.kinds.repeat(copies, 1))


def teacher_forced(target: TokenRows, padding: int) -> tuple[TokenRows, TokenRows]:
    """Decoder inputs and the next token of each, both (N, L − 1).

    target: whole outputs, with beginning and end. padding: the id of padding.
    """
    labels = TokenRows(target.ids[:, 1:], target.kinds[:, 1:])
    fed = TokenRows(target.ids[:, :-1], target.kinds[:, :-1])
    nothing = ~labels.real  # the last token of a shorter output is not fed in
    queries = TokenRows(
        fed.ids.masked_fill(nothing, padding), fed.kinds.masked_fill(nothing, TokenKind.PADDING)
    )
    return queries, labels


REPEATED_BLOCK = 25
"""The most tokens of a repeated block. Source: Olsson et al. 2022, arXiv 2209.11895."""

PART_SIZE = 32
"""The most sentences of one forward pass."""

Targets = Literal["task", "given", "greedy", "next", "masked", "labels", "none"]
"""Source of the expected predictions: the task's rule; given translations; the model's own greedy
output, which is not ground truth; the next token of the text; its masked tokens; given labels of a
classifier; "none", because nothing is to be predicted."""


@dataclass(frozen=True, slots=True, eq=False)
class EvaluationBatch:
    """N sentences. Raises `EvaluationBatchError` when there are none.

    source: (N, S) tokens that the encoder reads; None in a model without an encoder.
    queries: (N, T) tokens that the decoder is fed; None in a model without a decoder.
    labels: (N, T), for an encoder alone (N, S): the expected prediction of each row; padding in a
        row without one. For a classifier of texts (N, 1): the number of the class of each text.
    name: shown beside the figures.
    task: the toy task, which knows the gold alignment; None for text.
    links: for each sentence, pairs (row, source position) of human alignment: the row's prediction
        comes from that position; None without human alignment.
    segments: (N, S) which of two texts each source token is in; None for single texts.
    """

    source: TokenRows | None
    queries: TokenRows | None
    labels: TokenRows
    name: str
    targets: Targets
    task: AlignedTask | None = None
    links: tuple[frozenset[tuple[int, int]], ...] | None = None
    segments: torch.Tensor | None = None

    def __post_init__(self) -> None:
        if not len(self.labels):
            raise EvaluationBatchError("no_sentences")

    def __len__(self) -> int:
        return len(self.labels)

    def __repr__(self) -> str:
        return f"EvaluationBatch({self.name!r}: {len(self)} sentences, targets {self.targets})"

    @property
    def longest(self) -> int:
        """Tokens of the longest sequence."""
        sides = (self.source, self.queries)
        return max(side.ids.size(1) for side in sides if side is not None)

    @property
    def pass_tokens(self) -> int:
        """Upper limit for the tokens of one pass."""
        return min(len(self), PART_SIZE) * self.longest

    def first(self, size: int) -> "EvaluationBatch":
        """At most `size` sentences, spread evenly over all. Raises `EvaluationBatchError`
        below 1."""
        if size < 1:
            raise EvaluationBatchError("no_sentences")
        numbers = torch.linspace(0, len(self) - 1, min(size, len(self)))
        return self.chosen(numbers.round().long())

    def parts(self, size: int = PART_SIZE) -> Iterator["EvaluationBatch"]:
        """All sentences, `size` at a time, sorted by length, padded to the longest of each part."""
        lengths = torch.zeros(len(self), dtype=torch.long)
        for side in (self.source, self.queries):
            lengths += 0 if side is None else side.lengths
        order = lengths.argsort(stable=True)
        for start in range(0, len(self), size):
            yield self.chosen(order[start : start + size])

    def chosen(self, rows: torch.Tensor) -> "EvaluationBatch":
        """The sentences of these numbers, padded to the longest of them."""
        source, queries = (
            None if side is None else side.chosen(rows) for side in (self.source, self.queries)
        )
        other = queries or source
        assert other is not None
        axis = other.ids.size(1)  # a label for each row, even if the last rows have only padding
        labels = TokenRows(self.labels.ids[rows, :axis], self.labels.kinds[rows, :axis])
        links = None if self.links is None else tuple(self.links[row] for row in rows.tolist())
        segments = None if self.segments is None else self.segments[rows, :axis]
        return replace(
            self, source=source, queries=queries, labels=labels, links=links, segments=segments
        )

    @property
    def has_gold(self) -> bool:
        """Whether the gold alignment is known: the source position of each prediction."""
        return self.task is not None or self.links is not None

    def gold(self) -> NDArray[np.bool_] | None:
        """Gold alignment (N, T, S), or of a decoder alone (N, T, T): True where the prediction of a
        query comes from; None if unknown."""
        read = self.source or self.queries
        if read is None or not self.has_gold:
            return None
        shape = (*self.labels.ids.shape, read.ids.size(1))
        gold = np.zeros(shape, dtype=np.bool_)
        if self.links is not None:
            for sentence, links in zip(gold, self.links, strict=True):
                for row, position in links:
                    sentence[row, position] = True
            return gold
        assert self.task is not None
        sources = [[]] * len(self) if self.source is None else self.source.ids.tolist()
        for sentence, source, follows in zip(gold, sources, self.labels.ids.tolist(), strict=True):
            sentence[:] = self.task.gold(source, follows)
        return gold


def repeated_batch(
    sequences: Callable[[Sequence[Sequence[int]]], TokenRows],
    prefix: Sequence[int],
    content: Sequence[int],
    size: int,
    block: int,
    seed: int,
) -> EvaluationBatch:
    """`size` sequences for a decoder alone: the ids `prefix`, then twice the same block of random
    ids of `content`. Labels are the tokens that can be known: the second block after its first one.

    sequences: ids of sequences of one length → their rows.
    """
    generator = torch.Generator().manual_seed(seed)
    block = min(block, len(content))
    orders = [torch.randperm(len(content), generator=generator)[:block] for _ in range(size)]
    blocks = [[content[number] for number in order.tolist()] for order in orders]
    rows = sequences([[*prefix, *own, *own] for own in blocks])
    labels = rows.shifted()
    labels.kinds[:, : rows.ids.size(1) - block] = TokenKind.PADDING
    return EvaluationBatch(None, rows, labels, "", "next")
