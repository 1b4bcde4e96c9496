"""BLEU of a translator that decodes with fewer heads."""

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray

from explorer.data.bleu import corpus_bleu, sentence_counts
from explorer.heads.metrics.bootstrap import percentile_ends
from explorer.heads.pruning.pruning_curve import Removal, drawn_point, gates_of
from explorer.heads.pruning.pruning_report import PruningPoint
from explorer.heads.removal.bleu_effect import resampled_bleu
from explorer.heads.removal.gated_decoding import References, decoded
from explorer.model.evaluation_batch import EvaluationBatch
from explorer.model.explorable import ExplorableModel

Counts = NDArray[np.int64]

POINTS = 5
"""Numbers of heads at which BLEU is measured, among those of the loss."""


def bleu_points(loss_points: Sequence[int]) -> list[int]:
    """`POINTS` of the numbers of heads left at which the loss is measured, including all and
    none."""
    places = np.unique(np.linspace(0, len(loss_points) - 1, POINTS).round().astype(int))
    return [loss_points[place] for place in places]


def bleu_with(
    model: ExplorableModel,
    batch: EvaluationBatch,
    references: References,
    removals: Sequence[Removal],
    stay: int,
    whole: Counts,
) -> PruningPoint:
    """BLEU of the greedy output with `stay` heads left, by one order or by random ones.

    low, high: 95 % percentile bootstrap over sentences, whose n-grams are counted once; for random
    orders the smallest and the largest BLEU. whole: the `whole_counts`.
    """
    counts = [
        sentence_counts(decoded(model, batch, gates), references)
        for gates in torch.unique(
            gates_of(removals, stay), dim=0
        )  # once with all heads, and with none
    ]
    if len(removals) > 1:
        return drawn_point(stay, np.array([corpus_bleu(one) for one in counts]))
    drawn, before = resampled_bleu(counts[0]), resampled_bleu(whole)
    ends = (percentile_ends(values, len(whole)) for values in (drawn, drawn - before))
    (low, high), (change_low, change_high) = (tuple(map(float, pair)) for pair in ends)
    return PruningPoint(stay, corpus_bleu(counts[0]), low, high, change_low, change_high)


def whole_counts(model: ExplorableModel, batch: EvaluationBatch, references: References) -> Counts:
    """Counts for BLEU of each sentence, for the output with all heads."""
    return sentence_counts(decoded(model, batch, torch.ones(len(model.passes.heads))), references)
