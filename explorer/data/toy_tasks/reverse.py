"""Reverse: the same symbols, the last one first."""

from collections.abc import Sequence

import torch
from torch import Tensor


def answer(symbols: Tensor, lengths: Tensor) -> Tensor:
    position = torch.arange(symbols.size(1), device=symbols.device)
    source = lengths[:, None] - 1 - position  # (B, L), below 0 in the padding
    return symbols.gather(1, source.clamp(min=0))


def alignment(symbols: Sequence[int]) -> list[list[int]]:
    return [[position] for position in reversed(range(len(symbols)))]
