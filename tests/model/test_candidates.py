import numpy as np
import torch

from explorer.model.candidates import CANDIDATES, candidate_columns


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
