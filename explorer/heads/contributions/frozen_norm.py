"""LayerNorm or RMSNorm with its scale frozen at the value of one pass. It is then affine: it maps a
sum to the sum of its parts, plus the bias."""

from dataclasses import dataclass, replace
from typing import Any, Generic, Self, TypeAlias, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from explorer.core.errors import ConfigError

Array: TypeAlias = NDArray[np.float64]
Numbers = TypeVar("Numbers", Array, Tensor)

_LARGEST_ERROR = 1e-4
"""Of an output of a norm, as a share of the largest."""


@dataclass(frozen=True, slots=True, eq=False)
class FrozenNorm(Generic[Numbers]):
    """weight · (x − mean x) / scale + bias; an RMSNorm does not subtract the mean.

    weight, bias: (D,). scale: (query, 1), the root of the variance of its input there.
    centres: whether it subtracts the mean.
    """

    weight: Numbers
    bias: Numbers
    scale: Numbers
    centres: bool = True

    @classmethod
    def measured(
        cls, weight: Numbers, bias: Numbers, inputs: Numbers, output: Numbers, *, centres: bool
    ) -> Self:
        """The norm with these parameters that maps `inputs` to `output` (query, D) most nearly."""
        part = weight * (centred(inputs) if centres else inputs)
        size, product = ((part * other).sum(-1)[..., None] for other in (part, output - bias))
        scale = size / (product + (product == 0))
        return cls(weight, bias, scale + (scale == 0), centres)

    def error(self, inputs: Numbers, output: Numbers) -> float:
        """Largest difference of `output` from what it makes of `inputs`."""
        return float(abs(self.linear(inputs) + self.bias - output).max())

    def of(self, rows: slice) -> Self:
        """The norm for vectors (query, N, D): N summands for each query of these rows."""
        return replace(self, scale=self.scale[rows, None])

    def linear(self, x: Numbers) -> Numbers:
        """Part of the output from a summand `x` (query, D) of the input, without the bias."""
        return self._read(x) * (self.weight / self.scale)

    def before(self, direction: Numbers) -> Numbers:
        """Direction (query, D) in the input that matches `direction` (query, D) in the output.

        For every x, its product with x equals the product of `direction` with `linear(x)`.
        """
        return self._read(self.weight * direction / self.scale)

    def _read(self, x: Numbers) -> Numbers:
        return centred(x) if self.centres else x


def frozen_norm(module: Any, inputs: Array, output: Array) -> FrozenNorm[Array]:
    """The norm `module`, of whatever kind, frozen at the scale with which it mapped `inputs` to
    `output` (query, D).

    Some families multiply by 1 + weight. Raises `ConfigError` on a norm that is neither LayerNorm
    nor RMSNorm.
    """
    weight, given = as_array(module.weight), getattr(module, "bias", None)
    bias = np.zeros_like(weight) if given is None else as_array(given)
    centres = isinstance(module, nn.LayerNorm)
    limit = _LARGEST_ERROR * max(1.0, float(np.abs(output).max()))
    for own, mean in ((weight, centres), (1 + weight, centres), (weight, not centres)):
        norm = FrozenNorm.measured(own, bias, inputs, output, centres=mean)
        if norm.error(inputs, output) <= limit:
            return norm
    raise ConfigError("other_norm", got=type(module).__name__)


def in_float32(norm: FrozenNorm[Array]) -> FrozenNorm[Tensor]:
    """The same norm for tensors in float32."""
    weight, bias, scale = (
        torch.from_numpy(own).float() for own in (norm.weight, norm.bias, norm.scale)
    )
    return FrozenNorm(weight, bias, scale, norm.centres)


def as_array(numbers: Tensor) -> Array:
    """Weights or values of a model in float64."""
    return numbers.detach().double().cpu().numpy()


def centred(x: Numbers) -> Numbers:
    """`x` (…, D) minus its mean."""
    return x - x.mean(-1)[..., None]
