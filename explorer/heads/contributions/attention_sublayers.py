"""The output of every attention of one sentence as a sum of one vector for each key.

For a query i, with post-norm LN_i the LayerNorm that follows, its mean and scale taken from the
sum and then fixed, so that it is linear:

    pre-norm    y_i = x_i + Σ_j Σ_h A_h[i, j] (LN(x_j) W_V + b_V) W_O + b_O
    post-norm   y_i = LN_i(x_i + Σ_j Σ_h A_h[i, j] (x_j W_V + b_V) W_O + b_O)

Source: Kobayashi et al. 2021, arXiv 2109.07152; Ferrando et al. 2022, arXiv 2203.04212.
"""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from explorer.heads.contributions.frozen_norm import FrozenNorm, as_array, frozen_norm, in_float32
from explorer.model.hooks import path, residual_path
from explorer.model.points import Point, kept
from explorer.model.transformer import Transformer
from explorer.model.transformer_run import run

_READ = ("pattern", "values", "input", "sublayer_output", "output")


@dataclass(frozen=True, slots=True, eq=False)
class AttentionSublayer:
    """One attention of one sentence, with its residual connection.

    weights: (H, Q, K). projected: (H, K, D), the values of the keys after W_O.
    residual: (Q, D), x_i. bias: (D,), b_O. output: (Q, D), y_i.
    norm: the LayerNorm that follows with post-norm; None with pre-norm.
    """

    site: str
    layer: int
    weights: Tensor
    projected: Tensor
    residual: Tensor
    bias: Tensor
    output: Tensor
    norm: FrozenNorm[Tensor] | None

    def added(self, rows: slice) -> Tensor:
        """The vector that each key adds to the sum of these queries, before LN_i: (q, K, D)."""
        weights = self.weights[:, rows].permute(2, 1, 0)  # (K, q, H)
        return (weights @ self.projected.transpose(0, 1)).transpose(0, 1)

    def vectors(self, rows: slice) -> Tensor:
        """Summands of the outputs of these queries: (q, N, D); with `constant` they sum to them.

        In self-attention N = K, and x_i belongs to the query's own position; in cross-attention
        N = K + 1, and x_i is the last.
        """
        added, residual = self.added(rows), self.residual[rows]
        if self.site == "cross":
            added = torch.cat([added, residual[:, None]], 1)
        else:
            own = torch.arange(self.residual.size(0))[rows]
            added[torch.arange(len(own)), own] += residual
        return self._normed(added, rows)

    def constant(self, rows: slice) -> Tensor:
        """Biases in the outputs of these queries, (q, D); they belong to no position."""
        bias = self._normed(self.bias.expand(*self.residual[rows].shape)[:, None], rows)[:, 0]
        return bias if self.norm is None else bias + self.norm.bias

    def _normed(self, vectors: Tensor, rows: slice) -> Tensor:
        """(q, N, D) after the linear part of LN_i."""
        return vectors if self.norm is None else self.norm.of(rows).linear(vectors)


@torch.inference_mode()
def attention_sublayers(
    model: Transformer, source: Tensor, target: Tensor
) -> list[AttentionSublayer]:
    """All attentions of one pass over `source` (1, S) and `target` (1, T), without padding.

    Order: encoder, decoder, cross-attention, each from layer 0 on.
    """
    places = model.config.attentions
    readers, values = kept(Point(kind, *place) for place in places for kind in _READ)
    run(model, source, target, readers=readers)
    return [_sublayer(model, values, *place) for place in places]


def _sublayer(
    model: Transformer, values: dict[Point, Tensor], site: str, layer: int
) -> AttentionSublayer:
    """One attention from the captured values (1, …)."""
    weights, of_keys, x, added, output = (values[Point(kind, site, layer)][0] for kind in _READ)
    projection: Any = model.get_submodule(path(site, layer, "output"))
    by_head = projection.weight.T.unflatten(0, of_keys.shape[::2])  # (H, K, D)
    norm = None
    if model.config.norm == "post":
        last = model.get_submodule(residual_path(site, layer, "input").rpartition(".")[0])
        norm = in_float32(frozen_norm(last, as_array(x + added), as_array(output)))
    projected = of_keys @ by_head
    return AttentionSublayer(
        site, layer, weights, projected, x, projection.bias.detach(), output, norm
    )
