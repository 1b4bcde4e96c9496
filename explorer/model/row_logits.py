"""The logits of a pass, a block of rows at a time: those of all rows may take more memory than all
attention."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

import torch
from torch import Tensor

BLOCK = 16 * 2**20
"""Bytes of the logits that are computed at once, as float32."""


def rows_of_block(size: int, sequences: int, width: int) -> int:
    """How many rows of so many sequences, each of `width` logits, take at most `size` bytes."""
    return max(1, size // max(1, 4 * sequences * width))


@dataclass(frozen=True, eq=False)
class RowLogits:
    """The logits (N, T, V) of T rows of N sequences.

    rows: T. width: V.
    step: rows of a block; the last block may have fewer.
    read: (first row, the one behind the last) → their logits, on the CPU.
    """

    rows: int
    width: int
    step: int
    read: Callable[[int, int], Tensor]

    @classmethod
    def of(cls, logits: Tensor) -> "RowLogits":
        """Those that are in memory, (N, T, V); (N, C) of one output a sequence is one row."""
        rows = (logits[:, None] if logits.ndim == 2 else logits).cpu()
        step = rows_of_block(BLOCK, len(rows), rows.size(-1))
        return cls(rows.size(1), rows.size(2), step, lambda first, end: rows[:, first:end])

    @classmethod
    def computed(
        cls, rows: int, width: int, step: int, compute: Callable[[int, int], Tensor]
    ) -> "RowLogits":
        """Those that `compute` gives for one block, from its first row to the one behind its last.

        Only whole blocks are computed: a row has the same numbers whichever rows are read with it.
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
        """Those that `head` computes of hidden states (N, T, D); a single block is kept."""
        rows, step = states.size(1), rows_of_block(BLOCK, len(states), width)
        if rows <= step:
            return cls.of(head(states))
        return cls.computed(rows, width, step, lambda first, end: head(states[:, first:end]).cpu())

    @classmethod
    def joined(cls, parts: Sequence["RowLogits"]) -> "RowLogits":
        """The rows of one part after the other, in blocks as the first part has them."""
        starts = list(accumulate((part.rows for part in parts), initial=0))

        def read(first: int, end: int) -> Tensor:
            found = [
                part.read(max(first - start, 0), min(end - start, part.rows))
                for start, part in zip(starts, parts, strict=False)
                if start < end and first < start + part.rows
            ]
            return found[0] if len(found) == 1 else torch.cat(found, 1)

        return cls(starts[-1], parts[0].width, parts[0].step, read)

    def blocks(self) -> Iterator[tuple[int, int]]:
        """The first row of each block, and the one behind its last."""
        for first in range(0, self.rows, self.step):
            yield first, min(first + self.step, self.rows)

    def at(self, rows: Tensor) -> Iterator[tuple[Tensor, Tensor]]:
        """For each block that has any of `rows`, which ascend: which of them (bool), and their
        logits in the first sequence (rows, V)."""
        for first, end in self.blocks():
            own = (rows >= first) & (rows < end)
            count = int(own.sum())
            if count == end - first:
                yield own, self.read(first, end)[0]  # all rows, without a copy
            elif count:
                yield own, self.read(first, end)[0, rows[own] - first]

    def whole(self) -> Tensor:
        """All of them, (N, T, V)."""
        return self.read(0, self.rows)


def largest_difference(one: RowLogits, other: RowLogits) -> float:
    """The largest difference between the logits of as many rows, for `Trace.measured`."""
    return max(
        float((one.read(first, end) - other.read(first, end)).abs_().max())
        for first, end in one.blocks()
    )


NO_LOGITS = RowLogits.of(torch.empty(1, 0, 0))
