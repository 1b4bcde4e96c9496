"""What one pass of a model of the library calls: its norms and its attention."""

from dataclasses import dataclass, field
from typing import Any, TypeAlias

import torch
from torch import Tensor

from explorer.model.huggingface.anatomy import Place
from explorer.model.huggingface.capture.attention_calls import Call, score_scale, values
from explorer.model.huggingface.streams.output_projections import by_input
from explorer.model.huggingface.streams.turned_heads import Turn


@dataclass(frozen=True, slots=True, eq=False)
class NormCall:
    """One call of a norm: `inputs` and `output` (T, D)."""

    module: Any
    inputs: Tensor
    output: Tensor


@dataclass(frozen=True, slots=True, eq=False)
class HeadInputs:
    """The linear layer whose outputs from column `start` on are the queries or the keys of all
    heads. width: of a head. turn: what is done to them by their positions; None = unchanged."""

    module: Any
    start: int
    width: int
    turn: Turn | None = None

    def head(self, number: int) -> tuple[Tensor, Tensor]:
        """Weights (D, width) and biases (width,) of one head."""
        first = self.start + number * self.width
        columns = slice(first, first + self.width)
        bias = _bias(self.module)
        weight = by_input(self.module)[:, columns]
        return weight, torch.zeros(self.width) if bias is None else bias[columns]


@dataclass(slots=True, eq=False)
class AttentionCall:
    """One call of attention, the module that projects its heads, and its output `added` (T, D).

    queries, keys: None where the family changes them in another way, as by a norm.
    """

    place: Place
    call: Call
    queries: HeadInputs | None
    keys: HeadInputs | None
    projection: Any = None
    added: Tensor = field(default_factory=lambda: torch.empty(0))

    @property
    def weights(self) -> Tensor:
        """(H, Q, K), after the softmax."""
        return self.call.weights[0].float()

    @property
    def values(self) -> Tensor:
        """(H, K, width), repeated for the heads of queries that share them."""
        return values(self.call)[0].float()

    @property
    def heads(self) -> Tensor:
        """(H, Q, width), the outputs of the heads."""
        return self.call.output[0].transpose(0, 1).float()

    @property
    def output_weight(self) -> Tensor:
        """(H · width, D)."""
        return by_input(self.projection)

    @property
    def output_bias(self) -> Tensor:
        """(D,), 0 in a projection without biases."""
        bias = _bias(self.projection)
        return torch.zeros(self.added.size(1)) if bias is None else bias

    @property
    def score_scale(self) -> float:
        """Factor of the products of queries and keys."""
        return score_scale(self.call)

    @property
    def score_bias(self) -> Tensor | None:
        """(1 or H, Q, K), added to the scaled products; None without one."""
        bias = self.call.options.get("position_bias")
        return bias[0].float() if isinstance(bias, Tensor) and bool(bias.any()) else None


def _bias(module: Any) -> Tensor | None:
    """Of a linear layer, in float32."""
    bias = getattr(module, "bias", None)
    return bias.detach().float().cpu() if isinstance(bias, Tensor) else None


StreamCall: TypeAlias = NormCall | AttentionCall
