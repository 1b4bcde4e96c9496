"""The Transformer of "Attention Is All You Need" (Vaswani et al. 2017, arXiv 1706.03762).

In the order of the paper: the model and its stacks (§3.1), attention (§3.2), feed-forward
networks (§3.3), embeddings (§3.4) and positions (§3.5), dropout (§5.4); then the cache for decoding
step by step. `masks` has the masks.

Letters in shape comments:

    B batch      S source length     T target length     V vocabulary
    D width      H heads             K head width        L number of keys (S or T)

A decoder alone is the same with S = 0: no encoder, and no cross-attention in its layers.

Masks are boolean, True = may attend; rows are queries, columns are keys.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from explorer.model.config import ModelConfig
from explorer.model.hooks import HookPoint, hook_points, watched
from explorer.model.masks import causal_mask, padding_mask


class Transformer(nn.Module):
    """Encoder, decoder, and the linear map from the output of the decoder to logits (§3.1).

    Without encoder layers it is a decoder alone, as GPT (Radford et al. 2018): it continues the
    target, and its source (B, 0) is empty.
    """

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.config = config
        self.encoder = None if config.decoder_only else Encoder(config)
        self.decoder = Decoder(config)
        self.logits = Logits(config)
        if config.tied_embeddings:
            self.logits.weight = self.decoder.embedding.tokens.weight
            if self.encoder is not None:
                self.encoder.embedding.tokens.weight = self.decoder.embedding.tokens.weight
        self.hook_points = hook_points(self)

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        """Logits (B, T, V) of the token after each of `target` (B, T), given `source` (B, S)."""
        return self.logits(self.hidden(source, target))

    def hidden(self, source: Tensor, target: Tensor) -> Tensor:
        """The decoder's output (B, T, D), from which `logits` are computed."""
        memory_mask = padding_mask(source)
        return self.decoder_output(target, self.encode(source, memory_mask), memory_mask)

    @property
    def device(self) -> torch.device:
        """The device of the weights, where the token ids must be, too."""
        return self.logits.weight.device

    def encode(self, source: Tensor, mask: Tensor) -> Tensor:
        """The memory (B, S, D) of `source` (B, S); `mask` is its `padding_mask`."""
        if self.encoder is None:
            return self.logits.weight.new_empty(len(source), 0, self.config.d_model)
        memory: Tensor = self.encoder(source, mask)
        return memory

    def decode(self, target: Tensor, memory: Tensor, memory_mask: Tensor) -> Tensor:
        """Logits (B, T, V) of the token after each of `target` (B, T), all in one pass."""
        return self.logits(self.decoder_output(target, memory, memory_mask))

    def decoder_output(self, target: Tensor, memory: Tensor, memory_mask: Tensor) -> Tensor:
        """The decoder's output (B, T, D) for `target` (B, T) and `memory` (B, S, D)."""
        mask = padding_mask(target)
        if self.config.causal:
            mask = mask & causal_mask(target.size(1), target.device)  # (B, 1, T, T)
        hidden: Tensor = self.decoder(target, memory, mask, memory_mask)
        return hidden

    def start(self, memory: Tensor, memory_mask: Tensor) -> "Cache":
        """An empty cache for decoding from `memory` (B, S, D), projected once, here."""
        config = self.config
        size = (memory.size(0), config.heads, config.max_length, config.head_width)
        layers = [
            LayerCache(
                layer.project(memory),
                keys=memory.new_empty(size),
                values=memory.new_empty(size),
            )
            for layer in self.decoder.layers
        ]
        return Cache(layers, memory_mask, self.logits.weight.t().contiguous())

    def step(self, token: Tensor, cache: "Cache") -> Tensor:
        """Logits (B, V) of the token after `token` (B,), which is added to `cache`."""
        hidden = self.decoder.step(token, cache)[:, 0]  # (B, D)
        return self.logits.values(torch.addmm(self.logits.bias, hidden, cache.to_logits))  # (B, V)


