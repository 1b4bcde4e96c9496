"""Leave-one-out: the effect of each token, measured by one pass without it."""

from collections.abc import Iterator
from itertools import chain

import torch
import torch.nn.functional as F
from torch import Tensor

from explorer.model.hooks import edit
from explorer.model.masks import path_mask
from explorer.model.transformer import Transformer

LARGEST_PASS = 2**23
"""Logits, or weights of one layer, of one pass: 32 MB."""

_EMBEDDED = "decoder.embedding.scaled"


@torch.inference_mode()
def leave_one_out(model: Transformer, source: Tensor, target: Tensor, labels: Tensor) -> Tensor:
    """Fall of ln p of each of `labels` without each token: (T, S + T) float64, in nats.

    source: (1, S), target, labels: (1, T), no padding. Negative if a token lowers the probability.
    A token is left out by masks in all layers and heads: no other position attends to it. Its own
    row still receives it through the residual connection, so there its token vector is replaced by
    zeros and only its position remains. On the source side no position reads that row.
    """
    whole = model.decode(target, model.encode(source, _all(1, source)), _all(1, source))
    before = _log_probabilities(whole, labels)  # (1, T)
    without = chain(_without_source(model, source, target), _without_prefix(model, source, target))
    after = torch.cat([_log_probabilities(logits, labels) for logits in without])  # (S + T, T)
    fallen = (before - after).T
    used = _allowed(model, target.size(1))  # other differences are rounding
    return torch.cat([fallen[:, : source.size(1)], fallen[:, source.size(1) :] * used], 1)


def _without_source(model: Transformer, source: Tensor, target: Tensor) -> Iterator[Tensor]:
    """Logits (b, T, V) without each token of the source, a block of them at a time."""
    size = source.size(1)
    for left_out in _blocks(model, size, target.size(1)):
        count = len(left_out)
        rows = torch.arange(count)
        seen = torch.ones(count, 1, size, size, dtype=torch.bool)
        seen[rows, 0, :, left_out] = False
        memory = model.encode(source.expand(count, -1), seen)
        of_target = torch.ones(count, 1, 1, size, dtype=torch.bool)
        of_target[rows, 0, 0, left_out] = False
        yield model.decode(target.expand(count, -1), memory, of_target)


def _without_prefix(model: Transformer, source: Tensor, target: Tensor) -> Iterator[Tensor]:
    """Logits (b, T, V) without each token of the target, a block of them at a time."""
    memory, steps = model.encode(source, _all(1, source)), target.size(1)
    allowed = _allowed(model, steps)
    for left_out in _blocks(model, steps, steps):
        count = len(left_out)
        rows = torch.arange(count)
        seen = allowed.expand(count, 1, -1, -1).clone()
        seen[rows, 0, :, left_out] = False
        seen[rows, 0, left_out, left_out] = True  # of row 0 it is the only key
        kept = torch.ones(count, steps, 1)
        kept[rows, left_out] = 0
        with edit(model, {_EMBEDDED: kept.mul}):
            hidden = model.decoder(
                target.expand(count, -1), memory.expand(count, -1, -1), seen, _all(count, source)
            )
        yield model.logits(hidden)


def _blocks(model: Transformer, count: int, steps: int) -> list[Tensor]:
    """The numbers below `count`, as many at a time as one pass may leave out."""
    config = model.config
    of_one = max(steps * config.target_vocabulary, config.heads * max(count, steps) ** 2)
    block = max(1, LARGEST_PASS // of_one)
    return [torch.arange(start, min(start + block, count)) for start in range(0, count, block)]


def _allowed(model: Transformer, steps: int) -> Tensor:
    """Mask (T, T): True where a row may attend to a position of the target."""
    tokens = torch.ones(steps, dtype=torch.bool)
    return path_mask("decoder", None, tokens, causal=model.config.causal)


def _all(count: int, source: Tensor) -> Tensor:
    """A mask (count, 1, 1, S) that hides nothing."""
    return torch.ones(count, 1, 1, source.size(1), dtype=torch.bool)


def _log_probabilities(logits: Tensor, labels: Tensor) -> Tensor:
    """ln p (b, T) float64 of the labels (1, T) under logits (b, T, V)."""
    given = labels.expand(len(logits), -1).flatten()
    losses = F.cross_entropy(logits.flatten(0, 1), given, reduction="none")
    return -losses.double().view(len(logits), -1)
