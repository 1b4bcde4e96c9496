"""How well a model does a task, on sequences that training never saw."""

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from explorer.core.vocabulary import EOS, PAD
from explorer.data.toy_data import Batch, Task
from explorer.heads.attention_metrics import gold_weight
from explorer.model.greedy_decoding import greedy
from explorer.model.hooks import capture
from explorer.model.transformer import Transformer


@dataclass(frozen=True, slots=True, eq=False)
class Evaluation:
    """Exact match of whole outputs, 0 to 1, by length; gold weight of each cross head."""

    exact_match_by_length: dict[int, float]
    gold: NDArray[np.float64]  # (layer, head), mean over the sequences of all lengths

    @property
    def exact_match(self) -> float:
        """Over all lengths alike."""
        return float(np.mean(list(self.exact_match_by_length.values())))

    @property
    def best_head(self) -> tuple[int, int]:
        """Layer and head whose cross-attention puts most on the gold position."""
        layer, head = np.unravel_index(self.gold.argmax(), self.gold.shape)
        return int(layer), int(head)


def evaluate(
    model: Transformer, task: Task, symbols: int, longest: int, *, each: int = 300, seed: int = 1
) -> Evaluation:
    """Decode `each` held-out sequences of every length from 1 to `longest` greedily.

    Below five symbols there are too few sequences to hold any out; there all count.
    """
    generator = torch.Generator().manual_seed(seed)
    device = next(model.parameters()).device
    exact: dict[int, float] = {}
    gold: list[NDArray[np.float64]] = []
    for length in range(1, longest + 1):
        batch = task.held_out_batch(each, length, symbols, generator)
        batch = Batch(batch.source.to(device), batch.target.to(device))
        exact[length] = exactly_matched(model, batch).double().mean().item()
        gold.append(gold_of_batch(model, task, batch))
    return Evaluation(exact, np.mean(gold, axis=0))


@torch.inference_mode()
def exactly_matched(model: Transformer, batch: Batch) -> Tensor:
    """(B,) True where the greedy output equals the target to its end."""
    expected = batch.target[:, 1:]
    decoded = greedy(model, batch.source, limit=expected.size(1))
    padded = torch.full_like(expected, PAD)
    padded[:, : decoded.size(1)] = decoded
    return (padded == expected).all(1)


@torch.inference_mode()
def gold_of_batch(model: Transformer, task: Task, batch: Batch) -> NDArray[np.float64]:
    """(layer, head): mean weight on the gold position, teacher-forced on the right output.

    The mean of each sequence counts alike, whatever its length.
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
