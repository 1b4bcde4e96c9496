import numpy as np
import pytest
import torch

from explorer.data.task_names import RULE_TASKS
from explorer.data.toy_data import FIRST, find_task


@pytest.mark.parametrize(
    ("name", "answer"),
    [("copy", [7, 5, 9, 5]), ("reverse", [5, 9, 5, 7]), ("sort", [5, 5, 7, 9])],
)
def test_answers(name, answer):
    assert find_task(name).answer([7, 5, 9, 5]) == answer


def test_gold_alignment_of_copy_and_reverse_is_a_diagonal():
    np.testing.assert_array_equal(find_task("copy").alignment([7, 7, 9]), np.eye(3, dtype=bool))
    expected = np.eye(3, dtype=bool)[::-1]
    np.testing.assert_array_equal(find_task("reverse").alignment([7, 7, 9]), expected)


def test_equal_symbols_share_the_gold_of_sort():
    gold = find_task("sort").alignment([7, 5, 9, 5])
    assert gold.astype(int).tolist() == [[0, 1, 0, 1], [0, 1, 0, 1], [1, 0, 0, 0], [0, 0, 1, 0]]


@pytest.mark.parametrize("name", RULE_TASKS)
def test_each_task_answers_every_symbol_and_aligns_it(name):
    task, generator = find_task(name), torch.Generator().manual_seed(7)
    for length in range(1, 8):
        symbols = (torch.randint(5, (length,), generator=generator) + FIRST).tolist()
        answer, gold = task.answer(symbols), task.alignment(symbols)
        assert len(answer) == length
        assert min(answer) >= FIRST
        assert gold.shape == (length, length)
        assert gold.any(-1).all()
