"""Evaluation of a model on a toy task, on held-out sequences."""

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from explorer.core.vocabulary import EOS, PAD
from explorer.data.batch import Batch
from explorer.data.toy_data import Task
from explorer.heads.attention_metrics import gold_weight
from explorer.model.greedy_decoding import greedy
from explorer.model.hooks import capture
from explorer.model.transformer import Transformer


@dataclass(frozen=True, slots=True, eq=False)
class Evaluation:
    """Share of outputs that match exactly, 0 to 1, by length; gold weight of each cross head."""

    exact_match_by_length: dict[int, float]
    gold: NDArray[np.float64]  # (layer, head), mean over the sequences of all lengths

    @property
    def exact_match(self) -> float:
        """The mean over all lengths."""
        return float(np.mean(list(self.exact_match_by_length.values())))

    @property
    def best_head(self) -> tuple[int, int]:
        """Layer and head with the largest gold weight."""
        layer, head = np.unravel_index(self.gold.argmax(), self.gold.shape)
        return int(layer), int(head)


def evaluate(
    model: Transformer, task: Task, symbols: int, longest: int, *, each: int = 300, seed: int = 1
) -> Evaluation:
    """Decode greedily `each` held-out sequences of every length from 1 to `longest`.

    Below five symbols none are held out: all sequences are used.
    """
    generator = torch.Generator().manual_seed(seed)
    device = next(model.parameters()).device
    exact: dict[int, float] = {}
    gold: list[NDArray[np.float64]] = []
    for length in range(1, longest + 1):
        batch = task.held_out_batch(each, length, range(symbols), generator)
        batch = Batch(batch.source.to(device), batch.target.to(device))
        exact[length] = exact_matches(model, batch).double().mean().item()
        gold.append(batch_gold_weight(model, task, batch))
    return Evaluation(exact, np.mean(gold, axis=0))


@torch.inference_mode()
def exact_matches(model: Transformer, batch: Batch) -> Tensor:
    """(B,) True where the greedy output equals the target, EOS included."""
    expected = batch.target[:, 1:]
    decoded = greedy(model, batch.source, limit=expected.size(1))
    padded = torch.full_like(expected, PAD)
    padded[:, : decoded.size(1)] = decoded
    return (padded == expected).all(1)


@torch.inference_mode()
def batch_gold_weight(model: Transformer, task: Task, batch: Batch) -> NDArray[np.float64]:
    """(layer, head): mean weight on the gold position, 0 to 1, teacher-forced on the target.

    The mean over sequences of each sequence's mean: all weigh the same, whatever their length.
    """
    length = batch.source.size(1) - 1
    with capture(model, "decoder.*.cross_attention.pattern") as patterns:
        model(batch.source, batch.target[:, :-1])
    weights = torch.stack(list(patterns.values()))[..., :length, :length]  # (layer, B, H, n, n)
    gold = np.zeros((len(weights[0]), length, length), dtype=np.bool_)  # (B, n, n)
    for sequence, source in zip(gold, batch.source.tolist(), strict=True):
        size = source.index(EOS)
        sequence[:size, :size] = task.alignment(source[:size])
    return gold_weight(weights.cpu().numpy(), gold[:, None]).mean(1)
