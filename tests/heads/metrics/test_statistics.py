from math import comb

import numpy as np
import pytest
from scipy.stats import permutation_test, ttest_1samp
from scipy.stats import t as student

from explorer.heads.metrics.bootstrap import PerExampleMean
from explorer.heads.metrics.statistics import (
    holm,
    largest_fall,
    largest_rise,
    mean_change_p,
    share_change_interval,
    share_change_p,
)
from tests.support.documented_tables import rows_below


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


@pytest.mark.parametrize("row", rows_below("Where p is too small"))
def test_p_of_skewed_changes_is_too_small_as_often_as_the_documents_say(row):
    """Changes whose mean is 0: exponential ones, and their squares, less their means."""
    size, *stated = row
    drawn = np.random.default_rng(size).exponential(size=(size, 1500))
    for changes, percent in zip((drawn - 1, drawn**2 - 2), stated, strict=True):
        assert 100 * np.mean(mean_change_p(changes) < 0.05) == pytest.approx(percent, abs=3)


def test_a_single_sentence_has_no_p():
    assert np.isnan(mean_change_p(np.ones((1, 1))))  # of one sentence


def test_holm_multiplies_by_the_tests_that_are_left():
    np.testing.assert_allclose(holm(np.array([0.04, 0.01, 0.03])), [0.06, 0.03, 0.06])
    np.testing.assert_allclose(holm(np.array([0.5, 0.9])), [1, 1])
    np.testing.assert_allclose(holm(np.array([np.nan, 0.02, 0.01])), [np.nan, 0.02, 0.02])


def test_bounds_hold_for_all_heads_together():
    """Twenty heads without any effect: the lowest bound is above 0 in 95 % of experiments."""
    random, right_rise, right_fall = np.random.default_rng(3), [], []
    for _ in range(300):
        totals = random.choice([-1.0, 1.0], size=(60, 20))
        bounds = largest_rise(PerExampleMean(totals, np.full_like(totals, 2.0)), 0.5)
        right_rise.append((bounds >= 0).all())
        drawn = random.choice([-1.0, 1.0, 0.0], size=(60, 20), p=[0.1, 0.1, 0.8])
        right_fall.append((largest_fall(drawn) <= 0).all())
    assert np.mean(right_rise) >= 0.95
    assert np.mean(right_fall) >= 0.95


RARE = [(size, share) for size in (64, 128, 256) for share in (0.01, 0.02)]


@pytest.mark.parametrize(("size", "share"), RARE)
@pytest.mark.parametrize("heads", [1, 8])
def test_the_bound_of_the_loss_holds_where_few_sentences_need_a_head(size, share, heads):
    """Without it these lose 5 nats a token, the others nothing; longer ones need it more often."""
    random, right = np.random.default_rng(11), []
    for _ in range(100):
        counts = np.repeat(random.integers(2, 17, (size, 1)), heads, 1).astype(float)
        needed = random.random((size, heads)) < share * counts / 9  # 9 tokens: the mean length
        true = 5 * share * (9**2 + (15**2 - 1) / 12) / 9**2
        bounds = largest_rise(PerExampleMean(5 * counts * needed, counts), 5.0)
        right.append((bounds >= true).all())
    assert np.mean(right) >= 0.95


@pytest.mark.parametrize(("size", "share"), RARE)
def test_a_bound_from_the_most_of_the_sample_is_false_only_if_one_sentence_is_above_it(size, share):
    """The losses of rare sentences differ; what is quoted: if none is above the most of these."""
    random, false = np.random.default_rng(13), 0
    for _ in range(100):
        losses = random.choice([0.0, 2.0, 5.0], (size, 2), p=[1 - share, share / 2, share / 2])
        most = max(losses.max(), 1e-6)
        bounds = largest_rise(PerExampleMean(losses, np.ones_like(losses)), most)
        false += most == 5 and not (bounds >= 3.5 * share).all()
    assert false <= 5


@pytest.mark.parametrize("size", [64, 256])
def test_the_bound_of_changes_that_are_all_0_is_near_the_exact_one(size):
    """Of shares: 1 − 0.05^(1/n) (Clopper & Pearson), to the cost of five stakes, ln 5."""
    bound = largest_rise(PerExampleMean(np.zeros((size, 1)), np.ones((size, 1))), 1.0)
    assert 1 - 0.05 ** (1 / size) <= bound[0] <= 1 - (0.05 / 5.1) ** (1 / size)


def test_the_bound_of_changes_of_many_sentences_is_not_much_above_students():
    random = np.random.default_rng(2)
    totals = np.minimum(random.normal(0.3, 0.5, (256, 8)), 2)
    bounds = largest_rise(PerExampleMean(totals, np.ones_like(totals)), 2.0)
    error = totals.std(0, ddof=1) / 16 * student.isf(0.05 / 8, 255)
    assert (bounds > totals.mean(0) + error).all()
    assert (bounds < totals.mean(0) + 1.75 * error).all()


def test_the_bound_of_one_change_that_all_have_is_that_change():
    counts = np.random.default_rng(1).integers(1, 17, (64, 2)).astype(float)
    totals = 0.1 * counts  # rounded
    with np.errstate(all="raise"):
        bound = largest_rise(PerExampleMean(totals, counts), (totals / counts).max())
    np.testing.assert_allclose(bound, 0.1)
    assert np.isnan(largest_rise(PerExampleMean(np.ones((1, 1)), np.ones((1, 1))), 1.0))


@pytest.mark.parametrize(("size", "share"), RARE)
def test_exact_ends_hold_where_few_sentences_change(size, share):
    """The interval of each head, and the bound on the largest of eight."""
    drawn = -(np.random.default_rng(17).random((size, 4000)) < share).astype(float)
    low, high = share_change_interval(drawn)
    assert np.mean((low <= -share) & (-share <= high)) >= 0.95
    eight = [(largest_fall(own) <= -share).all() for own in np.split(drawn, 500, 1)]
    assert np.mean(eight) >= 0.95
