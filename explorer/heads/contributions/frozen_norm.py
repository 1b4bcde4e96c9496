"""LayerNorm or RMSNorm with its scale frozen at the value of one pass. It is then affine: it maps a
sum to the sum of its parts, plus the bias."""

from dataclasses import dataclass, replace
from typing import Generic, Self, TypeVar

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

Numbers = TypeVar("Numbers", NDArray[np.float64], Tensor)


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
    def at(cls, weight: Numbers, bias: Numbers, eps: float, inputs: Numbers) -> Self:
        """The LayerNorm with these parameters as it was with `inputs` (query, D)."""
        variance = (centred(inputs) ** 2).mean(-1)[..., None]
        return cls(weight, bias, (variance + eps) ** 0.5)

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


def centred(x: Numbers) -> Numbers:
    """`x` (…, D) minus its mean."""
    return x - x.mean(-1)[..., None]
