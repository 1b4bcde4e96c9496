"""The logits of a pass, one block of rows at a time: the logits of all rows may take more memory
than all attention. And the candidates of each step, as the columns of `Trace.steps`."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import accumulate
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

BLOCK = 32 * 2**20
"""Bytes of the logits, as float32, that are computed at once."""

CANDIDATES = 10
"""The most probable tokens listed at each step, beside the one that follows."""


def rows_of_block(size: int, sequences: int, width: int) -> int:
    """Number of rows of `width` logits, for `sequences` sequences, in `size` bytes; at least 1."""
    return max(1, size // max(1, 4 * sequences * width))


@dataclass(frozen=True, eq=False)
class RowLogits:
    """The logits (N, T, V) of T rows of N sequences.

    rows: T. width: V.
    step: rows of a block; the last block may have fewer.
    read: (first row, last row + 1) → their logits, on the CPU.
    pick: rows (N,) → the logits (N, V) of one row of each sequence; None = they are read.
    """

    rows: int
    width: int
    step: int
    read: Callable[[int, int], Tensor]
    pick: Callable[[Tensor], Tensor] | None = None

    @classmethod
    def of(cls, logits: Tensor) -> "RowLogits":
        """From logits in memory, (N, T, V), or (N, C) for one output per sequence, as one row."""
        rows = (logits[:, None] if logits.ndim == 2 else logits).cpu()
        step = rows_of_block(BLOCK, len(rows), rows.size(-1))
        return cls(rows.size(1), rows.size(2), step, lambda first, end: rows[:, first:end])

    @classmethod
    def computed(
        cls, rows: int, width: int, step: int, compute: Callable[[int, int], Tensor]
    ) -> "RowLogits":
        """From `compute`, which takes the first row of a block and its last row + 1.

        Only whole blocks are computed, so a row has the same numbers whichever rows are read.
        """

        def read(first: int, end: int) -> Tensor:
            starts = range(first - first % step, end, step)
            blocks = [compute(start, min(start + step, rows)) for start in starts]
            if len(blocks) == 1:
                return blocks[0][:, first - starts[0] : end - starts[0]]
            return torch.cat(blocks, 1)[:, first - starts[0] : end - starts[0]]

        return cls(rows, width, step, read)

    @classmethod
    def of_states(cls, states: Tensor, head: Callable[[Tensor], Tensor], width: int) -> "RowLogits":
        """From `head` applied to hidden states (N, T, D); a single block is kept in memory."""
        rows, step = states.size(1), rows_of_block(BLOCK, len(states), width)
        if rows <= step:
            return cls.of(head(states))
        return cls.computed(rows, width, step, lambda first, end: head(states[:, first:end]).cpu())

    @classmethod
    def when_read(cls, states: Tensor, head: Callable[[Tensor], Tensor], width: int) -> "RowLogits":
        """As `of_states`, but nothing is computed before it is read, and never twice as a whole."""

        def whole() -> Tensor:
            if not found:
                found.append(head(states).cpu())
            return found[0]

        found: list[Tensor] = []
        every = torch.arange(len(states))
        rows, step = states.size(1), rows_of_block(BLOCK, len(states), width)
        by_block = cls.computed(rows, width, step, lambda one, end: head(states[:, one:end]).cpu())
        read = by_block.read if rows > step else lambda first, end: whole()[:, first:end]
        return cls(rows, width, step, read, lambda rows: head(states[every, rows]).cpu())

    @classmethod
    def joined(cls, parts: Sequence["RowLogits"]) -> "RowLogits":
        """The rows of all parts one after the other, in blocks of the first part's size."""
        starts = list(accumulate((part.rows for part in parts), initial=0))

        def read(first: int, end: int) -> Tensor:
            found = [
                part.read(max(first - start, 0), min(end - start, part.rows))
                for start, part in zip(starts, parts, strict=False)
                if start < end and first < start + part.rows
            ]
            return found[0] if len(found) == 1 else torch.cat(found, 1)

        return cls(starts[-1], parts[0].width, parts[0].step, read)

    @classmethod
    def of_steps(cls, steps: Sequence[Tensor]) -> "RowLogits":
        """From the logits (N, V) of each step of decoding, one row for each."""
        return cls.joined([cls.of(logits) for logits in steps])

    def each(self, sequences: int) -> list["RowLogits"]:
        """The logits of each of N sequences. With several, those of all are computed once, when
        the first are read."""
        if sequences == 1:
            return [self]
        whole = cache(self.whole)

        def one(number: int) -> RowLogits:
            step = rows_of_block(BLOCK, 1, self.width)
            read = lambda first, end: whole()[number : number + 1, first:end]  # noqa: E731
            return RowLogits(self.rows, self.width, step, read)

        return [one(number) for number in range(sequences)]

    def blocks(self) -> Iterator[tuple[int, int]]:
        """(first row, last row + 1) of each block."""
        for first in range(0, self.rows, self.step):
            yield first, min(first + self.step, self.rows)

    def at(self, rows: Tensor) -> Iterator[tuple[Tensor, Tensor]]:
        """For each block with any of `rows`, which ascend: a bool mask of these rows, and their
        logits in the first sequence, (count, V)."""
        for first, end in self.blocks():
            own = (rows >= first) & (rows < end)
            count = int(own.sum())
            if count == end - first:
                yield own, self.read(first, end)[0]  # all rows, without a copy
            elif count:
                yield own, self.read(first, end)[0, rows[own] - first]

    def whole(self) -> Tensor:
        """All logits, (N, T, V)."""
        return self.read(0, self.rows)

    def picked(self, rows: Tensor) -> Tensor:
        """The logits (N, V) of one row of each sequence."""
        if self.pick:
            return self.pick(rows)
        first, end = int(rows.min()), int(rows.max()) + 1
        return self.read(first, end)[torch.arange(len(rows)), rows - first]


