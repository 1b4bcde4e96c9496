"""Decoding step by step with a key/value cache, greedily or with drawn tokens."""

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

import torch
from torch import Tensor

from explorer.core.verbs import Drawing
from explorer.core.vocabulary import BOS, EOS, PAD
from explorer.model.drawing import draw
from explorer.model.masks import padding_mask
from explorer.model.points import from_query
from explorer.model.transformer import Transformer

NO_TOKENS: Mapping[int, int] = MappingProxyType({})


def decoding_steps(
    model: Transformer,
    memory: Tensor,
    memory_mask: Tensor,
    limit: int,
    forced: Mapping[int, int] = NO_TOKENS,
    drawing: Drawing | None = None,
) -> Iterator[tuple[Tensor, Tensor]]:
    """Decode at most `limit` tokens from `memory` (B, S, D); yield logits and token of each step.

    forced: step (1, 2, …) → the id its token must have. drawing: None = the most probable one.

    Logits are (B, V), tokens (B,): the forced token, else the most probable or a drawn one. PAD and
    BOS are never chosen. A sequence that has ended continues with padding; decoding stops when all
    sequences have ended.
    """
    cache = model.start(memory, memory_mask)
    token = torch.full((memory.size(0),), BOS, device=memory.device)
    ended = torch.zeros_like(token, dtype=torch.bool)
    for step in range(1, limit + 1):
        with from_query(cache.length):
            logits = model.step(token, cache)  # (B, V)
        if step in forced:
            token = torch.full_like(token, forced[step])
        elif drawing:
            token = EOS + torch.tensor(
                [draw(drawing, row, step) for row in logits[:, EOS:]], device=token.device
            )
        else:
            token = logits[:, EOS:].argmax(-1) + EOS
        token = token.masked_fill(ended, PAD)
        yield logits, token
        ended |= token == EOS
        if ended.all():
            return


def continuation(model: Transformer, prompt: Sequence[int], limit: int) -> list[int]:
    """The tokens that a decoder alone writes after `prompt`, with end; at most `limit` with it."""
    source = torch.empty(1, 0, dtype=torch.long, device=model.device)
    mask = padding_mask(source)
    given = dict(enumerate(prompt, start=1))
    steps = decoding_steps(model, model.encode(source, mask), mask, limit, given)
    return [int(token) for _, token in steps][len(prompt) :]


def greedy(model: Transformer, source: Tensor, limit: int) -> Tensor:
    """The tokens (B, ≤ `limit`) decoded for `source` (B, S), with end and padding."""
    mask = padding_mask(source)
    steps = decoding_steps(model, model.encode(source, mask), mask, limit)
    return torch.stack([token for _, token in steps], dim=1)
