"""From the shares of each attention to those of the tokens that go into the model.

The shares of one attention are (Q, N), rows sum to 1: N = K in self-attention, whose diagonal has
the residual connection too, and K + 1 in cross-attention, where the residual connection is last.
Layers are joined by products (Abnar & Zuidema 2020, arXiv 2005.00928); in a decoder the source
comes in through what the encoder has made of it (Ferrando et al. 2022, arXiv 2205.11631).
Everything else in a layer works on one position, and no share changes.
"""

from collections.abc import Callable, Iterable

import torch
from torch import Tensor

from explorer.heads.attention_sublayers import AttentionSublayer

LARGEST_BLOCK = 2**24
"""Numbers of the vectors of one block of queries: 64 MB."""

Sizes = Callable[[Tensor, Tensor], Tensor]
"""(q, N) ≥ 0 from vectors (q, N, D) and their sum, the outputs (q, D)."""


def closeness(vectors: Tensor, output: Tensor) -> Tensor:
    """max(0, ‖y‖₁ − ‖y − T‖₁) of each vector T: by how much it brings the output nearer than
    nothing does. Source: ALTI, Ferrando et al. 2022, arXiv 2203.04212."""
    distance = (output[:, None] - vectors).abs().sum(-1)
    return (output.abs().sum(-1, keepdim=True) - distance).clamp(min=0)


def length(vectors: Tensor, output: Tensor) -> Tensor:
    """‖T‖₂ of each vector. Source: Kobayashi et al. 2021, arXiv 2109.07152."""
    return vectors.norm(dim=-1)


def shares_of(sublayer: AttentionSublayer, sizes: Sizes) -> Tensor:
    """(Q, N) float64, rows sum to 1. A row of zeros becomes that of the residual connection."""
    queries, keys = sublayer.weights.shape[1:]
    block = max(1, LARGEST_BLOCK // ((keys + 1) * sublayer.output.size(1)))
    blocks = [slice(start, start + block) for start in range(0, queries, block)]
    found = torch.cat(
        [sizes(sublayer.vectors(rows), sublayer.output[rows]).double() for rows in blocks]
    )
    total = found.sum(-1, keepdim=True)
    if sublayer.site == "cross":
        unchanged = torch.zeros_like(found)
        unchanged[:, -1] = 1
    else:
        unchanged = torch.eye(queries, dtype=found.dtype)
    return torch.where(total > 0, found / total.where(total > 0, 1), unchanged)


def rolled_out(shares: Iterable[tuple[str, Tensor]]) -> Tensor:
    """(T, S + T): what each row of the decoder's output has of each token of source and target.

    shares: site and shares of each attention, as `attention_sublayers` orders them.
    """
    by_site: dict[str, list[Tensor]] = {}
    for site, of_layer in shares:
        by_site.setdefault(site, []).append(of_layer)
    size = by_site["cross"][0].size(1) - 1
    memory = torch.eye(size, dtype=torch.float64)  # (S, S)
    for of_layer in by_site.get("encoder", []):
        memory = of_layer @ memory
    steps = by_site["decoder"][0].size(0)
    source = torch.zeros(steps, size, dtype=torch.float64)
    prefix = torch.eye(steps, dtype=torch.float64)
    for own, cross in zip(by_site["decoder"], by_site["cross"], strict=True):
        kept = cross[:, -1:]
        source = cross[:, :-1] @ memory + kept * (own @ source)
        prefix = kept * (own @ prefix)
    return torch.cat([source, prefix], 1)
