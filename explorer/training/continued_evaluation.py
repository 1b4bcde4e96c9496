"""Evaluation of a decoder alone on held-out sequences of a toy task that it continues.

Decoding greedily from the first symbol that is known writes the rest of a sequence if, and only if,
every later row predicts the next token when the right ones are fed in. So one pass is enough.
"""

from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor

from explorer.core.vocabulary import EOS
from explorer.data.batch import Batch
from explorer.data.continued_data import ContinuedTask
from explorer.heads.metrics.attention_metrics import gold_weight
from explorer.model.hooks import recorded
from explorer.model.transformer import Transformer


@dataclass(frozen=True, slots=True, eq=False)
class ContinuedEvaluation:
    """exact: (B,) True where every known token and the end are predicted right.
    known_loss, new_loss: mean nats of the symbols that can be known, and of the others.
    gold: (layer, head) mean weight on the tokens that the next one may be copied from.
    previous: (layer, head) mean weight of the new tokens on those before them, which a later head
        needs to find what followed an earlier occurrence.
    """

    exact: Tensor
    known_loss: float
    new_loss: float
    gold: NDArray[np.float64]
    previous: NDArray[np.float64]


@torch.inference_mode()
def evaluate_continued(
    model: Transformer, task: ContinuedTask, batch: Batch
) -> ContinuedEvaluation:
    """Teacher-forced on the sequences of `batch`, which all have one length."""
    fed, follows = batch.target[:, :-1], batch.target[:, 1:]
    with recorded(model, "*.pattern") as patterns:
        logits = model(batch.source, fed).float()
    losses = F.cross_entropy(logits.flatten(0, 1), follows.flatten(), reduction="none")
    losses = losses.view(follows.shape).cpu()
    gold = np.stack([task.gold([], row) for row in follows.tolist()])  # (B, T, T)
    known = torch.from_numpy(gold.any(-1))
    ends = (follows == EOS).cpu()
    right = (logits[..., EOS:].argmax(-1) + EOS == follows).cpu()
    weights = torch.stack(list(patterns.values())).cpu().numpy()  # (layer, B, H, T, T)
    return ContinuedEvaluation(
        (right | ~(known | ends)).all(1),
        float(losses[known].mean()),
        float(losses[~known & ~ends].mean()),
        gold_weight(weights, gold[:, None]).mean(1),
        _previous_weight(weights, ~known.numpy()),
    )


def _previous_weight(weights: NDArray[np.float32], new: NDArray[np.bool_]) -> NDArray[np.float64]:
    """The mean weight on the token before, (layer, head).

    weights: (layer, B, H, T, T). new: (B, T) where the token that follows a row is new.
    """
    # The first symbol has the beginning before it, and the row of the beginning nothing.
    on_previous = weights.diagonal(-1, -2, -1)[..., 1:]  # (layer, B, H, T − 2)
    shown = np.broadcast_to(new[:, None, 1:-1], on_previous.shape)
    return on_previous.mean((1, 3), where=shown, dtype=np.float64)
