"""What the removal of heads together changes of the BLEU of a translator."""

from typing import NamedTuple

import numpy as np
import torch

from explorer.core.interventions import Interventions
from explorer.data.bleu import corpus_bleu, sentence_counts
from explorer.heads.bootstrap import LEVEL, resamples
from explorer.heads.pruning_bleu import References, decoded
from explorer.model.evaluation_batch import EvaluationBatch
from explorer.model.explorable import ExplorableModel
from explorer.model.head_gates import Means, head_gates


class BleuEffect(NamedTuple):
    """BLEU, 0 to 100, with all heads and without some; low, high: of the change."""

    before: float
    after: float
    change: float
    low: float
    high: float


def bleu_effect(
    model: ExplorableModel,
    batch: EvaluationBatch,
    references: References,
    removed: Interventions,
    means: Means | None = None,
) -> BleuEffect:
    """BLEU of the greedy output before and after `removed`, which has heads alone.

    low, high: 95 % percentile interval of the paired bootstrap: each resample has the same
    sentences before and after (Koehn 2004). means: those that `removed` needs.
    """
    gates, fills = head_gates(removed, model.passes.heads, means)
    whole = sentence_counts(decoded(model, batch, torch.ones_like(gates[0])), references)
    without = sentence_counts(decoded(model, batch, gates[0], fills), references)
    drawn = resamples(len(batch))
    changes = [
        corpus_bleu(after) - corpus_bleu(before)
        for before, after in zip(drawn @ whole, drawn @ without, strict=True)
    ]
    low, high = np.percentile(changes, [50 * (1 - LEVEL), 50 * (1 + LEVEL)])
    before, after = corpus_bleu(whole), corpus_bleu(without)
    return BleuEffect(before, after, after - before, float(low), float(high))
