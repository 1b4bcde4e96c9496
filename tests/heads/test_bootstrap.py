import numpy as np
import pytest

from explorer.heads.bootstrap import Tally, joined


def test_a_mean_counts_every_query_alike():
    """Sentence one: 2 queries that add up to 1.0; sentence two: 1 query of 0.8; 1.8 / 3 = 0.6."""
    tally = Tally(np.array([[1.0], [0.8]]), np.array([[2.0], [1.0]]))
    np.testing.assert_allclose(tally.mean, [0.6])
    assert tally.queries.tolist() == [3]
    assert tally.sentences.tolist() == [2]


def test_what_was_never_counted_is_no_number():
    tally = Tally(np.zeros((3, 2)), np.array([[0.0, 1.0]] * 3))
    assert np.isnan(tally.mean[0])
    low, high = tally.interval()
    assert np.isnan([low[0], high[0]]).all()
    assert (low[1], high[1]) == (0, 0)
    assert tally.sentences.tolist() == [0, 3]


def test_sentences_that_agree_leave_no_doubt():
    tally = Tally(np.full((50, 1), 2.0), np.full((50, 1), 4.0))
    low, high = tally.interval()
    np.testing.assert_allclose([low[0], high[0]], 0.5)


def test_the_interval_is_that_of_a_mean_and_the_same_for_a_seed():
    """Of 400 draws from a normal of deviation 1, the mean is ± 1.96 / 20 = 0.098 at 95 %."""
    values = np.random.default_rng(3).normal(size=(400, 1))
    tally = Tally(values, np.ones_like(values))
    low, high = tally.interval(seed=5)
    assert low < tally.mean < high
    assert (high - low)[0] == pytest.approx(2 * 0.098 * values.std(), rel=0.1)
    np.testing.assert_array_equal(tally.interval(seed=5), (low, high))


def test_joined_tallies_are_those_of_all_sentences():
    one, other = (Tally(np.full((n, 2, 3), n / 2), np.full((n, 2, 3), 2.0)) for n in (1, 3))
    both = joined([one, other])
    assert both.total.shape == (4, 2, 3)
    np.testing.assert_allclose(both.mean, (0.5 + 3 * 1.5) / 8)
    assert both.interval()[0].shape == (2, 3)
