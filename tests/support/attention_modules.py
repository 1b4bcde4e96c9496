"""Small modules that attend in the ways people write them, each in the shape of a well-known code
base: what is projected, split into heads, masked and mixed, and where."""

import math
from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor, nn

WIDTH, HEADS = 12, 3


def shaken(module: nn.Module) -> nn.Module:
    """`module` with random weights, biases included, which torch starts at 0."""
    for weight in module.parameters():
        nn.init.normal_(weight, std=0.3)
    return module


def split(x: Tensor, heads: int = HEADS) -> Tensor:
    """(B, T, D) as (B, H, T, D / H)."""
    return x.unflatten(-1, (heads, -1)).transpose(1, 2)


def joined(x: Tensor) -> Tensor:
    """(B, H, T, D / H) as (B, T, D)."""
    return x.transpose(1, 2).flatten(2)


class FusedCausal(nn.Module):
    """As in nanoGPT: one map for queries, keys and values, then the function of torch."""

    def __init__(self, dropout: float = 0.0) -> None:
        super().__init__()
        self.c_attn, self.c_proj = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.dropout = dropout

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = map(split, self.c_attn(x).split(WIDTH, dim=2))
        dropout = self.dropout if self.training else 0
        y = F.scaled_dot_product_attention(q, k, v, dropout_p=dropout, is_causal=True)
        return self.c_proj(joined(y))


class ByHandCausal(FusedCausal):
    """As in nanoGPT without flash attention: a buffer with a triangle, and a softmax by hand."""

    def __init__(self, dropout: float = 0.0) -> None:
        super().__init__(dropout)
        self.register_buffer("bias", torch.ones(9, 9).tril().view(1, 1, 9, 9))

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = map(split, self.c_attn(x).split(WIDTH, dim=2))
        size = x.size(1)
        scores = (q @ k.transpose(-2, -1)) * (1.0 / math.sqrt(k.size(-1)))
        scores = scores.masked_fill(self.bias[:, :, :size, :size] == 0, float("-inf"))
        return self.c_proj(joined(F.softmax(scores, dim=-1) @ v))


class Language(nn.Module):
    """A language model with numbered blocks of one kind of attention."""

    def __init__(self, attention: Callable[[], nn.Module], layers: int = 2) -> None:
        super().__init__()
        self.wte, self.wpe = nn.Embedding(9, WIDTH), nn.Embedding(9, WIDTH)
        self.h = nn.ModuleList(
            nn.ModuleDict({"ln_1": nn.LayerNorm(WIDTH), "attn": attention()}) for _ in range(layers)
        )
        self.head = nn.Linear(WIDTH, 9, bias=False)
        self.wte.weight = self.head.weight

    def forward(self, ids: Tensor) -> Tensor:
        x = self.wte(ids) + self.wpe(torch.arange(ids.size(1)))
        for block in self.h:
            x = x + block["attn"](block["ln_1"](x))
        return self.head(x).softmax(-1)  # of a product, too, but with weights


class Head(nn.Module):
    """One head, as in lectures that build a language model: softmax over (B, T, T)."""

    def __init__(self) -> None:
        super().__init__()
        sizes = WIDTH, WIDTH // HEADS
        self.key, self.query, self.value = (nn.Linear(*sizes, bias=False) for _ in range(3))
        self.register_buffer("tril", torch.ones(9, 9).tril())

    def forward(self, x: Tensor) -> Tensor:
        size, width = x.size(1), WIDTH // HEADS
        scores = self.query(x) @ self.key(x).transpose(-2, -1) * width**-0.5
        scores = scores.masked_fill(self.tril[:size, :size] == 0, float("-inf"))
        return scores.softmax(dim=-1) @ self.value(x)


class SeparateHeads(nn.Module):
    """A layer whose heads are modules in a list."""

    def __init__(self) -> None:
        super().__init__()
        self.heads, self.proj = nn.ModuleList(Head() for _ in range(HEADS)), nn.Linear(WIDTH, WIDTH)

    def forward(self, x: Tensor) -> Tensor:
        return self.proj(torch.cat([head(x) for head in self.heads], dim=-1))


def attention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor) -> Tensor:
    scores = torch.matmul(query, key.transpose(-2, -1)) / math.sqrt(query.size(-1))
    return torch.matmul(scores.masked_fill(mask == 0, -1e9).softmax(dim=-1), value)


class MultiHeaded(nn.Module):
    """As in The Annotated Transformer: four maps, and a function outside of the class."""

    def __init__(self) -> None:
        super().__init__()
        self.linears = nn.ModuleList(nn.Linear(WIDTH, WIDTH) for _ in range(4))

    def forward(self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor) -> Tensor:
        given = zip(self.linears, (query, key, value), strict=False)
        x = attention(*[split(linear(one)) for linear, one in given], mask.unsqueeze(1))
        return self.linears[-1](joined(x))


