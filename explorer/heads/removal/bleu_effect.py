"""Change of a translator's BLEU when heads are removed, together or each alone."""

from typing import NamedTuple

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray

from explorer.core.interventions import Interventions
from explorer.data.bleu import corpus_bleu, sentence_counts
from explorer.heads.metrics.bootstrap import percentile_ends, resamples
from explorer.heads.metrics.evaluation_batches import Progress, no_progress
from explorer.heads.metrics.statistics import holm
from explorer.heads.removal.gated_decoding import References, decoded, decoded_each
from explorer.heads.reports.head_report_validation import KEYS
from explorer.model.evaluation_batch import EvaluationBatch
from explorer.model.explorable import ExplorableModel
from explorer.model.intervention_hooks import MeanOutputs, head_gates


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
    means: MeanOutputs | None = None,
) -> BleuEffect:
    """BLEU of the greedy output before and after `removed`, which only removes heads.

    low, high: 95 % percentile interval of the paired bootstrap: each resample has the same
    sentences before and after (Koehn 2004). means: those that `removed` needs.
    """
    gates, fills = head_gates(removed, model.passes.heads, means)
    whole = sentence_counts(decoded(model, batch, torch.ones_like(gates[0])), references)
    without = sentence_counts(decoded(model, batch, gates[0], fills), references)
    changes = resampled_bleu(without) - resampled_bleu(whole)
    low, high = percentile_ends(changes, len(batch))
    before, after = corpus_bleu(whole), corpus_bleu(without)
    return BleuEffect(before, after, after - before, float(low), float(high))


def bleu_by_head(
    model: ExplorableModel,
    batch: EvaluationBatch,
    references: References,
    progress: Progress = no_progress,
) -> pd.DataFrame:
    """The change of BLEU when the output of each head alone becomes zero, one row a head.

    zero_bleu, points, with zero_bleu_low and _high as in `bleu_effect`; zero_bleu_p: two-sided, of
    no change, from a normal distribution with the standard deviation of the resampled changes,
    corrected for the number of heads (Holm). Counting resamples gives no p below a thousandth,
    which is never significant after the correction for a translator's number of heads.
    """
    from scipy.stats import norm  # late: takes a third of a second

    heads = model.passes.heads
    gates = torch.cat([torch.ones(1, len(heads)), 1 - torch.eye(len(heads))])
    outputs = decoded_each(model, batch, gates, progress=progress)
    whole, *without = (sentence_counts(output, references) for output in outputs)
    before = resampled_bleu(whole)
    drawn = np.array([resampled_bleu(counts) - before for counts in without])  # (head, resample)
    change = np.array([corpus_bleu(counts) for counts in without]) - corpus_bleu(whole)
    low, high = percentile_ends(drawn.T, len(batch))
    spread = drawn.std(1, ddof=1)
    score = np.divide(np.abs(change), spread, out=np.zeros_like(change), where=spread > 0)
    columns = {"": change, "_low": low, "_high": high, "_p": holm(2 * norm.sf(score))}
    named = {f"zero_bleu{end}": own for end, own in columns.items()}
    return pd.DataFrame(heads, columns=KEYS).assign(**named)


def resampled_bleu(counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """BLEU of each resample of sentences with these counts.

    The resamples depend only on the number of sentences.
    """
    return np.array([corpus_bleu(total) for total in resamples(len(counts)) @ counts])
