import numpy as np
import pytest

from explorer.heads.bootstrap import PerExampleMean, concatenate, percentile_ends


def test_every_query_weighs_the_same():
    """Sentence one: 2 queries that add up to 1.0; sentence two: 1 query of 0.8; 1.8 / 3 = 0.6."""
    mean = PerExampleMean(np.array([[1.0], [0.8]]), np.array([[2.0], [1.0]]))
    np.testing.assert_allclose(mean.mean, [0.6])
    assert mean.queries.tolist() == [3]
    assert mean.examples.tolist() == [2]


def test_a_count_of_0_gives_nan():
    mean = PerExampleMean(np.zeros((3, 2)), np.array([[0.0, 1.0]] * 3))
    assert np.isnan(mean.mean[0])
    low, high = mean.interval()
    assert np.isnan([low[0], high[0]]).all()
    assert (low[1], high[1]) == (0, 0)
    assert mean.examples.tolist() == [0, 3]


def test_equal_examples_have_an_interval_of_one_point():
    mean = PerExampleMean(np.full((50, 1), 2.0), np.full((50, 1), 4.0))
    low, high = mean.interval()
    np.testing.assert_allclose([low[0], high[0]], 0.5)


def test_one_example_has_no_interval():
    """All resamples of one are the same, which says nothing of how far another would be away."""
    one = PerExampleMean(np.array([[1.0, 1.0], [0.0, 3.0]]), np.array([[2.0, 2.0], [0.0, 2.0]]))
    low, high = one.interval()
    assert np.isnan([low[0], high[0]]).all()
    assert low[1] < one.mean[1] < high[1]
    assert np.isnan(percentile_ends(np.ones(1000), 1)).all()
    assert percentile_ends(np.arange(1001.0), 2) == pytest.approx((25, 975))


def test_the_interval_fits_a_normal_mean_and_is_the_same_for_a_seed():
    """Of 400 draws from a normal of deviation 1, the mean is ± 1.96 / 20 = 0.098 at 95 %."""
    values = np.random.default_rng(3).normal(size=(400, 1))
    mean = PerExampleMean(values, np.ones_like(values))
    low, high = mean.interval(seed=5)
    assert low < mean.mean < high
    assert (high - low)[0] == pytest.approx(2 * 0.098 * values.std(), rel=0.1)
    np.testing.assert_array_equal(mean.interval(seed=5), (low, high))


def test_concatenated_means_are_over_all_examples():
    one, other = (
        PerExampleMean(np.full((n, 2, 3), n / 2), np.full((n, 2, 3), 2.0)) for n in (1, 3)
    )
    both = concatenate([one, other])
    assert both.total.shape == (4, 2, 3)
    np.testing.assert_allclose(both.mean, (0.5 + 3 * 1.5) / 8)
    assert both.interval()[0].shape == (2, 3)
