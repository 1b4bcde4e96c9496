"""Means over queries with a bootstrap interval over examples."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

RESAMPLES = 1000
LEVEL = 0.95


@dataclass(frozen=True, slots=True, eq=False)
class PerExampleMean:
    """A mean over queries, stored as one total and one count per example.

    total, count: (example, …) float64; the mean is Σ total / Σ count, so an example weighs as
    much as it has queries.
    """

    total: NDArray[np.float64]
    count: NDArray[np.float64]

    @property
    def mean(self) -> NDArray[np.float64]:
        """(…), NaN where the count is 0."""
        return _ratio(self.total.sum(0), self.count.sum(0))

    @property
    def queries(self) -> NDArray[np.float64]:
        """(…) number of queries counted."""
        return self.count.sum(0)

    @property
    def examples(self) -> NDArray[np.int64]:
        """(…) number of examples with at least one query counted."""
        return (self.count > 0).sum(0)

    def interval(self, seed: int = 0) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Ends (…), (…) of the 95 % percentile bootstrap interval of the mean.

        1000 resamples of as many examples with replacement; queries of one example are not
        independent, so they stay together. NaN if fewer than two examples have a query: with one,
        every resample is the same. Source: Efron & Tibshirani 1993, chapter 13.
        """
        size = len(self.total)
        random = np.random.default_rng(seed)
        drawn = random.multinomial(size, np.full(size, 1 / size), RESAMPLES).astype(np.float64)
        flat = (size, -1)
        totals, counts = drawn @ self.total.reshape(flat), drawn @ self.count.reshape(flat)
        means = _ratio(totals, counts)  # (resample, …)
        unknown = self.examples.reshape(-1) < 2
        means[:, unknown] = 0.0  # a percentile of NaN alone would warn
        low, high = np.nanpercentile(means, [50 * (1 - LEVEL), 50 * (1 + LEVEL)], axis=0)
        shape = self.total.shape[1:]
        return tuple(np.where(unknown, np.nan, end).reshape(shape) for end in (low, high))  # type: ignore[return-value]


def most_changed(examples: int) -> float:
    """The largest share of all examples that may change, at 95 %, where none of so many does.

    A bootstrap says 0. With this share, none of so many would change in 5 % of samples: about
    3 / `examples`. Source: Hanley & Lippman-Hand 1983.
    """
    return float(1 - (1 - LEVEL) ** (1 / examples))


def concatenate(means: Sequence[PerExampleMean]) -> PerExampleMean:
    """One mean over the examples of all `means`."""
    totals, counts = zip(*((mean.total, mean.count) for mean in means), strict=True)
    return PerExampleMean(np.concatenate(totals), np.concatenate(counts))


def join_heads(means: Sequence[PerExampleMean]) -> PerExampleMean:
    """Means (example, head, …) of the same examples, their heads in one axis."""
    totals, counts = zip(*((mean.total, mean.count) for mean in means), strict=True)
    return PerExampleMean(np.concatenate(totals, 1), np.concatenate(counts, 1))


def _ratio(total: NDArray[np.float64], count: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.divide(total, count, out=np.full_like(total, np.nan), where=count > 0)
