import numpy as np
import pytest

from explorer.heads.metrics.bootstrap import PerExampleMean, concatenate, most_changed
from tests.support.documented_tables import rows_below


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


def test_where_no_sentence_changes_so_many_may_as_leave_none_in_one_sample_of_twenty():
    """The documents have 4.6 % of 64 and 1.2 % of 256, and three divided by their number."""
    for size, percent in ((64, 4.6), (256, 1.2)):
        assert (1 - most_changed(size)) ** size == pytest.approx(0.05)
        assert 100 * most_changed(size) == pytest.approx(percent, abs=0.05)
        assert most_changed(size) == pytest.approx(3 / size, rel=0.03)
    assert most_changed(1) == pytest.approx(0.95)


@pytest.mark.parametrize("row", rows_below("Where the intervals are too short"))
def test_intervals_hold_as_often_as_the_documents_say(row):
    """Of a figure that is 1 in a share of the sentences and 0 in the others."""
    size, *stated = row
    random = np.random.default_rng(size)
    for share, percent in zip((0.01, 0.02, 0.05, 0.1), stated, strict=True):
        drawn = (random.random((size, 2000)) < share).astype(float)
        low, high = PerExampleMean(drawn, np.ones_like(drawn)).interval()
        held = 100 * np.mean((low <= share) & (share <= high))
        assert held == pytest.approx(percent, abs=3), share


def test_intervals_of_ten_sentences_that_differ_hold_as_often_as_the_documents_say():
    """In 88 to 90 %, of exponential figures."""
    for size, share in ((64, 0.16), (128, 0.08), (256, 0.04)):
        drawn = (np.random.default_rng(size).random((size, 2000)) < share).astype(float)
        drawn *= np.random.default_rng(1).exponential(size=drawn.shape)
        low, high = PerExampleMean(drawn, np.ones_like(drawn)).interval()
        assert np.mean((low <= share) & (share <= high)) == pytest.approx(0.89, abs=0.02)
