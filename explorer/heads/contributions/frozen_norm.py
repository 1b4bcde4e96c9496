"""LayerNorm with its scale frozen at the value of one pass. It is then affine: it maps a sum to the
sum of its parts, plus the bias."""

from dataclasses import dataclass, replace
from typing import Generic, Self, TypeVar

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

Numbers = TypeVar("Numbers", NDArray[np.float64], Tensor)


@dataclass(frozen=True, slots=True, eq=False)
class FrozenNorm(Generic[Numbers]):
    """weight · (x − mean x) / scale + bias.

    weight, bias: (D,). scale: (query, 1), the root of the variance of its input there.
    """

    weight: Numbers
    bias: Numbers
    scale: Numbers

    @classmethod
    def at(cls, weight: Numbers, bias: Numbers, eps: float, inputs: Numbers) -> Self:
        """The LayerNorm with these parameters as it was with `inputs` (query, D)."""
        variance = (centred(inputs) ** 2).mean(-1)[..., None]
        return cls(weight, bias, (variance + eps) ** 0.5)

    def of(self, rows: slice) -> Self:
        """The norm for vectors (query, N, D): N summands for each query of these rows."""
        return replace(self, scale=self.scale[rows, None])

    def linear(self, x: Numbers) -> Numbers:
        """Part of the output from a summand `x` (query, D) of the input, without the bias."""
        return centred(x) * (self.weight / self.scale)

    def before(self, direction: Numbers) -> Numbers:
        """Direction (query, D) in the input that matches `direction` (query, D) in the output.

        For every x, its product with x equals the product of `direction` with `linear(x)`.
        """
        return centred(self.weight * direction / self.scale)


def centred(x: Numbers) -> Numbers:
    """`x` (…, D) minus its mean."""
    return x - x.mean(-1)[..., None]
