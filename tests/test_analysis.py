import numpy as np

from explorer.analysis import gold_weight


def test_gold_weight_by_hand():
    weights = np.array([[[0.7, 0.2, 0.1], [0.3, 0.3, 0.4], [0.0, 0.0, 1.0]]])
    gold = np.array([[True, False, False], [True, True, False], [False, False, False]])
    np.testing.assert_allclose(gold_weight(weights, gold), [(0.7 + 0.6) / 2])


def test_gold_weight_of_one_is_all_on_gold_whatever_the_leading_axes():
    gold = np.eye(5, dtype=bool)[::-1]
    weights = np.broadcast_to(gold.astype(np.float32), (2, 3, 5, 5))
    assert gold_weight(weights, gold).tolist() == [[1.0] * 3] * 2


def test_gold_that_differs_between_sequences_broadcasts():
    weights = np.full((2, 3, 7, 4, 4), 0.25)  # (layer, sequence, head, query, key)
    gold = np.zeros((3, 1, 4, 4), bool)
    gold[0, 0] = np.eye(4)
    gold[1, 0, :2] = True
    result = gold_weight(weights, gold)
    assert result.shape == (2, 3, 7)
    np.testing.assert_allclose(result[:, 0], 0.25)
    np.testing.assert_allclose(result[:, 1], 1.0)
    assert np.isnan(result[:, 2]).all()