class Logits(nn.Linear):
    """The linear map from the output of the decoder to a score for each token (§3.4)."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__(config.d_model, config.target_vocabulary)
        initialise(self, parts=1)
        if config.decoder_only:  # its bias stays 0, as in GPT-2, which has none
            bias = self.bias.detach()
            del self.bias
            self.register_buffer("bias", bias, persistent=False)
        self.values = HookPoint()  # (B, T, V)

    def forward(self, hidden: Tensor) -> Tensor:
        return self.values(super().forward(hidden))


class Encoder(nn.Module):
    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.embedding = Embedding(config.source_vocabulary, config)
        self.layers = nn.ModuleList(EncoderLayer(config) for _ in range(config.encoder_layers))
        self.norm = _final_norm(config)
        self.output = HookPoint()  # (B, S, D), the memory

    def forward(self, source: Tensor, mask: Tensor) -> Tensor:
        x = self.embedding(source)  # (B, S, D)
        for layer in self.layers:
            x = layer(x, mask)
        return self.output(self.norm(x))


class Decoder(nn.Module):
    layers: "Sequence[DecoderLayer | DecoderOnlyLayer]"

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.embedding = Embedding(config.target_vocabulary, config)
        layer = DecoderOnlyLayer if config.decoder_only else DecoderLayer
        self.layers = nn.ModuleList(  # type: ignore[assignment]  # a sequence of them
            layer(config) for _ in range(config.decoder_layers)
        )
        self.norm = _final_norm(config)
        self.output = HookPoint()  # (B, T, D)

    def forward(self, target: Tensor, memory: Tensor, mask: Tensor, memory_mask: Tensor) -> Tensor:
        x = self.embedding(target)  # (B, T, D)
        for layer in self.layers:
            x = layer(x, memory, mask, memory_mask)
        return self.output(self.norm(x))

    def step(self, token: Tensor, cache: "Cache") -> Tensor:
        x = self.embedding(token[:, None], start=cache.length)  # (B, 1, D)
        for layer, layer_cache in zip(self.layers, cache.layers, strict=True):
            x = layer.step(x, layer_cache, cache.memory_mask)
        cache.length += 1
        return self.output(self.norm(x))


class EncoderLayer(nn.Module):
    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.self_attention = SelfAttention(config)
        self.feed_forward = FeedForward(config)
        self.around_self_attention = Residual(config)
        self.around_feed_forward = Residual(config)

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        x = self.around_self_attention(x, lambda y: self.self_attention(y, mask))
        return self.around_feed_forward(x, self.feed_forward)


class DecoderLayer(nn.Module):
    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.self_attention = SelfAttention(config)
        self.cross_attention = CrossAttention(config)
        self.feed_forward = FeedForward(config)
        self.around_self_attention = Residual(config)
        self.around_cross_attention = Residual(config)
        self.around_feed_forward = Residual(config)

    def project(self, memory: Tensor) -> tuple[Tensor, ...]:
        """Keys and values of `memory` (B, S, D) for `step`: (B, H, S, K) each."""
        return self.cross_attention.project(memory)

    def forward(self, x: Tensor, memory: Tensor, mask: Tensor, memory_mask: Tensor) -> Tensor:
        keys_values = self.project(memory)
        x = self.around_self_attention(x, lambda y: self.self_attention(y, mask))
        x = self.around_cross_attention(
            x, lambda y: self.cross_attention(y, keys_values, memory_mask)
        )
        return self.around_feed_forward(x, self.feed_forward)

    def step(self, x: Tensor, cache: "LayerCache", memory_mask: Tensor) -> Tensor:
        """`forward` for one new token (B, 1, D); earlier keys and values are in `cache`."""
        x = self.around_self_attention(x, lambda y: self.self_attention.step(y, cache))
        x = self.around_cross_attention(
            x, lambda y: self.cross_attention(y, cache.memory, memory_mask)
        )
        return self.around_feed_forward(x, self.feed_forward)


class DecoderOnlyLayer(EncoderLayer):
    """A layer of a decoder alone: the sublayers of the encoder, called as those of a decoder."""

    def project(self, memory: Tensor) -> tuple[Tensor, ...]:
        return ()

    def forward(  # type: ignore[override]  # a decoder calls it
        self, x: Tensor, memory: Tensor, mask: Tensor, memory_mask: Tensor
    ) -> Tensor:
        return super().forward(x, mask)

    def step(self, x: Tensor, cache: "LayerCache", memory_mask: Tensor) -> Tensor:
        x = self.around_self_attention(x, lambda y: self.self_attention.step(y, cache))
        return self.around_feed_forward(x, self.feed_forward)


class Norm(nn.LayerNorm):
    def __init__(self, config: ModelConfig) -> None:
        super().__init__(config.d_model, config.norm_eps)

    def normed(self, x: Tensor) -> Tensor:
        return super().forward(x)


class Residual(Norm):
    """LayerNorm(x + Sublayer(x)) as in the paper (§3.1), or pre-norm x + Sublayer(LayerNorm(x))."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__(config)
        self.dropout = config.dropout
        self.pre = config.norm == "pre"
        self.input = HookPoint()  # (B, L, D)
        self.sublayer_input = HookPoint()  # (B, L, D), with pre-norm after LayerNorm
        self.sublayer_output = HookPoint()  # (B, L, D), before dropout
        self.output = HookPoint()  # (B, L, D), with post-norm after LayerNorm

    def forward(  # type: ignore[override]  # the sublayer is between norm and sum
        self, x: Tensor, sublayer: Callable[[Tensor], Tensor]
    ) -> Tensor:
        x = self.input(x)
        y = self.sublayer_input(self.normed(x) if self.pre else x)
        y = self.sublayer_output(sublayer(y))
        x = x + (dropout(y, self.dropout) if self.training else y)
        return self.output(x if self.pre else self.normed(x))


