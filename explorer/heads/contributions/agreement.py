"""How well the methods of contributions agree with leave-one-out on the source, or on the prefix of
a decoder alone, over sentences."""

from collections.abc import Iterator
from contextlib import suppress

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray

from explorer.core.errors import ConfigError
from explorer.core.trace import Trace
from explorer.heads.contributions.contributions import METHODS
from explorer.heads.contributions.layer_contributions import (
    LayerContributions,
    contribution_matrix,
    layer_contributions,
)
from explorer.heads.metrics.bootstrap import PerExampleMean
from explorer.heads.metrics.evaluation_batches import Progress, no_progress
from explorer.model.evaluation_batch import EvaluationBatch, TokenRows
from explorer.model.measurable import MeasurableModel

_CHECK = "leave_one_out"
_ATTENTION = "attention"
_SCORES = ("top", "top_content", "spearman")


def contribution_agreement(
    model: MeasurableModel, batch: EvaluationBatch, progress: Progress = no_progress
) -> pd.DataFrame:
    """Agreement of each other method with leave-one-out over the source, the best first.

    The row "attention" is the mean of cross-attention over layers and heads. For a decoder alone,
    read prefix instead of source, and self-attention instead of cross-attention.

    batch: sentences with their outputs, as `given_sentences` makes one. Columns: method; top, the
    share of the output tokens for which the source token with the largest value is that of
    leave-one-out; top_content, the same among the source tokens without specials such as the end;
    spearman, the rank correlation over the source tokens, averaged over the output tokens; gain,
    `top` minus that of "attention" on the same sentences; for each the ends of the 95 % bootstrap
    interval over sentences, _low and _high; rows, sentences: their numbers.

    Methods that a family of the library does not allow have no row. Raises `ConfigError` for a
    model that does not allow leave-one-out.
    """
    methods = [*_allowed(model, batch.chosen(torch.tensor([0]))), _ATTENTION]
    scores = np.zeros((len(_SCORES), len(batch), len(methods)))  # summed over rows
    rows = np.zeros((len(batch), 1))
    for number, sentence in enumerate(_sentences(batch)):
        expected = _of_source(model, sentence, _CHECK)
        found = [_of_source(model, sentence, method) for method in methods]
        rows[number] = len(expected)
        content = _content(sentence)
        scores[:, number] = np.transpose([_scores(one, expected, content) for one in found])
        progress((number + 1) / len(batch))
    table = pd.DataFrame({"method": methods})
    gain = scores[0] - scores[0, :, -1:]
    for name, totals in zip((*_SCORES, "gain"), (*scores, gain), strict=True):
        mean = PerExampleMean(totals, np.broadcast_to(rows, totals.shape))
        low, high = mean.interval()
        table = table.assign(**{name: mean.mean, f"{name}_low": low, f"{name}_high": high})
    table = table.assign(rows=int(rows.sum()), sentences=len(batch))
    return table.sort_values("top", ascending=False, ignore_index=True)


def _allowed(model: MeasurableModel, sentence: EvaluationBatch) -> list[str]:
    """The methods that a model allows, but for leave-one-out, which has to be allowed."""
    contribution_matrix(model, sentence, _CHECK)
    found = []
    for method in METHODS:
        if method != _CHECK:
            with suppress(ConfigError):
                contribution_matrix(model, sentence, method)
                found.append(method)
    return found


def agreement_on_trace(
    model: MeasurableModel, trace: Trace, left_out: LayerContributions
) -> dict[str, int]:
    """Number of rows of one trace in which a method agrees with leave-one-out, the best first.

    They agree if the same source token has the largest value. By method, and for "attention"; a
    family whose layers are no sums has rollout alone.

    left_out: leave-one-out contributions of `trace`.
    """
    size = len(trace.source_tokens) or len(trace.target_tokens)
    expected = left_out.whole[:, :size].argmax(1)
    found: dict[str, NDArray[np.float64]] = {}
    for method in METHODS:
        if method != _CHECK:
            with suppress(ConfigError):
                found[method] = layer_contributions(model, trace, method).whole[:, :size]
    found[_ATTENTION] = trace.attention(trace.sites[-1]).mean((0, 1))
    real = left_out.whole.any(1)  # in rows of padding nothing falls
    agreeing = {name: int((one.argmax(1) == expected)[real].sum()) for name, one in found.items()}
    return dict(sorted(agreeing.items(), key=lambda item: -item[1]))


def rank_correlations(one: NDArray[np.float64], other: NDArray[np.float64]) -> NDArray[np.float64]:
    """Spearman's correlation of each row (T, S) with that of `other`: (T,). Ties have their mean
    rank; 0 where all of a row are equal."""
    ranks = [pd.DataFrame(values).rank(axis=1).to_numpy() for values in (one, other)]
    centred = [values - values.mean(1, keepdims=True) for values in ranks]
    product = (centred[0] * centred[1]).sum(1)
    size = np.sqrt((centred[0] ** 2).sum(1) * (centred[1] ** 2).sum(1))
    return np.divide(product, size, out=np.zeros_like(product), where=size > 0)


def _scores(
    one: NDArray[np.float64], expected: NDArray[np.float64], content: NDArray[np.bool_]
) -> list[float]:
    """`_SCORES` of one method against leave-one-out, (T, S) both, summed over rows."""
    same = [
        float((found.argmax(1) == other.argmax(1)).sum())
        for found, other in ((one, expected), (one[:, content], expected[:, content]))
    ]
    return [*same, float(rank_correlations(one, expected).sum())]


def _content(sentence: EvaluationBatch) -> NDArray[np.bool_]:
    """(S,) True for source tokens that are not special."""
    return np.asarray(~_read(sentence).special[0].numpy())


def _read(sentence: EvaluationBatch) -> TokenRows:
    """The source of a sentence, or what a decoder alone is fed."""
    read = sentence.source or sentence.queries
    assert read is not None
    return read


def _sentences(batch: EvaluationBatch) -> Iterator[EvaluationBatch]:
    """The sentences of a batch one at a time, so without padding."""
    for number in range(len(batch)):
        yield batch.chosen(torch.tensor([number]))


def _of_source(
    model: MeasurableModel, sentence: EvaluationBatch, method: str
) -> NDArray[np.float64]:
    """Contributions of the source tokens to each output token: (T, S)."""
    rows = sentence.labels.real[0].numpy()
    if method == _ATTENTION:
        site = "cross" if sentence.source else "decoder"
        layers = [one for one in model.passes.attentions(sentence) if one.site == site]
        mean = torch.stack([one.weights[0] for one in layers]).double().mean((0, 1))
        return mean.numpy()[rows]
    return contribution_matrix(model, sentence, method)[rows, : _read(sentence).ids.size(1)]
