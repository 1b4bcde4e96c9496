from math import comb

import numpy as np
import pytest
from scipy.stats import permutation_test, ttest_1samp

from explorer.heads.bootstrap import PerExampleMean
from explorer.heads.statistics import (
    holm,
    largest_fall,
    largest_rise,
    mean_change_p,
    share_change_interval,
    share_change_p,
)


def changes(gained: int, lost: int, size: int) -> np.ndarray:
    return np.array([1.0] * gained + [-1.0] * lost + [0.0] * (size - gained - lost))[:, None]


def probability(counts: range, size: int, share: float) -> float:
    """Of a number of sentences in `counts`, by the binomial formula."""
    return sum(comb(size, k) * share**k * (1 - share) ** (size - k) for k in counts)


def test_none_of_64_allows_that_some_of_all_sentences_change():
    low, high = share_change_interval(changes(0, 0, 64))
    assert high[0] == -low[0] == pytest.approx(1 - 0.0125 ** (1 / 64))
    assert high[0] > 0.05


@pytest.mark.parametrize(("gained", "lost", "size"), [(3, 9, 64), (0, 5, 20), (20, 0, 20)])
def test_the_ends_are_those_of_the_binomial_formula(gained, lost, size):
    """Each share at its end makes its count, or a more extreme one, as probable as the error."""
    (low,), (high,) = share_change_interval(changes(gained, lost, size))
    shares = np.linspace(0, 1, 200_001)

    def ends(count: int) -> tuple[float, float]:
        above = np.array([1 - probability(range(count), size, share) for share in shares[::100]])
        below = np.array([probability(range(count + 1), size, share) for share in shares[::100]])
        lowest = 0.0 if count == 0 else shares[::100][above >= 0.0125][0]
        highest = 1.0 if count == size else shares[::100][below >= 0.0125][-1]
        return lowest, highest

    (least_gained, most_gained), (least_lost, most_lost) = ends(gained), ends(lost)
    assert low == pytest.approx(least_gained - most_lost, abs=2e-3)
    assert high == pytest.approx(most_gained - least_lost, abs=2e-3)


def test_the_interval_holds_at_least_as_often_as_it_says():
    random = np.random.default_rng(7)
    for lost, gained in ((0.0, 0.0), (0.02, 0.0), (0.1, 0.05), (0.5, 0.3)):
        drawn = random.choice(
            [-1.0, 1.0, 0.0], size=(40, 2000), p=[lost, gained, 1 - lost - gained]
        )
        low, high = share_change_interval(drawn)
        right = (low <= gained - lost) & (gained - lost <= high)
        assert right.mean() >= 0.95


def test_the_exact_test_is_a_count_of_coins():
    """Of 10 that change, 9 lose: 2 × (1 + 10) / 1024."""
    assert share_change_p(changes(1, 9, 50))[0] == pytest.approx(22 / 1024)
    assert share_change_p(changes(0, 0, 50))[0] == 1
    assert share_change_p(changes(5, 5, 50))[0] == 1


def test_the_test_of_a_mean_counts_exchanges():
    """Of −1, 1, 3, 5: in 6 of 16 exchanges the sum is at least as far from 0 as 8."""
    assert mean_change_p(np.array([[-1.0], [1.0], [3.0], [5.0]]))[0] == pytest.approx(
        6 / 16, abs=0.02
    )
    drawn = np.random.default_rng(4).normal(0.3, size=10)
    exact = permutation_test(
        (drawn,), np.sum, permutation_type="samples", n_resamples=np.inf
    ).pvalue  # of all 1,024 exchanges
    assert mean_change_p(drawn[:, None])[0] == pytest.approx(exact, abs=0.02)
    assert mean_change_p(np.zeros((9, 2))).tolist() == [1, 1]
    assert mean_change_p(np.ones((9, 1)))[0] == pytest.approx(2 / 2**9, abs=0.002)


def test_one_large_change_does_not_hide_many_small_ones():
    """As Student's t-test does: its deviation is that of the large one."""
    changes = np.concatenate([np.full(255, 0.01), [5.0]])[:, None]
    assert ttest_1samp(changes[:, 0], 0).pvalue > 0.1
    assert mean_change_p(changes)[0] < 0.001


def test_without_an_effect_p_is_uniform():
    """Of skewed changes whose sign is drawn: 5 % of p are below 0.05."""
    random = np.random.default_rng(5)
    changes = random.exponential(size=(40, 2000)) ** 3 * random.choice([-1, 1], (40, 2000))
    assert np.mean(mean_change_p(changes) < 0.05) == pytest.approx(0.05, abs=0.015)


def test_a_single_sentence_has_no_p():
    assert np.isnan(mean_change_p(np.ones((1, 1))))  # of one sentence


def test_holm_multiplies_by_the_tests_that_are_left():
    np.testing.assert_allclose(holm(np.array([0.04, 0.01, 0.03])), [0.06, 0.03, 0.06])
    np.testing.assert_allclose(holm(np.array([0.5, 0.9])), [1, 1])
    np.testing.assert_allclose(holm(np.array([np.nan, 0.02, 0.01])), [np.nan, 0.02, 0.02])


def test_bounds_hold_for_all_heads_together():
    """Twenty heads without any effect: the largest bound is above 0 in 95 % of experiments."""
    random, right_rise, right_fall = np.random.default_rng(3), [], []
    for _ in range(300):
        totals = random.normal(size=(60, 20))
        bounds = largest_rise(PerExampleMean(totals, np.full_like(totals, 2.0)))
        right_rise.append((bounds >= 0).all())
        drawn = random.choice([-1.0, 1.0, 0.0], size=(60, 20), p=[0.1, 0.1, 0.8])
        right_fall.append((largest_fall(drawn) <= 0).all())
    assert np.mean(right_rise) >= 0.92
    assert np.mean(right_fall) >= 0.95


def test_a_bound_is_students_of_the_ratio():
    """Equal counts: the mean of the totals, plus t (4 degrees, 5 %) = 2.132 standard errors."""
    totals = np.array([1.0, 2.0, 3.0, 4.0, 5.0])[:, None]
    bound = largest_rise(PerExampleMean(totals, np.ones_like(totals)))
    assert bound[0] == pytest.approx(3 + 2.1318 * np.sqrt(2.5 / 5), abs=1e-3)
    assert np.isnan(largest_rise(PerExampleMean(totals[:1], np.ones((1, 1)))))  # of one sentence
