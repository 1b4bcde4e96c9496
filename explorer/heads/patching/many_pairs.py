"""Patching over many pairs of texts: means, with intervals over the pairs."""

from collections.abc import Callable, Iterable

import numpy as np

from explorer.core.errors import ConfigError, EvaluationBatchError, ExplorerError
from explorer.core.vocabulary import shorten
from explorer.heads.metrics.bootstrap import PerExampleMean
from explorer.heads.metrics.evaluation_batches import listed_texts
from explorer.heads.patching.patching_result import AXES, Patching

_METRIC = "logit of the clean prediction - logit of the corrupted one"


def over_pairs(
    pairs: Iterable[tuple[str, str]] | str, patched: Callable[[str, str], Patching]
) -> Patching:
    """The means of `patched` (clean, corrupted) over `pairs`.

    metric is its mean, restored the mean of patched − corrupted divided by that of clean −
    corrupted, so a pair weighs as much as its runs differ; low and high: 95 % bootstrap over pairs,
    NaN of a single one. Source: Wang et al. 2022, arXiv 2211.00593.

    Raises `ConfigError` on anything but pairs, `EvaluationBatchError` where values of pairs have no
    common positions or the differences of all pairs sum to 0, and what `patched` does, with the
    number of the pair.
    """
    texts = [] if isinstance(pairs, str) else listed_texts(pairs)
    if not texts or isinstance(texts[0], str):
        raise ConfigError("patch_pairs", got=shorten(repr(pairs)))
    found = [_one(number, patched, *pair) for number, pair in enumerate(texts, start=1)]
    first, axes = found[0], list(AXES[found[0].sites])
    if not all(one.table[axes].equals(first.table[axes]) for one in found):
        raise EvaluationBatchError("patch_other_positions")
    metrics = np.stack([one.table.metric for one in found])  # (pair, value)
    clean, corrupted = np.array([(one.clean, one.corrupted) for one in found]).T
    difference = clean - corrupted
    if np.isclose(difference.sum(), 0):
        raise EvaluationBatchError("patch_no_mean_difference")
    sign = np.sign(difference.sum())
    size = np.broadcast_to(difference[:, None], metrics.shape)
    shares = PerExampleMean(sign * (metrics - corrupted[:, None]), sign * size)
    low, high = shares.interval()
    table = first.table[axes].assign(metric=metrics.mean(0), restored=shares.mean)
    names = {one.metric for one in found}
    return Patching(
        first.sites,
        names.pop() if len(names) == 1 else _METRIC,
        float(clean.mean()),
        float(corrupted.mean()),
        table.assign(low=low, high=high),
        first.receiver,
        pairs=len(found),
    )


def _one(
    number: int, patched: Callable[[str, str], Patching], clean: str, corrupted: str
) -> Patching:
    try:
        return patched(clean, corrupted)
    except ExplorerError as error:
        raise type(error)("patch_pair", number=number, sentence=error) from error
