"""Transformers as the explorer's own, but with RMSNorm or rotary positions: what the measurements
say of a model must not depend on its kind of norm or of positions."""

import math
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from explorer.model.transformer import (
    Embedding,
    LayerCache,
    Norm,
    Residual,
    SelfAttention,
    Transformer,
)


def with_rms_norms(model: Transformer) -> Transformer:
    """Zhang & Sennrich 2019, arXiv 1910.07467."""
    for module in model.modules():
        if isinstance(module, Norm):
            module.__class__ = RmsResidual if isinstance(module, Residual) else RmsNorm
            nn.init.zeros_(module.bias)
    return model


def with_rotary_positions(model: Transformer) -> Transformer:
    """Su et al. 2021, arXiv 2104.09864, instead of sinusoids."""
    for stack in (model.encoder, model.decoder):
        for layer in () if stack is None else stack.layers:
            own: Any = layer.self_attention
            own.__class__ = RotarySelfAttention
            own.angles = stack.embedding.position_vectors  # (L, K / 2), as those of the stack
        if stack is not None:
            stack.embedding.__class__ = PlainEmbedding
    return model


class RmsNorm(Norm):
    def normed(self, x: Tensor) -> Tensor:
        return F.rms_norm(x, self.weight.shape, self.weight, self.eps)

    def forward(self, x: Tensor) -> Tensor:
        return self.normed(x)


class RmsResidual(Residual):
    normed = RmsNorm.normed  # type: ignore[assignment]


class PlainEmbedding(Embedding):
    """Token vectors alone."""

    def forward(self, tokens: Tensor, start: int = 0) -> Tensor:
        return self.output(self.scaled(self.tokens(tokens) * self.scale))


class RotarySelfAttention(SelfAttention):
    """Queries and keys are turned by their positions."""

    def project(self, x: Tensor, start: int = 0) -> tuple[Tensor, ...]:
        query, key, value = super().project(x)
        return self.turned(query, start), self.turned(key, start), value

    def turned(self, vectors: Tensor, start: int) -> Tensor:
        """(…, L, K) from position `start` on."""
        length, width = vectors.shape[-2:]
        place = torch.arange(start, start + length).to(vectors)[:, None]
        frequency = torch.exp(torch.arange(0, width, 2).to(vectors) * (-math.log(1e4) / width))
        angles = self.angles(place * frequency)  # (L, K / 2)
        one, other = vectors.unflatten(-1, (-1, 2)).unbind(-1)
        sine, cosine = angles.sin(), angles.cos()
        return torch.stack([one * cosine - other * sine, one * sine + other * cosine], -1).flatten(
            -2
        )

    def step(self, x: Tensor, cache: LayerCache) -> Tensor:
        query, key, value = self.project(x, cache.length)
        return self.attend(query, *cache.append(key, value), None)
