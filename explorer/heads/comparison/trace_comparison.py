"""Changes in output and attention between a trace and a second one: the same text under
interventions, in another model or at another moment, or another text in the same model.

The attention of any two traces is compared by `attention_comparison`.
"""

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from explorer.core.interventions import Interventions
from explorer.core.sites import Head
from explorer.core.trace import Trace
from explorer.heads.comparison.attention_comparison import AttentionComparison, By, compare

_SMALLEST_CHANGE = 0.005  # smallest change of a weight that shows with two decimals


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
    def same_text(self) -> bool:
        """Whether the output is unchanged: the tokens decoded, or filled in for mask tokens."""
        return bool(self.steps.same.all())

    @property
    def has_output(self) -> bool:
        """Whether there is an output; an encoder alone only fills in mask tokens of the text."""
        return len(_outcome(self.original)) > 0

    @property
    def steps(self) -> pd.DataFrame:
        """One row a step, as many as the longer output has.

        step; original and changed: the chosen tokens ("" beyond the end); same;
        probability and changed_probability: of those tokens, in their own traces;
        forced_probability: of the original's token under the interventions, after the original's
        tokens; log_probability: its logarithm minus that of `probability`, below 0 where the
        interventions make the token less likely.
        """
        after = _outcome(self.changed).add_suffix("_after")
        forced = _outcome(self.forced).add_suffix("_forced")
        steps = _outcome(self.original).join([after, forced], how="outer")
        original, changed = (steps[name].fillna("") for name in ("token", "token_after"))
        return pd.DataFrame(
            {
                "step": steps.index,
                "original": original,
                "changed": changed,
                "same": original == changed,
                "probability": np.exp(-steps.loss),
                "changed_probability": np.exp(-steps.loss_after),
                "forced_probability": np.exp(-steps.loss_forced),
                "log_probability": steps.loss - steps.loss_forced,
            }
        ).reset_index(drop=True)

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

    def initial_head(self) -> Head | None:
        """The head whose weights change most; if none changes, the first removed head.

        Removed heads come last, because their weights no longer count. None if nothing changes.
        """
        done = Interventions.parse(self.changed.facts.get("interventions", ()))
        most, best, removed = _SMALLEST_CHANGE, None, list[Head]()
        for site in self.original.sites:
            changes = np.abs(self.map(site)).max(axis=(2, 3))  # (layer, head)
            for layer, head in done.removed(site, *changes.shape):
                changes[layer, head] = 0
                removed.append(Head(site, layer, head))
            place = np.unravel_index(int(changes.argmax()), changes.shape)
            if changes[place] > most:
                most, best = float(changes[place]), Head(site, int(place[0]), int(place[1]))
        return best or (removed[0] if removed else None)

    @property
    def attention(self) -> AttentionComparison:
        """The attention of `original` beside that of `forced`."""
        return compare(self.original, self.forced, by=self.by)

    def map(self, site: str) -> NDArray[np.float32]:
        """`forced` minus `original`, (layer, head, query, key), −1 to 1."""
        return compare(self.forced, self.original).difference(site)


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
