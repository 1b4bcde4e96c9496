"""What rotary positions do to queries or keys, measured: pairs of numbers of a head are turned by
an angle of the position, which is linear at each position (Su et al. 2021, arXiv 2104.09864)."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

_LARGEST_ERROR = 1e-5
"""Of a turned number, as a share of the largest; families compute in float32."""

_ALL = slice(None)


@dataclass(frozen=True, slots=True, eq=False)
class Turn:
    """A turn of the first numbers of each head by pairs, and a scale of all, as OPT has.

    factors: (T, pairs) complex, the same for all heads. scale: of the other numbers.
    halves: whether a pair is one number of the first half and one of the second, or two neighbours.
    """

    factors: NDArray[np.complex128]
    scale: float
    halves: bool

    @classmethod
    def measured(cls, given: NDArray[np.float64], turned: NDArray[np.float64]) -> Self | None:
        """The turn that makes `turned` (T, heads, width) of `given`; None if none does."""
        lengths = [np.linalg.norm(one, axis=-1) for one in (given, turned)]  # (T, heads)
        scale = float(np.linalg.norm(lengths[1])) / max(float(np.linalg.norm(lengths[0])), 1e-30)
        limit = _LARGEST_ERROR * float(np.abs(turned).max())
        if not np.allclose(lengths[1], scale * lengths[0], rtol=_LARGEST_ERROR, atol=limit):
            return None
        for turn in cls._fitted(given, turned, scale):
            if np.abs(turn.of(given.swapaxes(0, 1)).swapaxes(0, 1) - turned).max() <= limit:
                return turn
        return None

    @classmethod
    def _fitted(
        cls, given: NDArray[np.float64], turned: NDArray[np.float64], scale: float
    ) -> Iterator[Self]:
        """The best turn for each number of pairs, most first: some families turn part of a head."""
        for size in range(given.shape[-1] // 2 * 2, 0, -2):
            for halves in (True, False):
                before, after = (_pairs(one, size, halves) for one in (given, turned))
                products = (after * before.conj()).sum(1)  # (T, pairs)
                length = np.abs(products)
                angles = np.divide(products, length, out=np.ones_like(products), where=length > 0)
                yield cls(scale * angles, scale, halves)

    def of(self, vectors: NDArray[np.float64], rows: slice = _ALL) -> NDArray[np.float64]:
        """Vectors (…, rows, width) of these positions, turned."""
        count = self.factors.shape[1]
        turned = self.scale * vectors
        pairs = _pairs(vectors, 2 * count, self.halves) * self.factors[rows]
        first, second = _places(2 * count, self.halves)
        turned[..., first], turned[..., second] = pairs.real, pairs.imag
        return turned


def _places(size: int, halves: bool) -> tuple[slice, slice]:
    """Where the first numbers and the second numbers of pairs are."""
    if halves:
        return slice(0, size // 2), slice(size // 2, size)
    return slice(0, size, 2), slice(1, size, 2)


def _pairs(vectors: NDArray[np.float64], size: int, halves: bool) -> NDArray[np.complex128]:
    """The pairs among the first `size` numbers of vectors (…, width) as complex numbers."""
    first, second = _places(size, halves)
    return vectors[..., first] + 1j * vectors[..., second]
