"""Sequences for the toy tasks: their answers, gold alignments, training and held-out batches.

Whether a sequence of five symbols or more is held out is computed from its symbols: it is when
their weighted sum is 0 modulo a prime and they are not all the same. Training never sees such a
sequence, evaluation sees no others, and no list of sequences is needed.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from explorer.core.vocabulary import BOS, EOS, PAD, SPECIALS
from explorer.data import toy_tasks
from explorer.data.batch import Batch
from explorer.data.task_names import MOST_SYMBOLS, refuse_unknown_task

FIRST = len(SPECIALS)
"""The id of the first symbol."""

SHORTEST_HELD_OUT = 5
"""Symbols. There are too few shorter sequences to hold some of them out."""

_FEWEST_HELD_OUT = 100
"""Fewest held-out sequences for evaluation on them. With fewer, it uses all sequences, because
the few would be drawn repeatedly."""

_MODULUS = 127
assert MOST_SYMBOLS < _MODULUS  # so that changing one symbol always leaves the held-out set


@dataclass(frozen=True, slots=True)
class Task:
    """A rule from a sequence of symbols to one of the same length; see `toy_tasks`.

    rule: ids (B, L) and lengths (B,) → answers (B, L).
    sources: for each symbol of the answer to one sequence, the source positions it may come from.
    """

    name: str
    rule: Callable[[Tensor, Tensor], Tensor]
    sources: Callable[[Sequence[int]], Sequence[Sequence[int]]]

    def answer(self, symbols: Sequence[int]) -> list[int]:
        """The answer to one sequence of ids."""
        answers = self.rule(torch.tensor([symbols]), torch.tensor([len(symbols)]))  # (1, n)
        answer: list[int] = answers[0].tolist()
        return answer

    def gold(self, source: Sequence[int], follows: Sequence[int]) -> NDArray[np.bool_]:
        """The gold alignment (T, S): True where the token that follows a row may come from a source
        position.

        source: ids, with end and padding. follows: the id after each row.
        """
        symbols = [token for token in source if token >= FIRST]
        rows = min(len(symbols), len(follows))
        gold = np.zeros((len(follows), len(source)), dtype=np.bool_)
        gold[:rows, : len(symbols)] = self.alignment(symbols)[:rows]
        return gold

    def alignment(self, symbols: Sequence[int]) -> NDArray[np.bool_]:
        """The gold alignment (n, n): True where answer t may come from source position s."""
        gold = np.zeros((len(symbols), len(symbols)), dtype=np.bool_)
        for row, positions in enumerate(self.sources(symbols)):
            gold[row, list(positions)] = True
        return gold

    def batch(
        self,
        size: int,
        longest: int,
        symbols: int,
        generator: torch.Generator,
        *,
        shortest: int = 1,
        small_alphabets: float = 0.0,
        device: torch.device | str = "cpu",
    ) -> Batch:
        """Random sequences of `shortest` to `longest` symbols out of `symbols`, none held out.

        small_alphabets: the share of sequences with few different symbols, see
            `draw_small_alphabets`; the other sequences are uniform.
        Every length is equally likely. The shapes depend on the arguments alone.
        """
        lengths = torch.randint(
            shortest, longest + 1, (size,), generator=generator, device=generator.device
        )
        if small_alphabets:
            x = draw_small_alphabets(size, longest, symbols, generator, share=small_alphabets)
        else:
            shape = (size, longest)
            x = torch.randint(symbols, shape, generator=generator, device=generator.device)
        x[:, 0] = torch.where(held_out(x, lengths), (x[:, 0] + 1) % symbols, x[:, 0])
        return self._assemble(x.to(device) + FIRST, lengths.to(device))

    def held_out_batch(
        self, size: int, length: int, alphabet: Sequence[int], generator: torch.Generator
    ) -> Batch:
        """Random sequences of exactly `length` symbols of `alphabet`, numbered from 0.

        Only held-out ones if there are enough of them, see `has_held_out`.
        """
        chosen: list[Tensor] = []
        lengths = torch.full((4096,), length)
        while sum(map(len, chosen)) < size:
            drawn = torch.randint(len(alphabet), (4096, length), generator=generator)
            x = torch.tensor(alphabet)[drawn]
            chosen.append(x[held_out(x, lengths)] if has_held_out(length, len(alphabet)) else x)
        return self._assemble(torch.cat(chosen)[:size] + FIRST, torch.full((size,), length))

    def _assemble(self, x: Tensor, lengths: Tensor) -> Batch:
        """Sources (B, L + 1) and targets (B, L + 2) of the ids `x` (B, L)."""
        size, longest = x.shape
        inside = torch.arange(longest, device=x.device) < lengths[:, None]  # (B, L)
        answer = self.rule(x, lengths)
        source = x.new_full((size, longest + 1), PAD)
        source[:, :-1] = torch.where(inside, x, PAD)
        source.scatter_(1, lengths[:, None], EOS)
        target = x.new_full((size, longest + 2), PAD)
        target[:, 0] = BOS
        target[:, 1:-1] = torch.where(inside, answer, PAD)
        target.scatter_(1, lengths[:, None] + 1, EOS)
        return Batch(source, target)


def draw_small_alphabets(
    size: int, longest: int, symbols: int, generator: torch.Generator, *, share: float
) -> Tensor:
    """(B, L) symbols from 0 on; about `share` of the rows use a random subset of them only.

    The logarithm of the subset's size, 1 to `symbols`, is uniform: of twenty symbols, half of
    the subsets have at most four. With uniform draws, repeats of few symbols would be too rare
    to be learnt. No value is read back, so that a CUDA graph can hold this.
    """
    device = generator.device
    one, other = torch.rand(2, size, generator=generator, device=device)
    few = ((symbols + 1) ** other).long().clamp(1, symbols)  # (B,)
    sizes = torch.where(one < share, few, symbols)
    order = torch.rand(size, symbols, generator=generator, device=device).argsort(1)
    drawn = torch.randint(2**31, (size, longest), generator=generator, device=device)
    return order.gather(1, drawn % sizes[:, None])


def has_held_out(length: int, symbols: int) -> bool:
    """Whether an alphabet of `symbols` has enough held-out sequences of `length` symbols to be
    evaluated on them."""
    return length >= SHORTEST_HELD_OUT and symbols**length >= _FEWEST_HELD_OUT * _MODULUS


def held_out(x: Tensor, lengths: Tensor) -> Tensor:
    """(B,) True where a sequence of `x` (B, L), symbols from 0 on, belongs to the held-out set.

    One symbol repeated never does: there are too few such sequences to hold one out.
    """
    inside = torch.arange(x.size(1), device=x.device) < lengths[:, None]  # (B, L)
    residue = (torch.where(inside, x, 0) * _weights(x.size(1), x.device)).sum(1) % _MODULUS
    repeated = (~inside | (x == x[:, :1])).all(1)
    return (residue == 0) & (lengths >= SHORTEST_HELD_OUT) & ~repeated


@cache  # once for each device: while a CUDA graph is captured nothing can be copied there
def _weights(length: int, device: torch.device) -> Tensor:
    """The weight of each position in the sum that decides whether a sequence is held out: (L,)."""
    return torch.tensor([pow(3, position, _MODULUS) for position in range(length)], device=device)


def find_task(name: str) -> Task:
    """The task called `name`. Raises `TaskError` when there is none."""
    refuse_unknown_task(name)
    rule = import_module(f"{toy_tasks.__name__}.{name}")
    return Task(name, rule.answer, rule.alignment)
