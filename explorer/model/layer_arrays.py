"""The captured values of chosen layers, in one array for each name."""

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor


class LayerArrays:
    """Arrays (layer, …) in float32 by name. Each layer is copied in as soon as it is computed, so
    that no second copy of all layers is ever in memory."""

    def __init__(self) -> None:
        self._arrays: dict[str, NDArray[np.float32]] = {}

    def put(self, name: str, index: int, count: int, value: Tensor) -> Tensor:
        """Copy `value` (1, …) in as layer `index` of `count`. Returns the copy (1, …)."""
        array = self._arrays.get(name)
        if array is None:
            array = self._arrays[name] = np.empty((count, *value.shape[1:]), np.float32)
        layer = torch.from_numpy(array)[index : index + 1]
        return layer.copy_(value)

    def clear(self, name: str, where: NDArray[np.bool_]) -> None:
        """Set the array to 0 where `where`, which is broadcast, is True."""
        if where.any():
            np.copyto(self._arrays[name], 0, where=where)

    def finished(self) -> dict[str, NDArray[np.float32]]:
        """All arrays, read-only from now on, so that a `Trace` does not copy them."""
        for array in self._arrays.values():
            array.flags.writeable = False
        return dict(self._arrays)
