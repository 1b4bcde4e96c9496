"""Formula by which one head computes scores from products, from a trace with full capture."""

from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from explorer.core.trace import Trace

_Number = TypeVar("_Number", bound=np.floating)

_NO_BIAS = 1e-3
"""Differences up to this between captured and computed scores are rounding; relative to the largest
score."""
_ROUNDING = 1e-4
"""Rounding of a scale, relative to 1 ÷ √width."""


@dataclass(frozen=True, slots=True)
class ScoreFormula:
    """Products of queries and keys, times `scale`, capped, plus `bias`.

    width: of queries and keys.
    cap: the largest score; None without one.
    bias: (query, key), added by the model; None if it adds nothing.
    """

    width: int
    scale: float
    cap: float | None
    bias: NDArray[np.float32] | None

    @property
    def divides_by_root(self) -> bool:
        """Whether products are divided by the root of the width, as in the paper."""
        return abs(self.scale * self.width**0.5 - 1) < _ROUNDING


def score_formula(trace: Trace, site: str, layer: int, head: int) -> ScoreFormula:
    """How a head of `site` computes its scores. layer: index among the layers of the trace.

    Raises `TraceError` if the trace has only weights.
    """
    queries, keys = trace.query_vectors(site)[layer, head], trace.key_vectors(site)[layer, head]
    scores = trace.scores(site)[layer, head]
    scale = float(trace.arrays[f"{site}.score_scale"][layer])
    caps = trace.arrays.get(f"{site}.score_cap")
    cap = None if caps is None else float(caps[layer])
    bias = scores - capped(queries @ keys.T * scale, cap)
    largest = max(1.0, float(np.abs(scores).max(initial=0)))
    adds = np.abs(bias).max(initial=0) > _NO_BIAS * largest
    return ScoreFormula(queries.shape[-1], scale, cap, bias if adds else None)


def capped(scores: NDArray[_Number], cap: float | None) -> NDArray[_Number]:
    """Scores squashed so that large ones approach `cap`; unchanged if it is None."""
    return scores if cap is None else np.asarray(np.tanh(scores / cap) * cap, scores.dtype)
