"""Importance of each head by the gradient of the loss at its gate."""

import pandas as pd
import torch
from torch import Tensor

from explorer.heads.metrics.bootstrap import PerExampleMean
from explorer.heads.metrics.evaluation_batches import (
    Progress,
    no_progress,
    parts,
    refuse_without_targets,
    token_losses,
)
from explorer.heads.reports.head_report_validation import KEYS
from explorer.model.evaluation_batch import EvaluationBatch
from explorer.model.measurable import MeasurableModel


def importance(
    model: MeasurableModel, batch: EvaluationBatch, progress: Progress = no_progress
) -> pd.DataFrame:
    """E_x |∂L(x)/∂ξ_h| at gate ξ_h = 1, ≥ 0: importance, importance_low, importance_high.

    ξ_h scales the output of head h before W_O; L(x) is the mean loss of a target token of one
    sentence, in nats. The absolute value is taken per sentence, then the mean, so that
    gradients of opposite sign do not cancel. A slope at 1, not the effect of removal.
    Source: Michel et al. 2019, arXiv 1905.10650, without their normalisation by layer.

    Raises `EvaluationBatchError` on a model that predicts no tokens.
    """
    refuse_without_targets(batch)
    slopes = [gate_gradients(model, part).abs() for part in parts(model, batch, progress)]
    total = torch.cat(slopes).double().numpy()  # (sentence, head)
    importances = PerExampleMean(total, total * 0 + 1)
    low, high = importances.interval()
    table = pd.DataFrame(model.passes.heads, columns=KEYS)
    return table.assign(importance=importances.mean, importance_low=low, importance_high=high)


@torch.enable_grad()  # a caller may have switched gradients off
def gate_gradients(model: MeasurableModel, part: EvaluationBatch) -> Tensor:
    """∂L(x)/∂ξ of every sentence x on its own, (N, head).

    Each sentence has its own gates, so one backward pass of the summed losses keeps them
    apart. Only the gates receive gradients: the weights' `.grad` stays unset.
    """
    gates = torch.ones(len(part), len(model.passes.heads), requires_grad=True)
    losses = token_losses(model.passes.logits(part, gates), part.labels).sum(1)  # (N,)
    mean_losses = losses / part.labels.lengths.clamp(min=1)
    (gradients,) = torch.autograd.grad(mean_losses.sum(), gates)
    return gradients
