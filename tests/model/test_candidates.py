import numpy as np
import torch

from explorer.model.candidates import CANDIDATES, candidate_columns, step_columns
from explorer.model.row_logits import RowLogits


def test_the_token_that_follows_is_listed_with_its_rank_however_low():
    probabilities = torch.arange(20.0).softmax(0).flip(0)[None]  # column 0 is the best
    columns = candidate_columns(
        probabilities.repeat(2, 1), torch.tensor([3, 17]), torch.tensor([False, True]), first_id=2
    )
    steps = columns["steps.step"]
    assert [(steps == step).sum() for step in (1, 2)] == [CANDIDATES, CANDIDATES + 1]
    chosen = columns["steps.chosen"]
    assert columns["steps.rank"][chosen].tolist() == [4, 18]
    assert columns["steps.id"][chosen].tolist() == [5, 19]
    assert columns["steps.forced"][chosen].tolist() == [False, True]
    np.testing.assert_allclose(columns["steps.probability"][0], probabilities[0, 0])


def test_the_columns_of_some_rows_are_joined_from_blocks():
    logits = torch.randn(1, 7, 20, generator=torch.Generator().manual_seed(0))
    rows, chosen = torch.tensor([0, 3, 4, 6]), torch.tensor([2, 19, 5, 7])
    forced = torch.tensor([False, True, False, False])
    whole = RowLogits.of(logits)
    found = step_columns(RowLogits.computed(7, 20, 2, whole.read), rows, chosen, forced, first_id=2)
    expected = candidate_columns(logits[0, rows].softmax(-1)[:, 2:], chosen - 2, forced, 2)
    assert found.keys() == expected.keys()
    steps = (rows + 1).numpy()[expected.pop("steps.step") - 1]
    np.testing.assert_array_equal(found["steps.step"], steps)
    for name, column in expected.items():
        np.testing.assert_allclose(found[name], column, rtol=1e-6)
