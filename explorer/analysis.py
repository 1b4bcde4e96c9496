"""What the heads do, in numbers: pure functions of arrays and traces (NumPy alone)."""

import numpy as np
from numpy.typing import NDArray


def gold_weight(weights: NDArray[np.float32], gold: NDArray[np.bool_]) -> NDArray[np.float64]:
    """How much each head puts where the answer comes from, 0 to 1.

    weights: cross-attention (…, query, key); gold: (query, key), or with leading axes that
    broadcast, True where the query's prediction comes from. Queries without a gold key (the
    end of the sequence, padding) are left out of the mean. Returns (…), NaN without any.
    """
    weight = np.where(gold, weights, 0.0).sum(-1)  # (…, query)
    asked = np.broadcast_to(gold.any(-1), weight.shape)
    with np.errstate(invalid="ignore"):
        mean: NDArray[np.float64] = (weight * asked).sum(-1) / asked.sum(-1)
    return mean
