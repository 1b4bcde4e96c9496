"""Importance of each head by the gradient of the loss at its gate."""

import pandas as pd
import torch
from torch import Tensor

from explorer.core.vocabulary import PAD
from explorer.heads.bootstrap import PerExampleMean
from explorer.heads.evaluation_batches import EvaluationBatch, Progress, no_progress, token_losses
from explorer.heads.head_report_validation import KEYS
from explorer.model.attention_paths import all_heads, attentions
from explorer.model.explorable import ExplorableModel
from explorer.model.intervention_hooks import gated
from explorer.model.transformer import Transformer


def importance(
    model: ExplorableModel, batch: EvaluationBatch, progress: Progress = no_progress
) -> pd.DataFrame:
    """E_x |∂L(x)/∂ξ_h| at gate ξ_h = 1, ≥ 0: importance, importance_low, importance_high.

    ξ_h scales the output of head h before W_O; L(x) is the mean loss of a target token of one
    sentence, in nats. The absolute value is taken per sentence, then the mean, so that
    gradients of opposite sign do not cancel. A slope at 1, not the effect of removal.
    Source: Michel et al. 2019, arXiv 1905.10650, without their normalisation by layer.
    """
    slopes, done = [], 0
    for part in batch.parts():
        slopes.append(gate_gradients(model.transformer, part).abs().flatten(1))
        done += len(part)
        progress(done / len(batch))
    total = torch.cat(slopes).double().numpy()  # (sentence, head)
    importances = PerExampleMean(total, total * 0 + 1)
    low, high = importances.interval()
    table = pd.DataFrame(all_heads(model.transformer.config), columns=KEYS)
    return table.assign(importance=importances.mean, importance_low=low, importance_high=high)


@torch.enable_grad()  # a caller may have switched gradients off
def gate_gradients(model: Transformer, part: EvaluationBatch) -> Tensor:
    """∂L(x)/∂ξ of every sentence x on its own, (N, attention, head).

    Each sentence has its own gates, so one backward pass of the summed losses keeps them
    apart. Only the gates receive gradients: the weights' `.grad` stays unset.
    """
    size = (len(part), len(attentions(model.config)), model.config.heads)
    gates = torch.ones(size, requires_grad=True)
    with gated(model, gates):
        logits = model(part.source, part.queries)  # (N, T, V)
    labels = part.labels
    means = token_losses(logits, labels).sum(1) / (labels != PAD).sum(1)  # (N,)
    (gradients,) = torch.autograd.grad(means.sum(), gates)
    return gradients
