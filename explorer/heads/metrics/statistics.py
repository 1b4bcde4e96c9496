"""Intervals and tests of paired changes: the gain or loss of each sentence by an intervention.

scipy is imported where it is used: it takes a third of a second.
"""

import numpy as np
from numpy.typing import NDArray

from explorer.heads.metrics.bootstrap import LEVEL, PerExampleMean

Numbers = NDArray[np.float64]

EXCHANGES = 9999
"""Random exchanges of a test: p is at least a ten thousandth, before its correction."""

_AT_ONCE = 500
_HALVINGS = 40
"""Bisection steps of the search for a bound."""

_STAKES = 0.999 / 2.0 ** np.arange(5)
"""Shares of the money that are bet on an example; below 1, so that none takes it all."""

_TIE = 1e-12
"""Closer values are equal up to rounding; relative to the sum of all sizes, or to the largest."""


def share_change_interval(changes: Numbers, level: float = LEVEL) -> tuple[Numbers, Numbers]:
    """Ends (…), (…) of an interval of the change of a share; valid even if few sentences change.

    changes: (example, …), −1 = lost, 0 = as before, 1 = gained. If none of 64 sentences changes,
    a bootstrap gives the interval [0, 0], although a true share of 5 % is possible. Here the shares
    lost and gained each have exact binomial ends at half the error (Clopper & Pearson 1934,
    Bonferroni), so the interval is somewhat too wide, never too narrow.
    """
    error = (1 - level) / 4  # two shares, two ends each
    gained, lost = _counts(changes)
    size = len(changes)
    low = _lowest_share(gained, size, error) - _highest_share(lost, size, error)
    high = _highest_share(gained, size, error) - _lowest_share(lost, size, error)
    return low, high


def share_change_p(changes: Numbers) -> Numbers:
    """Two-sided p (…) of no change of a share: an exact binomial test of the sentences that change
    (McNemar 1947). changes: as in `share_change_interval`."""
    from scipy.stats import binom

    gained, lost = _counts(changes)
    fewer = binom.cdf(np.minimum(gained, lost), gained + lost, 0.5)
    return np.minimum(1.0, 2 * fewer)


def mean_change_p(totals: Numbers) -> Numbers:
    """Two-sided p (…) of no change of a mean over queries, by a randomisation test.

    totals: (example, …), the change of each sentence. The test uses their sum, because the mean is
    0 exactly if the sum is 0.

    Without an effect, before and after could be exchanged in every sentence. p is the share of
    `EXCHANGES` random exchanges with a sum at least as far from 0 (Noreen 1989; Riezler & Maxwell
    2005, section 4). No normal distribution is assumed: many changes are small and few are large.
    1 if all are 0; NaN for a single example, which tells nothing about others.

    With few examples p is too small if the true mean is 0 but the changes are not symmetric: most
    are small in one direction, a few large in the other; see `docs/statistics.md`.
    """
    size = len(totals)
    if size < 2:
        return np.full(totals.shape[1:], np.nan)
    flat = totals.reshape(size, -1)
    reached = np.abs(flat.sum(0)) - _TIE * np.abs(flat).sum(0)
    generator, farther = np.random.default_rng(0), np.ones(flat.shape[1])
    for start in range(0, EXCHANGES, _AT_ONCE):
        count = min(_AT_ONCE, EXCHANGES - start)
        signs = generator.choice([-1.0, 1.0], (count, size))
        farther += (np.abs(signs @ flat) >= reached).sum(0)
    return (farther / (EXCHANGES + 1)).reshape(totals.shape[1:])


def smallest_mean_change_p(tests: int) -> float:
    """The smallest p that `mean_change_p` can find, corrected for so many tests (`holm`).

    A p of this size is an upper limit: the true one may be smaller.
    """
    return min(1.0, tests / (EXCHANGES + 1))


def holm(p: Numbers) -> Numbers:
    """The p-values (test,), corrected for their number (Holm 1979).

    The probability of any false finding stays below the level that they are compared with. NaN is
    not counted as a test, and stays NaN.
    """
    known = np.flatnonzero(np.isfinite(p))
    order = known[np.argsort(p[known])]
    factors = len(order) - np.arange(len(order))
    result = np.full_like(p, np.nan)
    result[order] = np.minimum(1.0, np.maximum.accumulate(p[order] * factors))
    return result


def largest_rise(mean: PerExampleMean, most: float, level: float = LEVEL) -> Numbers:
    """An upper bound (head,) of each mean (example, head) that holds for all heads together.

    The error is divided among the heads (Bonferroni), so the bound may be quoted for the largest.

    most: above 0. The bound holds if no example has a larger mean, or more queries than the
        largest one here: without such a limit, a rare example could add any amount.

    Valid for any number of examples and any distribution of changes, by betting. Money is bet on
    each example: it grows if the total is below the bound, shrinks if it is above, and stays
    positive. If the bound were the mean, the money would reach 1 / error times its start with
    probability at most `error`; so a bound with more growth is too high to be the mean (Ville's
    inequality; Waudby-Smith & Ramdas 2024). If all changes are 0, the bound is little above that
    of Clopper & Pearson. NaN for a single example.
    """
    size, heads = mean.total.shape
    if size < 2:
        return np.full(heads, np.nan)
    needed = np.log(heads / (1 - level))
    low, high = mean.mean, np.full(heads, most)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        room = np.maximum(most - middle, _TIE * most) * mean.count.max()
        gains = (middle * mean.count - mean.total) / room  # (example, head), −1 or more
        money = np.log1p(_STAKES[:, None, None] * gains).sum(1)  # (stake, head), logarithm
        excluded = np.logaddexp.reduce(money) - np.log(len(_STAKES)) >= needed
        low, high = np.where(excluded, low, middle), np.where(excluded, middle, high)
    return high


def largest_fall(changes: Numbers, level: float = LEVEL) -> Numbers:
    """A lower bound (head,) of the change of each share that holds for all heads together, with
    exact binomial ends. changes: (example, head), as in `share_change_interval`."""
    size, heads = changes.shape
    error = (1 - level) / (2 * heads)
    gained, lost = _counts(changes)
    return _lowest_share(gained, size, error) - _highest_share(lost, size, error)


def _counts(changes: Numbers) -> tuple[Numbers, Numbers]:
    """Number of sentences that gain, and that lose."""
    return (changes > 0).sum(0).astype(np.float64), (changes < 0).sum(0).astype(np.float64)


def _lowest_share(count: Numbers, size: int, error: float) -> Numbers:
    """The share under which as many or more of `size` have the probability `error`."""
    from scipy.stats import beta

    ends = beta.ppf(error, np.maximum(count, 1), size - count + 1)
    return np.where(count == 0, 0.0, ends)


def _highest_share(count: Numbers, size: int, error: float) -> Numbers:
    """The share under which as many or fewer of `size` have the probability `error`."""
    from scipy.stats import beta

    ends = beta.ppf(1 - error, count + 1, np.maximum(size - count, 1))
    return np.where(count == size, 1.0, ends)
