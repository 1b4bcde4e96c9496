import numpy as np
import pytest
import torch

from explorer.core.errors import TaskError
from explorer.core.vocabulary import BOS, EOS
from explorer.data.continued_data import aligned_task, find_continued_task
from explorer.data.task_names import CONTINUED_TASKS
from explorer.data.toy_data import FIRST, find_task, held_out

TASK = find_continued_task("induction")


def drawn(size: int = 300, length: int = 24, symbols: int = 20) -> list[list[int]]:
    batch = TASK.batch(size, length, symbols, torch.Generator().manual_seed(1))
    assert batch.source.shape == (size, 0)
    assert batch.target.shape == (size, length + 2)
    assert (batch.target[:, 0] == BOS).all()
    assert (batch.target[:, -1] == EOS).all()
    return batch.target[:, 1:-1].tolist()


def test_gold_is_what_came_after_the_symbol_before():
    """Row 0 has the beginning, row r the symbol r; of 7 3 9 7 3, the last is copied from the 3."""
    gold = TASK.gold([], [7, 3, 9, 7, 3, EOS])
    assert gold.shape == (6, 6)
    assert np.argwhere(gold).tolist() == [[4, 2]]
    several = TASK.gold([], [5, 6, 5, 6, 5])
    assert np.argwhere(several).tolist() == [[3, 2], [4, 3]]
    thrice = TASK.gold([], [5, 6, 5, 6, 5, 6])
    assert np.argwhere(thrice[5:]).tolist() == [[0, 2], [0, 4]]
    assert aligned_task("induction").gold([], [7, 3]).tolist() == [[False] * 2] * 2
    assert isinstance(aligned_task("copy"), type(find_task("copy")))


def is_held_out(row: list[int]) -> bool:
    first = torch.tensor([row[:5]]) - FIRST
    return bool(held_out(first, torch.tensor([5])))


def test_no_sequence_of_the_training_is_held_out_and_all_of_the_evaluation_are():
    rows = drawn(2000)
    assert not any(map(is_held_out, rows))
    alphabet = range(3, 15)
    batch = TASK.held_out_batch(60, 24, alphabet, torch.Generator().manual_seed(0))
    others = batch.target[:, 1:-1].tolist()
    assert all(map(is_held_out, others))
    assert {symbol - FIRST for row in others for symbol in row} == set(alphabet)
    raw = TASK.draw(2000, 24, 20, torch.Generator().manual_seed(1)) + FIRST
    changed = sum(one != other for one, other in zip(raw.tolist(), rows, strict=True))
    assert 5 < changed < 40  # about one in 127 was


def test_few_symbols_have_a_block_and_none_is_held_out_of_them_or_of_short_sequences():
    assert {tuple(row) for row in drawn(symbols=2, length=4)} == {(3, 4, 3, 4), (4, 3, 4, 3)}
    for length, symbols in [(4, 20), (24, 3)]:
        batch = TASK.held_out_batch(5, length, range(symbols), torch.Generator().manual_seed(0))
        assert batch.target.shape == (5, length + 2)


def test_an_unknown_task_is_refused():
    assert CONTINUED_TASKS == ("induction",)
    with pytest.raises(TaskError, match="choose one of"):
        find_continued_task("deduction")
