"""Copy: the same symbols in the same order."""

from collections.abc import Sequence

from torch import Tensor


def answer(symbols: Tensor, lengths: Tensor) -> Tensor:
    return symbols


def alignment(symbols: Sequence[int]) -> list[list[int]]:
    return [[position] for position in range(len(symbols))]
