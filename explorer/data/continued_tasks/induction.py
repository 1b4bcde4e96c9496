"""Induction: a block of different symbols, again and again. What follows a symbol is known from
where the symbol was before (Olsson et al. 2022, arXiv 2209.11895)."""

from collections.abc import Sequence

import torch
from torch import Tensor

SHORTEST_BLOCK = 4


def sequences(size: int, length: int, symbols: int, generator: torch.Generator) -> Tensor:
    device = generator.device
    most = max(2, min(length // 2, symbols))
    least = min(SHORTEST_BLOCK, most)
    block = torch.randint(least, most + 1, (size, 1), generator=generator, device=device)
    order = torch.rand(size, symbols, generator=generator, device=device).argsort(1)
    position = torch.arange(length, device=device) % block  # (B, L)
    return order.gather(1, position)


def alignment(symbols: Sequence[int]) -> list[list[int]]:
    """The positions after the earlier occurrences of the symbol before."""
    return [
        [place + 1 for place in range(position - 1) if symbols[place] == symbols[position - 1]]
        for position in range(len(symbols))
    ]
