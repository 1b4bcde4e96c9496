"""Sequences for the toy tasks of a decoder alone: gold alignments, training and held-out batches.

Whether a sequence is held out is computed from its first symbols, as for the other toy tasks.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from explorer.core.vocabulary import BOS, EOS
from explorer.data import continued_tasks
from explorer.data.batch import Batch
from explorer.data.task_names import CONTINUED_TASKS, refuse_unknown_task
from explorer.data.toy_data import FIRST, SHORTEST_HELD_OUT, find_task, held_out

_DRAWN = 4096  # sequences at once, of which one in 127 is held out
_FEWEST_HELD_OUT = 12  # different ones among these


@dataclass(frozen=True, slots=True)
class ContinuedTask:
    """Random sequences, each symbol of which may be copied from earlier ones; see
    `continued_tasks`.

    draw: size, length, symbols and generator → (B, L) symbols from 0 on.
    sources: for each symbol of a sequence, the earlier positions it may come from.
    """

    name: str
    draw: Callable[[int, int, int, torch.Generator], Tensor]
    sources: Callable[[Sequence[int]], Sequence[Sequence[int]]]

    def gold(self, source: Sequence[int], follows: Sequence[int]) -> NDArray[np.bool_]:
        """The gold alignment (T, T): True where the token that follows a row may be copied from
        the token that is fed in there.

        source: of a decoder alone, empty. follows: the id after each row, the first of which has
            the beginning.
        """
        symbols = [token for token in follows if token >= FIRST]
        gold = np.zeros((len(follows), len(follows)), dtype=np.bool_)
        for row, positions in enumerate(self.sources(symbols)):
            gold[row, [position + 1 for position in positions]] = True
        return gold

    def batch(
        self,
        size: int,
        length: int,
        symbols: int,
        generator: torch.Generator,
        *,
        device: torch.device | str = "cpu",
    ) -> Batch:
        """Random sequences of `length` symbols out of `symbols`, none held out.

        The shapes depend on the arguments alone.
        """
        x = self.draw(size, length, symbols, generator)
        exchanged = torch.where(x == x[:, :1], x[:, 1:2], torch.where(x == x[:, 1:2], x[:, :1], x))
        return _assembled(torch.where(_held_out(x)[:, None], exchanged, x).to(device))

    def held_out_batch(
        self, size: int, length: int, alphabet: Sequence[int], generator: torch.Generator
    ) -> Batch:
        """Random sequences of `length` symbols of `alphabet`, numbered from 0.

        Only held-out ones if there are enough of them: the few of a small alphabet would be drawn
        repeatedly.
        """
        chosen: list[Tensor] = []
        while sum(map(len, chosen)) < size:
            drawn = self.draw(_DRAWN, length, len(alphabet), generator)
            x = torch.tensor(alphabet)[drawn.cpu()]
            own = x[_held_out(x)]
            different = set(map(tuple, own.tolist()))
            chosen.append(own if len(different) >= _FEWEST_HELD_OUT else x)
        return _assembled(torch.cat(chosen)[:size])


def find_continued_task(name: str) -> ContinuedTask:
    """The task called `name`. Raises `TaskError` when there is none."""
    refuse_unknown_task(name)
    module = import_module(f"{continued_tasks.__name__}.{name}")
    return ContinuedTask(name, module.sequences, module.alignment)


class AlignedTask(Protocol):
    """A toy task of either kind, which knows where each answer comes from."""

    def gold(self, source: Sequence[int], follows: Sequence[int]) -> NDArray[np.bool_]:
        """The gold alignment (T, S), or of a decoder alone (T, T)."""


def aligned_task(name: str) -> AlignedTask:
    """The toy task called `name`, of either kind. Raises `TaskError` when there is none."""
    return find_continued_task(name) if name in CONTINUED_TASKS else find_task(name)


def _held_out(x: Tensor) -> Tensor:
    """(B,) True where a sequence (B, L) is held out, by its first symbols."""
    first = x[:, :SHORTEST_HELD_OUT]
    lengths = torch.full((len(x),), first.size(1), device=x.device)
    return held_out(first, lengths)


def _assembled(x: Tensor) -> Batch:
    """Targets (B, L + 2) of symbols (B, L) from 0 on; the source is empty."""
    first, last = (x.new_full((len(x), 1), mark) for mark in (BOS, EOS))
    return Batch(x[:, :0], torch.cat([first, x + FIRST, last], 1))
