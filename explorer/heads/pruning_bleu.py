"""BLEU of a translator that decodes with fewer heads."""

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from explorer.data.bleu import corpus_bleu, sentence_counts
from explorer.heads.bootstrap import LEVEL, resamples
from explorer.heads.evaluation_batches import Progress, no_progress
from explorer.heads.pruning import Removal, drawn_point, gates_of
from explorer.heads.pruning_report import PruningPoint
from explorer.model.evaluation_batch import EvaluationBatch
from explorer.model.explorable import ExplorableModel
from explorer.model.greedy_decoding import greedy
from explorer.model.head_gates import Fills
from explorer.model.intervention_hooks import gated
from explorer.model.threads import threads_for

POINTS = 5
"""Numbers of heads at which BLEU is measured, among those of the loss."""

_DECODED_TOGETHER = 64  # sentences
_MOST_ROWS = 256  # of one decoding, of several gates

References = Sequence[Sequence[str]]
"""The known translations of each sentence."""


def bleu_points(loss_points: Sequence[int]) -> list[int]:
    """`POINTS` of the numbers of heads left at which the loss is measured, all and none among
    them."""
    places = np.unique(np.linspace(0, len(loss_points) - 1, POINTS).round().astype(int))
    return [loss_points[place] for place in places]


def bleu_with(
    model: ExplorableModel,
    batch: EvaluationBatch,
    references: References,
    removals: Sequence[Removal],
    stay: int,
) -> PruningPoint:
    """BLEU of the greedy output with so many heads left, by one order or by random ones.

    low, high: 95 % percentile bootstrap over sentences, whose n-grams are counted once; of random
    orders the smallest and the largest.
    """
    counts = [
        sentence_counts(decoded(model, batch, gates), references)
        for gates in torch.unique(
            gates_of(removals, stay), dim=0
        )  # once with all heads, and with none
    ]
    if len(removals) > 1:
        return drawn_point(stay, np.array([corpus_bleu(one) for one in counts]))
    low, high = bleu_interval(counts[0])
    return PruningPoint(stay, corpus_bleu(counts[0]), low, high)


def bleu_interval(counts: NDArray[np.int64], seed: int = 0) -> tuple[float, float]:
    """Ends of the 95 % percentile bootstrap interval over sentences with these counts."""
    drawn = resamples(len(counts), seed) @ counts
    scores = [corpus_bleu(total) for total in drawn]
    low, high = np.percentile(scores, [50 * (1 - LEVEL), 50 * (1 + LEVEL)])
    return float(low), float(high)


def decoded(
    model: ExplorableModel, batch: EvaluationBatch, gates: Tensor, fills: Fills | None = None
) -> list[str]:
    """The greedy output of each sentence with the gates (head); fills: in place of those at 0."""
    (outputs,) = decoded_each(model, batch, gates[None], fills)
    return outputs


@torch.inference_mode()
def decoded_each(
    model: ExplorableModel,
    batch: EvaluationBatch,
    gates: Tensor,
    fills: Fills | None = None,
    progress: Progress = no_progress,
) -> list[list[str]]:
    """The same for each of several gates (V, head)."""
    assert batch.source is not None
    transformer, limit = model.transformer, model.transformer.config.max_length
    outputs = [[""] * len(batch) for _ in gates]
    done = 0
    for numbers in torch.split(batch.source.lengths.argsort(stable=True), _DECODED_TOGETHER):
        sources = batch.chosen(numbers).source
        assert sources is not None
        room = min(limit, 3 * sources.ids.size(1) + 20)  # an endless repetition ends here
        for some in torch.split(torch.arange(len(gates)), max(1, _MOST_ROWS // len(numbers))):
            ids = sources.ids.repeat(len(some), 1)
            rows = gates[some].repeat_interleave(len(numbers), 0)
            with threads_for(model.passes.parameters, len(ids)), gated(transformer, rows, fills):
                found = greedy(transformer, ids, room).tolist()
            places = [(one, number) for one in some.tolist() for number in numbers.tolist()]
            for (one, number), row in zip(places, found, strict=True):
                outputs[one][number] = model.target_vocabulary.decode(row)
            done += len(found)
            progress(done / (len(gates) * len(batch)))
    return outputs
