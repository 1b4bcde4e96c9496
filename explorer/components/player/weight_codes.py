"""Weights as uint16, linear: weight = code / 65535 · scale.

The error is at most 7.6e-6 when the scale is 1. Eight bits would show 0.9689 for 0.9712.
"""

import numpy as np
from numpy.typing import NDArray

LARGEST_CODE = 65535


def weight_codes(weights: NDArray[np.float32], scale: float) -> NDArray[np.uint16]:
    """The codes of weights from 0 to `scale`."""
    return np.rint(np.clip(weights / scale, 0, 1) * LARGEST_CODE).astype(np.uint16)


def scale_of(weights: NDArray[np.float32]) -> float:
    """The weight of the largest code: 1, or more if a weight exceeds 1."""
    return max(1.0, float(weights.max()))
