"""From the shares of each attention to the shares of the model's input tokens.

The shares of one attention are (Q, N), rows sum to 1: N = K in self-attention, whose diagonal has
the residual connection too, and K + 1 in cross-attention, where the residual connection is last.
Layers are joined by products (Abnar & Zuidema 2020, arXiv 2005.00928); in a decoder the source
comes in through the shares of the encoder's output (Ferrando et al. 2022, arXiv 2205.11631).
Everything else in a layer works on one position, and no share changes.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence

import torch
from torch import Tensor

from explorer.heads.contributions.attention_sublayers import AttentionSublayer

LARGEST_BLOCK = 2**24
"""Numbers of the vectors of one block of queries: 64 MB."""

Sizes = Callable[[Tensor, Tensor], Tensor]
"""(q, N) ≥ 0 from vectors (q, N, D) and their sum, the outputs (q, D)."""


def closeness(vectors: Tensor, output: Tensor) -> Tensor:
    """max(0, ‖y‖₁ − ‖y − T‖₁) of each vector T: how much closer to the output y it is than the zero
    vector. Source: ALTI, Ferrando et al. 2022, arXiv 2203.04212."""
    distance = (output[:, None] - vectors).abs().sum(-1)
    return (output.abs().sum(-1, keepdim=True) - distance).clamp(min=0)


def length(vectors: Tensor, output: Tensor) -> Tensor:
    """‖T‖₂ of each vector. Source: Kobayashi et al. 2021, arXiv 2109.07152."""
    return vectors.norm(dim=-1)


def shares_of(sublayer: AttentionSublayer, sizes: Sizes) -> Tensor:
    """Shares (Q, N) float64, rows sum to 1. A row of zeros gives all to the residual connection."""
    queries, keys = sublayer.weights.shape[1:]
    found = torch.cat(
        [
            sizes(sublayer.vectors(rows), sublayer.output[rows]).double()
            for rows in _blocks(sublayer)
        ]
    )
    total = found.sum(-1, keepdim=True)
    unchanged = _residual(sublayer.site, queries, keys)
    return torch.where(total > 0, found / total.where(total > 0, 1), unchanged)


def _blocks(sublayer: AttentionSublayer) -> list[slice]:
    """Slices of the queries, each as large as `LARGEST_BLOCK` allows."""
    queries, keys = sublayer.weights.shape[1:]
    block = max(1, LARGEST_BLOCK // ((keys + 1) * sublayer.output.size(1)))
    return [slice(start, start + block) for start in range(0, queries, block)]


def half_attention(site: str, weights: Tensor) -> Tensor:
    """(Q, N) float64: half of the mean of the weights (H, Q, K) over heads, and half for the
    residual connection. Source: Abnar & Zuidema 2020, arXiv 2005.00928."""
    mean = weights.double().mean(0)
    if site == "cross":
        mean = torch.cat([mean, torch.zeros_like(mean[:, :1])], 1)
    return (mean + _residual(site, *weights.shape[1:])) / 2


def _residual(site: str, queries: int, keys: int) -> Tensor:
    """(Q, N) float64, 1 where the residual connection is."""
    if site != "cross":
        return torch.eye(queries, dtype=torch.float64)
    residual = torch.zeros(queries, keys + 1, dtype=torch.float64)
    residual[:, -1] = 1
    return residual


def mean_lengths(lengths: Mapping[str, Sequence[Tensor]]) -> Tensor:
    """(T, S + T) float64, rows sum to 1: ‖Σ_h A_h[i, j] (x_j W_V + b_V) W_O‖₂ of each position in
    cross- and self-attention of the decoder, each row of a layer divided by its sum, then the mean
    over layers. Of an encoder alone (S, S). Source: Kobayashi et al. 2020, arXiv 2004.10102.

    lengths: by site, `added_length` of each layer.
    """
    prefixes = lengths.get("decoder") or lengths["encoder"]
    of_source = lengths.get("cross") or [one[:, :0] for one in prefixes]
    both = [torch.cat(pair, 1) for pair in zip(of_source, prefixes, strict=True)]
    return torch.stack([layer / layer.sum(-1, keepdim=True) for layer in both]).mean(0)


def added_length(sublayer: AttentionSublayer) -> Tensor:
    """(Q, K) float64: length of the vector that each key adds to each query, all heads together."""
    blocks = [sublayer.added(rows).norm(dim=-1) for rows in _blocks(sublayer)]
    return torch.cat(blocks).double()


def rolled_out(shares: Iterable[tuple[str, Tensor]]) -> Tensor:
    """(T, S + T): share of each token of source and target in each row of the decoder's output; of
    an encoder alone (S, S).

    shares: site and shares of each attention, as `attention_sublayers` orders them.
    """
    return last_layers(rolled_by_layer(shares))


def last_layers(by_site: Mapping[str, Sequence[Tensor]]) -> Tensor:
    """What `rolled_out` returns, from what `rolled_by_layer` returns."""
    if not by_site["decoder"]:
        return by_site["encoder"][-1]
    return torch.cat([by_site["cross"][-1], by_site["decoder"][-1]], 1)


def rolled_by_layer(shares: Iterable[tuple[str, Tensor]]) -> dict[str, list[Tensor]]:
    """By site, for each layer, the share of each token in its output, all lower layers included.

    "encoder" (S, S); "cross" (T, S), shares of the source; "decoder" (T, T), of the target.

    shares: as in `rolled_out`.
    """
    of_layers: dict[str, list[Tensor]] = {}
    for site, of_layer in shares:
        of_layers.setdefault(site, []).append(of_layer)
    rolled: dict[str, list[Tensor]] = {"encoder": [], "cross": [], "decoder": []}
    for of_layer in of_layers.get("encoder", []):
        rolled["encoder"].append(
            of_layer @ rolled["encoder"][-1] if rolled["encoder"] else of_layer
        )
    prefixes = of_layers.get("decoder", [])
    if not prefixes:
        return rolled
    steps = prefixes[0].size(0)
    unchanged = _residual("cross", steps, 0)  # in a decoder alone, S = 0
    crosses = of_layers.get("cross", [unchanged] * len(prefixes))
    size = crosses[0].size(1) - 1
    memory = rolled["encoder"][-1] if rolled["encoder"] else torch.eye(size, dtype=torch.float64)
    source = torch.zeros(steps, size, dtype=torch.float64)
    prefix = torch.eye(steps, dtype=torch.float64)
    for over_prefix, cross in zip(prefixes, crosses, strict=True):
        kept = cross[:, -1:]
        source = cross[:, :-1] @ memory + kept * (over_prefix @ source)
        prefix = kept * (over_prefix @ prefix)
        rolled["cross"].append(source)
        rolled["decoder"].append(prefix)
    return rolled