class Attention(nn.Module):
    """Multi-head attention: softmax(Q Kᵀ / √K) V in each head (§3.2, equation 1).

    One fused kernel computes it and never stores the weights. If a hook point inside is captured
    or edited, the same values are computed step by step.
    """

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.heads = config.heads
        self.dropout = config.dropout
        self.output = linear(config.d_model, 1, config.d_model)
        self.mask = HookPoint()  # (B, H or 1, T, L)
        self.query_vectors = HookPoint()  # (B, H, T, K)
        self.key_vectors = HookPoint()  # (B, H, L, K)
        self.scores = HookPoint()  # (B, H, T, L), scaled, before the mask
        self.pattern = HookPoint()  # (B, H, T, L), after softmax, before dropout
        self.values = HookPoint()  # (B, H, L, K)
        self.head_output = HookPoint()  # (B, H, T, K), before the output projection
        vectors = (self.query_vectors, self.key_vectors, self.values)
        self._inside = (*vectors, self.scores, self.pattern)

    def attend(self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None) -> Tensor:
        """Queries (B, H, T, K) mix values (B, H, L, K) by their keys: (B, T, D)."""
        if watched(self.mask):
            if mask is None:  # decoding step by step: all cached keys may be attended to
                mask = query.new_ones(1, 1, 1, 1, dtype=torch.bool)
            mask = self.mask(mask.expand(len(query), -1, query.size(-2), key.size(-2)))
        explicit = watched(*self._inside) or _slower_fused(query)
        mix = self._mix_explicitly if explicit else self._mix_fused
        mixed = self.head_output(mix(query, key, value, mask))
        return self.output(mixed.transpose(1, 2).flatten(2))  # (B, T, D)

    def split(self, x: Tensor, parts: int) -> tuple[Tensor, ...]:
        """The heads of `parts` concatenated vectors (B, L, parts · D): (B, H, L, K) each."""
        batch, length, _ = x.shape
        return x.view(batch, length, parts, self.heads, -1).permute(2, 0, 3, 1, 4).unbind()

    def _mix_fused(self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None) -> Tensor:
        share = self.dropout if self.training else 0.0
        return F.scaled_dot_product_attention(query, key, value, mask, share)

    def _mix_explicitly(
        self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None
    ) -> Tensor:
        query, key = self.query_vectors(query), self.key_vectors(key)
        scores = self.scores(query @ key.transpose(-2, -1) / math.sqrt(query.size(-1)))
        if mask is None:  # step by step all cached keys may be attended to
            pattern = scores.softmax(-1)
        else:
            pattern = scores.masked_fill(~mask, -math.inf).softmax(-1)
            pattern = pattern.masked_fill(~mask.any(-1, keepdim=True), 0)
        pattern = self.pattern(pattern)
        if self.training:
            pattern = dropout(pattern, self.dropout)
        return pattern @ self.values(value)


class SelfAttention(Attention):
    """Queries, keys and values all come from one sequence."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__(config)
        self.query_key_value = linear(config.d_model, 3, config.d_model)

    def project(self, x: Tensor) -> tuple[Tensor, ...]:
        """Queries, keys and values of `x` (B, L, D): (B, H, L, K) each."""
        return self.split(self.query_key_value(x), 3)

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        """`x` (B, T, D) attends to itself where `mask` allows."""
        query, key, value = self.project(x)
        return self.attend(query, key, value, mask)

    def step(self, x: Tensor, cache: "LayerCache") -> Tensor:
        """One new token (B, 1, D) attends to itself and to those in `cache`, and is added there."""
        query, key, value = self.project(x)
        keys, values = cache.append(key, value)
        return self.attend(query, keys, values, None)


class CrossAttention(Attention):
    """Queries come from the target; keys and values from the encoded source, the memory."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__(config)
        self.query = linear(config.d_model, 1, config.d_model)
        self.key_value = linear(config.d_model, 2, config.d_model)

    def project(self, memory: Tensor) -> tuple[Tensor, ...]:
        """Keys and values of `memory` (B, S, D): (B, H, S, K) each."""
        return self.split(self.key_value(memory), 2)

    def queries(self, x: Tensor) -> Tensor:
        """Queries (B, H, T, K) of `x` (B, T, D)."""
        (query,) = self.split(self.query(x), 1)
        return query

    def forward(self, x: Tensor, memory: tuple[Tensor, ...], mask: Tensor) -> Tensor:
        """`x` (B, T, D) attends to the keys and values of `project`, where `mask` allows."""
        key, value = memory
        return self.attend(self.queries(x), key, value, mask)


