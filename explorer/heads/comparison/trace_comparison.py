"""Changes in output and attention between a trace and a second one: the same text under
interventions, in another model or at another moment, or another text in the same model.

The attention of any two traces is compared by `attention_comparison`.
"""

import math
from dataclasses import dataclass
from itertools import zip_longest

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from explorer.core.trace import Trace
from explorer.heads.comparison.attention_comparison import AttentionComparison, By, compare


@dataclass(frozen=True, slots=True, eq=False)
class TraceComparison:
    """Effect of interventions on one text.

    original: the trace without them.
    changed: with them, decoded freely.
    forced: with them, forced to the output of `original` token by token: the two have the same
        axes, so that probabilities and maps can be subtracted. For another text, `changed`.
    by: what the axes of `original` and `forced` share.
    """

    original: Trace
    changed: Trace
    forced: Trace
    by: By = "token"

    @property
    def outputs(self) -> tuple[list[str], list[str]]:
        """The tokens decoded, or filled in for mask tokens, without and with the interventions."""
        original, changed = (_outcome(one).token.tolist() for one in (self.original, self.changed))
        return original, changed

    @property
    def same(self) -> list[bool]:
        """Whether both outputs have the same token, one a step of the longer output."""
        return [before == after for before, after in zip_longest(*self.outputs)]

    @property
    def same_text(self) -> bool:
        """Whether the output is unchanged: the tokens decoded, or filled in for mask tokens."""
        return all(self.same)

    @property
    def has_output(self) -> bool:
        """Whether there is an output; an encoder alone only fills in mask tokens of the text."""
        return len(_outcome(self.original)) > 0

    @property
    def log_probability(self) -> float:
        """Δ ln probability of the whole original output; below 0: now less likely."""
        return float((_outcome(self.original).loss - _outcome(self.forced).loss).sum())

    @property
    def factor(self) -> float:
        """Probability of the whole original output now, divided by that before; at most e^700."""
        return math.exp(min(self.log_probability, 700.0))  # e^709 is the largest

    @property
    def as_sure(self) -> bool:
        """Whether the original output is as probable as before: `factor` is 1 to two decimals."""
        return abs(self.factor - 1) < 0.005

    @property
    def attention(self) -> AttentionComparison:
        """The attention of `original` beside that of `forced`."""
        return compare(self.original, self.forced, by=self.by)


def _outcome(trace: Trace) -> pd.DataFrame:
    """Chosen token and its loss (nats) at each step: 1, 2, …, or the positions of mask tokens."""
    if trace.predicted_tokens or "steps.chosen" not in trace.arrays:
        steps: NDArray[np.integer] = np.arange(1, len(trace.predicted_tokens) + 1)
        tokens, losses = list(trace.predicted_tokens), trace.losses.astype(np.float64)
    else:
        chosen = np.flatnonzero(trace.arrays["steps.chosen"])
        steps = trace.arrays["steps.step"][chosen]
        tokens = [trace.candidate_tokens[index] for index in chosen]
        probabilities = trace.arrays["steps.probability"][chosen].astype(np.float64)
        losses = -np.log(np.maximum(probabilities, np.finfo(np.float32).tiny))
    return pd.DataFrame({"token": tokens, "loss": losses}, index=pd.Index(steps, name="step"))