def largest_difference(one: RowLogits, other: RowLogits) -> float:
    """Largest difference of logits, for `Trace.measured`; both have equally many rows."""
    return max(
        float((one.read(first, end) - other.read(first, end)).abs_().max())
        for first, end in one.blocks()
    )


NO_LOGITS = RowLogits.of(torch.empty(1, 0, 0))


def step_columns(
    logits: RowLogits, rows: Tensor, chosen: Tensor, forced: Tensor, first_id: int = 0
) -> dict[str, NDArray[Any]]:
    """The columns "steps.…" of the steps after `rows` (T,), which ascend.

    chosen: (T,) the ids that follow. forced: as in `candidate_columns`.
    first_id: the first id that may follow; the ids before it have probability too.
    """
    parts = []
    for own, found in logits.at(rows):
        shares = found.float().softmax(-1)[:, first_id:]
        columns = candidate_columns(shares, chosen[own] - first_id, forced[own], first_id)
        columns["steps.step"] = rows[own].numpy()[columns["steps.step"] - 1] + 1
        parts.append(columns)
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def candidate_columns(
    probabilities: Tensor, chosen: Tensor, forced: Tensor, first_id: int = 0
) -> dict[str, NDArray[Any]]:
    """The columns "steps.…" of T steps, those of the most probable candidates first.

    probabilities: (T, V) of the ids from `first_id` on.
    chosen: (T,) column of the token that follows; it is listed with its rank however low.
    forced: (T,) bool, whether it was set, not decoded.
    """
    taken = chosen[:, None]  # (T, 1)
    best = probabilities.topk(min(CANDIDATES, probabilities.size(1)))
    own = probabilities.gather(1, taken)  # (T, 1)
    ranks = 1 + (probabilities > own).sum(1, dtype=torch.int32)  # as int64 five times as slow
    is_taken = best.indices == taken  # (T, best)
    listed = is_taken.any(1)
    ranks = torch.where(listed, is_taken.int().argmax(1) + 1, ranks)
    rows = len(probabilities)
    ids = torch.cat([best.indices, taken], 1)  # (T, best + 1)
    order = torch.arange(1, best.indices.size(1) + 1).expand(rows, -1)
    keep = torch.cat([torch.ones_like(order, dtype=torch.bool), ~listed[:, None]], 1)
    is_chosen = ids == taken
    columns = {
        "step": torch.arange(1, rows + 1)[:, None].expand_as(ids),
        "rank": torch.cat([order, ranks[:, None]], 1),
        "id": ids + first_id,
        "probability": torch.cat([best.values, own], 1),
        "chosen": is_chosen,
        "forced": is_chosen & forced[:, None],
    }
    return {f"steps.{name}": column[keep].numpy() for name, column in columns.items()}
