"""The sequences that the tasks of a decoder alone draw, and where their symbols come from."""

import pytest
import torch

from explorer.data.continued_tasks import induction


def block_of(row: list[int]) -> int:
    return next((n for n in range(1, len(row)) if row[n] == row[0]), len(row))


@pytest.mark.parametrize(("length", "symbols", "longest"), [(24, 20, 12), (24, 9, 9), (9, 20, 4)])
def test_a_block_of_different_symbols_comes_again_and_again(length, symbols, longest):
    blocks = set()
    drawn = induction.sequences(300, length, symbols, torch.Generator().manual_seed(1))
    for row in drawn.tolist():
        size = block_of(row)
        assert len(set(row[:size])) == size
        assert row == [row[place % size] for place in range(length)]
        assert set(row) <= set(range(symbols))
        blocks.add(size)
    assert blocks == set(range(4, longest + 1))


def test_a_symbol_comes_from_what_followed_the_symbol_before():
    assert induction.alignment([7, 3, 9, 7, 3]) == [[], [], [], [], [1]]
    assert induction.alignment([5, 6, 5, 6, 5, 6]) == [[], [], [], [1], [2], [1, 3]]
