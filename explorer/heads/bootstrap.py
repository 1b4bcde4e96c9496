"""Means that can still be taken apart by sentence, and how sure one can be of them."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

RESAMPLES = 1000
LEVEL = 0.95


@dataclass(frozen=True, slots=True, eq=False)
class Tally:
    """A mean over queries: what each sentence adds to it, and how often.

    total, count: (sentence, …) float64; the mean is Σ total / Σ count, so a long sentence
    counts for as many queries as it has.
    """

    total: NDArray[np.float64]
    count: NDArray[np.float64]

    @property
    def mean(self) -> NDArray[np.float64]:
        """(…), NaN where nothing was counted."""
        return _ratio(self.total.sum(0), self.count.sum(0))

    @property
    def queries(self) -> NDArray[np.float64]:
        """(…) how many were counted."""
        return self.count.sum(0)

    @property
    def sentences(self) -> NDArray[np.int64]:
        """(…) how many sentences had something to count."""
        return (self.count > 0).sum(0)

    def interval(self, seed: int = 0) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Ends (…), (…) of the bootstrap interval of the mean: 95 %, percentiles.

        Sentences are drawn with replacement, as many as there are, 1000 times; queries of
        one sentence are not independent, so they stay together. NaN where nothing was
        counted. Source: Efron & Tibshirani 1993, chapter 13.
        """
        size = len(self.total)
        generator = np.random.default_rng(seed)
        drawn = generator.multinomial(size, np.full(size, 1 / size), RESAMPLES).astype(np.float64)
        flat = (size, -1)
        totals, counts = drawn @ self.total.reshape(flat), drawn @ self.count.reshape(flat)
        means = _ratio(totals, counts)  # (resample, …)
        empty = np.isnan(means).all(0)
        means[:, empty] = 0.0  # a percentile of nothing would warn
        low, high = np.nanpercentile(means, [50 * (1 - LEVEL), 50 * (1 + LEVEL)], axis=0)
        shape = self.total.shape[1:]
        return tuple(np.where(empty, np.nan, end).reshape(shape) for end in (low, high))  # type: ignore[return-value]


def joined(tallies: Sequence[Tally]) -> Tally:
    """One tally of all sentences of several."""
    totals, counts = zip(*((tally.total, tally.count) for tally in tallies), strict=True)
    return Tally(np.concatenate(totals), np.concatenate(counts))


def _ratio(total: NDArray[np.float64], count: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.divide(total, count, out=np.full_like(total, np.nan), where=count > 0)
