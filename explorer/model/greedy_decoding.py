"""Greedy decoding, one token at a time, with a key/value cache."""

from collections.abc import Iterator, Mapping
from types import MappingProxyType

import torch
from torch import Tensor

from explorer.core.vocabulary import BOS, EOS, PAD
from explorer.model.transformer import Transformer, padding_mask

NOTHING: Mapping[int, int] = MappingProxyType({})


def greedy_steps(
    model: Transformer,
    memory: Tensor,
    memory_mask: Tensor,
    limit: int,
    forced: Mapping[int, int] = NOTHING,
) -> Iterator[tuple[Tensor, Tensor]]:
    """Decode from `memory` (B, S, D), at most `limit` tokens; yield each step's logits and tokens.

    Logits are (B, V), tokens (B,): the most probable one (padding and beginning are never
    chosen), or the one that `forced` has for that step (1, 2, …). A finished sequence goes on
    with padding; decoding ends when all have finished.
    """
    cache = model.start(memory, memory_mask)
    token = torch.full((memory.size(0),), BOS, device=memory.device)
    done = torch.zeros_like(token, dtype=torch.bool)
    for step in range(1, limit + 1):
        logits = model.step(token, cache)  # (B, V)
        if step in forced:
            token = torch.full_like(token, forced[step])
        else:
            token = logits[:, EOS:].argmax(-1) + EOS
        token = token.masked_fill(done, PAD)
        yield logits, token
        done |= token == EOS
        if done.all():
            return


def greedy(model: Transformer, source: Tensor, limit: int) -> Tensor:
    """The tokens (B, ≤ limit) decoded for `source` (B, S), end and padding included."""
    mask = padding_mask(source)
    steps = greedy_steps(model, model.encode(source, mask), mask, limit)
    return torch.stack([token for _, token in steps], dim=1)
