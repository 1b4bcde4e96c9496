"""LayerNorm with the scale that it had in one pass, which makes it affine: whatever it reads as a
sum, it gives out as a sum."""

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
        """For vectors (query, N, D), several in the sum of each of these queries."""
        return replace(self, scale=self.scale[rows, None])

    def linear(self, x: Numbers) -> Numbers:
        """What a summand `x` (query, D) of the input adds to the output; the bias is no one's."""
        return centred(x) * (self.weight / self.scale)

    def before(self, direction: Numbers) -> Numbers:
        """The direction (query, D) in the input along which `linear` moves its output as far as
        along `direction` (query, D)."""
        return centred(self.weight * direction / self.scale)


def centred(x: Numbers) -> Numbers:
    """`x` (…, D) minus its mean."""
    return x - x.mean(-1)[..., None]