class FeedForward(nn.Module):
    """Two linear maps with a ReLU between, the same at every position (§3.3, equation 2)."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.expand = linear(config.d_model, 1, config.d_ff)
        self.contract = linear(config.d_ff, 1, config.d_model)
        self.dropout = config.dropout
        self.hidden = HookPoint()  # (B, T, d_ff), after ReLU

    def forward(self, x: Tensor) -> Tensor:
        expanded = self.hidden(self.expand(x).relu())  # (B, T, d_ff)
        return self.contract(dropout(expanded, self.dropout) if self.training else expanded)


class Embedding(nn.Module):
    """Token embeddings scaled by √D, plus positions (§3.4, §3.5)."""

    positions: Tensor

    def __init__(self, vocabulary: int, config: ModelConfig) -> None:
        super().__init__()
        self.tokens = nn.Embedding(vocabulary, config.d_model)
        nn.init.normal_(self.tokens.weight, std=config.d_model**-0.5)  # variance 1 after scaling
        self.dropout = config.dropout
        self.scale = math.sqrt(config.d_model)
        self.scaled = HookPoint()  # (B, T, D), without positions
        self.position_vectors = HookPoint()  # (T, D)
        self.output = HookPoint()  # (B, T, D)
        positions = sinusoids(config.max_length, config.d_model)
        self.register_buffer("positions", positions, persistent=False)

    def forward(self, tokens: Tensor, start: int = 0) -> Tensor:
        embedded = self.scaled(self.tokens(tokens) * self.scale)  # (B, T, D)
        positions = self.position_vectors(self.positions[start : start + tokens.size(1)])
        x = self.output(embedded + positions)
        return dropout(x, self.dropout) if self.training else x


def sinusoids(length: int, width: int) -> Tensor:
    """Positions as sines and cosines of falling frequency: (length, width). §3.5."""
    position = torch.arange(length, dtype=torch.float32)[:, None]
    frequency = torch.exp(torch.arange(0, width, 2) * (-math.log(10_000.0) / width))
    angles = position * frequency  # (length, width / 2)
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)  # (length, width)


def dropout(x: Tensor, share: float) -> Tensor:
    """`x` with about `share` of its values at 0 and the others divided by 1 − share (§5.4).

    torch draws one random number per value on a CPU. Here 64 random bits serve four values, which
    is five times as fast.
    """
    if share == 0.0:
        return x
    if x.device.type != "cpu":
        return torch.dropout(x, share, train=True)
    count, levels = x.numel(), 2**16
    bits = torch.empty((count + 3) // 4, dtype=torch.int64).random_(-(2**63), None)
    drawn = bits.view(torch.int16)[:count].view(x.shape)
    lowest = round(share * levels) - levels // 2
    kept = torch.ge(drawn, lowest, out=torch.empty(x.shape, dtype=x.dtype))  # 0 or 1
    return x * kept.mul_(1 / (1 - share))


@dataclass(slots=True)
class Cache:
    """The state of decoding step by step."""

    layers: "list[LayerCache]"
    memory_mask: Tensor  # (B, 1, 1, S)
    to_logits: Tensor  # (D, V), contiguous: fastest for one token at a time
    length: int = 0


@dataclass(slots=True)
class LayerCache:
    """Keys and values of one decoder layer: of the memory and of the tokens decoded so far."""

    memory: tuple[Tensor, ...]  # keys and values, (B, H, S, K) each; none in a decoder alone
    keys: Tensor  # (B, H, max_length, K), of which the first `length` are filled
    values: Tensor
    length: int = 0

    def append(self, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
        """Add the key and value of one token (B, H, 1, K); return those of all so far."""
        position = self.length
        self.length += 1
        self.keys[:, :, position : self.length] = key
        self.values[:, :, position : self.length] = value
        return self.keys[:, :, : self.length], self.values[:, :, : self.length]  # (B, H, T, K)


def linear(width: int, parts: int, part: int) -> nn.Linear:
    """A linear map from `width` to `parts` concatenated vectors of width `part`."""
    projection = nn.Linear(width, parts * part)
    initialise(projection, parts)
    return projection


def initialise(projection: nn.Linear, parts: int) -> None:
    """Make each of the `parts` of a linear map a Xavier matrix of its own, and the biases 0."""
    for matrix in projection.weight.chunk(parts):
        nn.init.xavier_uniform_(matrix)
    nn.init.zeros_(projection.bias)


def _final_norm(config: ModelConfig) -> nn.Module:
    # With pre-norm, nothing else normalises the sum after the last sublayer.
    if config.norm == "post":
        return nn.Identity()
    return Norm(config)


def _slower_fused(query: Tensor) -> bool:
    # On a CPU the backward pass of the fused kernel takes ten times as long in bfloat16.
    return query.requires_grad and query.dtype == torch.bfloat16 and query.device.type == "cpu"
