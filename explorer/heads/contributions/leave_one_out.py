"""Leave-one-out: the effect of each token, measured by one pass without it."""

from collections.abc import Iterator

import torch
import torch.nn.functional as F
from torch import Tensor

from explorer.model.left_out import LeftOutPasses
from explorer.model.row_logits import RowLogits

LARGEST_PASS = 2**23
"""Logits, or weights of one layer, of one pass: 32 MB."""


@torch.inference_mode()
def leave_one_out(passes: LeftOutPasses, labels: Tensor) -> Tensor:
    """Fall of ln p of each of `labels` (T,) without each token: (T, S + T) float64, in nats.

    Negative if a token lowers the probability; 0 for padding.
    """
    source, target = passes.sides
    before = _log_probabilities(passes.whole(), labels)  # (1, T)
    fallen = torch.zeros(len(target), len(source) + len(target), dtype=torch.float64)
    sides = ((0, source, passes.without_source), (len(source), target, passes.without_target))
    for first, real, without in sides:
        for left_out in _blocks(real, passes.numbers):
            after = _log_probabilities(without(left_out), labels)  # (n, T)
            fallen[:, first + left_out] = (before - after).T
    fallen[:, len(source) :][~passes.reached] = 0  # other differences are rounding
    fallen[~target] = 0
    return fallen


def _blocks(real: Tensor, numbers: int) -> Iterator[Tensor]:
    """The numbers of the real tokens, as many at a time as one pass may leave out."""
    tokens, size = real.nonzero()[:, 0], max(1, LARGEST_PASS // numbers)
    for first in range(0, len(tokens), size):
        yield tokens[first : first + size]


def _log_probabilities(logits: RowLogits, labels: Tensor) -> Tensor:
    """ln p (n, T) float64 of the labels (T,) under logits (n, T, V)."""
    found = []
    for first, end in logits.blocks():
        of_rows = logits.read(first, end).float()
        given = labels[first:end].expand(len(of_rows), -1)
        losses = F.cross_entropy(of_rows.flatten(0, 1), given.flatten(), reduction="none")
        found.append(-losses.double().view(given.shape))
    return torch.cat(found, 1)
