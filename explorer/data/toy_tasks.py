"""Toy tasks with a known answer and a known alignment: copy, reverse, sort.

A task answers in two ways that must agree (tested): for one list of symbols in plain Python,
and for a batch of tensors on any device. Sequences of five symbols and more whose weighted
sum falls on 0 modulo a prime are held out: training never sees them, evaluation only them.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from explorer.core.errors import TrainingError
from explorer.core.vocabulary import BOS, EOS, PAD, SPECIALS

FIRST = len(SPECIALS)
"""The id of the first symbol."""

SHORTEST_HELD_OUT = 5
_MODULUS = 127
MOST_SYMBOLS = 100
"""Below the modulus, so that one changed symbol always leaves the held-out set."""


@dataclass(frozen=True, slots=True)
class Batch:
    """Sources (B, L + 1) end in EOS, targets (B, L + 2) begin with BOS; padding fills up."""

    source: Tensor
    target: Tensor


@dataclass(frozen=True, slots=True)
class Task:
    """A rule from a list of symbols to one of the same length.

    order: for symbol ids (B, L) with lengths (B,), the place in the source (B, L) from which
        each answer comes.
    ties_share: whether equal symbols of the source are one and the same to the answer.
    """

    name: str
    order: Callable[[Tensor, Tensor], Tensor]
    ties_share: bool = False

    def answer(self, symbols: Sequence[int]) -> list[int]:
        """The answer to one list of ids."""
        places = self.order(torch.tensor([symbols]), torch.tensor([len(symbols)]))[0]
        return [symbols[place] for place in places.tolist()]

    def alignment(self, symbols: Sequence[int]) -> NDArray[np.bool_]:
        """(n, n) True where answer t comes from source s; equal symbols share where they tie."""
        size = len(symbols)
        places = self.order(torch.tensor([symbols]), torch.tensor([size]))[0].numpy()
        source = np.asarray(symbols) if self.ties_share else np.arange(size)
        return source[None, :] == source[places][:, None]

    def batch(
        self,
        size: int,
        longest: int,
        symbols: int,
        generator: torch.Generator,
        *,
        shortest: int = 1,
        device: torch.device | str = "cpu",
    ) -> Batch:
        """Random sequences of `shortest` to `longest` of `symbols` symbols, none held out.

        Every length is as likely. The shapes depend on the arguments alone.
        """
        lengths = torch.randint(
            shortest, longest + 1, (size,), generator=generator, device=generator.device
        )
        x = torch.randint(symbols, (size, longest), generator=generator, device=generator.device)
        x[:, 0] = torch.where(held_out(x, lengths), (x[:, 0] + 1) % symbols, x[:, 0])
        return self._assemble(x.to(device) + FIRST, lengths.to(device))

    def held_out_batch(
        self, size: int, length: int, symbols: int, generator: torch.Generator
    ) -> Batch:
        """Random sequences of exactly `length`; from five symbols on, only held-out ones."""
        kept: list[Tensor] = []
        lengths = torch.full((4096,), length)
        while sum(map(len, kept)) < size:
            x = torch.randint(symbols, (4096, length), generator=generator)
            kept.append(x[held_out(x, lengths)] if length >= SHORTEST_HELD_OUT else x)
        return self._assemble(torch.cat(kept)[:size] + FIRST, torch.full((size,), length))

    def _assemble(self, x: Tensor, lengths: Tensor) -> Batch:
        size, longest = x.shape
        place = torch.arange(longest, device=x.device)
        inside = place < lengths[:, None]  # (B, L)
        answer = x.gather(1, self.order(x, lengths))
        source = x.new_full((size, longest + 1), PAD)
        source[:, :-1] = torch.where(inside, x, PAD)
        source.scatter_(1, lengths[:, None], EOS)
        target = x.new_full((size, longest + 2), PAD)
        target[:, 0] = BOS
        target[:, 1:-1] = torch.where(inside, answer, PAD)
        target.scatter_(1, lengths[:, None] + 1, EOS)
        return Batch(source, target)


def held_out(x: Tensor, lengths: Tensor) -> Tensor:
    """(B,) True where the symbols x (B, L) of a sequence put it into the held-out set."""
    inside = torch.arange(x.size(1), device=x.device) < lengths[:, None]  # (B, L)
    residue = (torch.where(inside, x, 0) * _weights(x.size(1), x.device)).sum(1) % _MODULUS
    return (residue == 0) & (lengths >= SHORTEST_HELD_OUT)


@cache  # made once a device: while a CUDA graph is recorded nothing can be copied there
def _weights(length: int, device: torch.device) -> Tensor:
    """What each place counts for in the sum that decides who is held out: (L,)."""
    return torch.tensor([pow(3, place, _MODULUS) for place in range(length)], device=device)


def _copy(x: Tensor, lengths: Tensor) -> Tensor:
    return torch.arange(x.size(1), device=x.device).expand_as(x)


def _reverse(x: Tensor, lengths: Tensor) -> Tensor:
    return (lengths[:, None] - 1 - torch.arange(x.size(1), device=x.device)).clamp(min=0)


def _sort(x: Tensor, lengths: Tensor) -> Tensor:
    inside = torch.arange(x.size(1), device=x.device) < lengths[:, None]
    return torch.where(inside, x, torch.iinfo(x.dtype).max).argsort(dim=1, stable=True)


TASKS = {
    task.name: task
    for task in (Task("copy", _copy), Task("reverse", _reverse), Task("sort", _sort, True))
}


def find_task(name: str) -> Task:
    """The task called `name`. Raises `TrainingError` when there is none."""
    if name not in TASKS:
        raise TrainingError("bad_choice", name="task", got=name, choices=", ".join(TASKS))
    return TASKS[name]
