"""Passes over one sentence in which tokens are left out, of any model."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor

from explorer.core.sites import Head
from explorer.core.vocabulary import PAD
from explorer.model.masks import path_mask
from explorer.model.points import NO_ACTIONS, Actions, Point
from explorer.model.row_logits import RowLogits
from explorer.model.transformer import Transformer
from explorer.model.transformer_run import run


@dataclass(frozen=True, slots=True, eq=False)
class LeftOutPasses:
    """Passes over one sentence of S source and T target tokens, in which tokens are left out.

    A token is left out by masks in all layers and heads: no other position attends to it. Its own
    position still receives it through the residual connection, so there the token vector is
    replaced by zeros and only the position vector remains. On the source side nothing reads it.

    run: actions and the number of copies of the sentence → their logits.
    heads: all of the model. width: number of logits of a row.
    sides: (S,) and (T,) bool, False for padding, which is not left out; S = 0 without a source.
    causal: False lets positions of the target attend to later ones.
    """

    run: Callable[[Actions, int], RowLogits]
    heads: Sequence[Head]
    width: int
    sides: tuple[Tensor, Tensor]
    causal: bool = True

    @property
    def reached(self) -> Tensor:
        """(T, T) bool, True where a row may depend on a token of the target."""
        return path_mask("decoder", None, torch.ones_like(self.sides[1]), causal=self.causal)

    @property
    def numbers(self) -> int:
        """The most numbers that a pass over one copy keeps: logits, or weights of one layer."""
        source, steps = map(len, self.sides)
        heads = max(head.head for head in self.heads) + 1
        return max(steps * self.width, heads * max(source, steps) ** 2)

    def whole(self) -> RowLogits:
        """(1, T, V), nothing left out."""
        return self.run(NO_ACTIONS, 1)

    def without_source(self, tokens: Tensor) -> RowLogits:
        """(R, T, V), in copy r without token `tokens[r]` of the source, counted from 0."""
        return self.run(_without_source(self._attentions, tokens), len(tokens))

    def without_target(self, tokens: Tensor) -> RowLogits:
        """The same without tokens of the target."""
        return self.run(_without_target(self._attentions, tokens), len(tokens))

    @property
    def _attentions(self) -> list[tuple[str, int]]:
        return list(dict.fromkeys((head.site, head.layer) for head in self.heads))


def transformer_left_out(model: Transformer, source: Tensor, target: Tensor) -> LeftOutPasses:
    """Of a model trained here. source: (1, S), may be padded. target: (1, T)."""
    config, real = model.config, (source[0] != PAD, torch.ones(target.size(1), dtype=torch.bool))

    def passes(actions: Actions, copies: int) -> RowLogits:
        return run(model, source, target, actions, copies=copies)

    return LeftOutPasses(passes, config.all_heads, config.target_vocabulary, real, config.causal)


def _without_source(attentions: Sequence[tuple[str, int]], tokens: Tensor) -> Actions:
    """Nothing in copy r attends to token `tokens[r]` of the source."""
    return {
        Point("mask", *place): partial(_hidden, tokens, itself=False)
        for place in attentions
        if place[0] != "decoder"
    }


def _without_target(attentions: Sequence[tuple[str, int]], tokens: Tensor) -> Actions:
    """No other position of copy r attends to token `tokens[r]` of the target; its vector is 0."""
    hidden = {
        Point("mask", *place): partial(_hidden, tokens, itself=True)
        for place in attentions
        if place[0] == "decoder"
    }
    return {**hidden, Point("token_vectors", "decoder"): partial(_without_vector, tokens)}


def _hidden(tokens: Tensor, mask: Tensor, *, itself: bool) -> Tensor:
    """`mask` (R, H, Q, K) with key `tokens[r]` masked in copy r; itself: not for this query."""
    hidden, rows = mask.clone(), torch.arange(len(tokens))
    hidden[rows, :, :, tokens] = False
    if itself:
        hidden[rows, :, tokens, tokens] = mask[rows, :, tokens, tokens]
    return hidden


def _without_vector(tokens: Tensor, vectors: Tensor) -> Tensor:
    """`vectors` (R, Q, D) with 0 at position `tokens[r]` of copy r."""
    changed = vectors.clone()
    changed[torch.arange(len(tokens)), tokens] = 0
    return changed