class Pair(nn.Module):
    """An encoder and a decoder of as many layers; each attention is made by a function, and called
    with queries, keys, values and mask (B or 1, Q or 1, K), 0 = may not attend."""

    def __init__(self, attention: Callable[[], nn.Module], layers: int = 2) -> None:
        super().__init__()

        def layer(*names: str) -> nn.ModuleDict:
            norms = nn.ModuleList(nn.LayerNorm(WIDTH) for _ in names)
            return nn.ModuleDict({"norms": norms, **{name: attention() for name in names}})

        encoder = [layer("self_attn") for _ in range(layers)]
        decoder = [layer("self_attn", "src_attn") for _ in range(layers)]
        self.encoder = nn.ModuleDict({"layers": nn.ModuleList(encoder)})
        self.decoder = nn.ModuleDict({"layers": nn.ModuleList(decoder)})

    def forward(self, source: Tensor, target: Tensor, source_mask: Tensor, mask: Tensor) -> Tensor:
        x = source
        for layer in self.encoder["layers"]:
            y = layer["norms"][0](x)
            x = x + layer["self_attn"](y, y, y, source_mask)
        memory, x = x, target
        for layer in self.decoder["layers"]:
            y = layer["norms"][0](x)
            x = x + layer["self_attn"](y, y, y, mask)
            x = x + layer["src_attn"](layer["norms"][1](x), memory, memory, source_mask)
        return x


class Attend(nn.Module):
    """As in x-transformers: queries, keys and values come in, with fewer heads of keys."""

    def forward(self, q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None) -> Tensor:
        k, v = (one.repeat_interleave(q.size(1) // one.size(1), dim=1) for one in (k, v))
        similar = torch.einsum("b h i d, b h j d -> b h i j", q, k) * q.size(-1) ** -0.5
        if mask is not None:
            similar = similar.masked_fill(~mask, -torch.finfo(similar.dtype).max)
        return torch.einsum("b h i j, b h j d -> b h i d", F.softmax(similar, dim=-1), v)


class ContextAttention(nn.Module):
    """As in x-transformers: over itself, or over a context if there is one; its parts are numbered
    in one list with the feed-forward networks, and norms of queries and keys follow the maps."""

    def __init__(self) -> None:
        super().__init__()
        self.to_q = nn.Linear(WIDTH, WIDTH, bias=False)
        self.to_k = nn.Linear(WIDTH, WIDTH // HEADS, bias=False)
        self.to_v = nn.Linear(WIDTH, WIDTH // HEADS, bias=False)
        self.norm_q, self.norm_k = nn.LayerNorm(WIDTH // HEADS), nn.LayerNorm(WIDTH // HEADS)
        self.attend = Attend()

    def forward(
        self, x: Tensor, context: Tensor | None = None, mask: Tensor | None = None
    ) -> Tensor:
        read = x if context is None else context
        q, k, v = split(self.to_q(x)), split(self.to_k(read), 1), split(self.to_v(read), 1)
        return joined(self.attend(self.norm_q(q), self.norm_k(k), v, mask))


class ContextLayers(nn.Module):
    """A stack of such layers; of the attention of the decoder each has a number of its own."""

    def __init__(self, kinds: str) -> None:
        super().__init__()
        self.kinds = kinds
        self.layers = nn.ModuleList(
            nn.ModuleList([nn.LayerNorm(WIDTH), ContextAttention()]) for _ in kinds
        )

    def forward(self, x: Tensor, context: Tensor | None, mask: Tensor | None) -> Tensor:
        for kind, (norm, part) in zip(self.kinds, self.layers, strict=True):
            x = x + (part(norm(x), mask=mask) if kind == "a" else part(norm(x), context))
        return x


class ContextPair(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.encoder, self.decoder = ContextLayers("aa"), ContextLayers("acac")

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        later = torch.ones(target.size(1), target.size(1), dtype=torch.bool).tril()
        return self.decoder(target, self.encoder(source, None, None), later)


class JoinedHeads(nn.Module):
    """As in Dive into Deep Learning: heads and sequences along one axis, and `bmm`."""

    def __init__(self) -> None:
        super().__init__()
        self.W_q, self.W_k, self.W_v = (nn.Linear(WIDTH, WIDTH, bias=False) for _ in range(3))

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = (split(one(x)).flatten(0, 1) for one in (self.W_q, self.W_k, self.W_v))
        scores = torch.bmm(q, k.transpose(1, 2)) / math.sqrt(q.size(-1))
        mixed = torch.bmm(nn.functional.softmax(scores, dim=-1), v)  # (B · H, T, D / H)
        return joined(mixed.unflatten(0, (x.size(0), HEADS)))
