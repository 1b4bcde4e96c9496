"""Sort: the same symbols in the order of the vocabulary."""

from collections.abc import Sequence

import torch
from torch import Tensor


def answer(symbols: Tensor, lengths: Tensor) -> Tensor:
    inside = torch.arange(symbols.size(1), device=symbols.device) < lengths[:, None]  # (B, L)
    last = torch.iinfo(symbols.dtype).max  # padding is sorted behind all symbols
    return torch.where(inside, symbols, last).sort(dim=1, stable=True).values


def alignment(symbols: Sequence[int]) -> list[list[int]]:
    """Equal symbols cannot be told apart: each of them may come from all their positions."""
    return [
        [position for position, symbol in enumerate(symbols) if symbol == answered]
        for answered in sorted(symbols)
    ]
