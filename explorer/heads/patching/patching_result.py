"""What `patch` returns."""

from dataclasses import dataclass
from typing import Any

import pandas as pd

from explorer.core.sites import Head

AXES = {
    "heads": ("site", "layer", "head"),
    "residual": ("stack", "layer", "position"),
    "paths": ("site", "layer", "head"),
}
"""What is patched → the columns of `Patching.table` that name one value."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Patching:
    """The share of a metric that each value of the clean run restores in the corrupted run.

    sites: "heads", "residual" or "paths".
    metric: its name. clean, corrupted: its value in the two runs, of many pairs the mean.
    table: DataFrame, one row for each patched value: site, layer, head, of paths those of the
        sender, or stack, layer, position, clean_token, corrupted_token; metric, that of the patched
        run; restored = (metric − corrupted) / (clean − corrupted). Of many pairs no tokens, but low
        and high, the interval of restored; see `many_pairs`.
    receiver: the head at the end of the paths.
    predicted: what the clean and the corrupted run predict, tokens or numbers of classes, if the
        metric is the difference of their logits; None of many pairs.
    pairs: their number.
    """

    sites: str
    metric: str
    clean: float
    corrupted: float
    table: pd.DataFrame
    receiver: Head | None = None
    predicted: tuple[Any, Any] | None = None
    pairs: int = 1

    @property
    def matrix(self) -> pd.DataFrame:
        """`restored`: rows (site or stack, layer), columns heads or positions; NaN where a layer
        has no such value. `matrix.loc["decoder"]` is layer × head, or layer × position."""
        *rows, columns = AXES[self.sites]
        found = self.table.pivot(index=rows, columns=columns, values="restored")
        return found.loc[pd.MultiIndex.from_frame(self.table[rows].drop_duplicates())]

    def __repr__(self) -> str:
        of_pairs = f" of {self.pairs} pairs" if self.pairs > 1 else ""
        return (
            f"Patching({self.sites!r}: {len(self.table)} values{of_pairs}, {self.metric}: "
            f"{self.clean:.2f} clean, {self.corrupted:.2f} corrupted)"
        )

    def _repr_html_(self) -> str:
        """The matrix, for a notebook."""
        return self.matrix.to_html(float_format="{:.3f}".format, na_rep="")


@dataclass(frozen=True, slots=True, eq=False)
class PatchedTexts:
    """What values of one text restore in the run of another.

    found: with both predictions.
    prefix: text that both outputs begin with, after which they part; None = none.
    step: which predicts the first token in which they differ, or fills in the mask; from 1 on.
    """

    found: Patching
    prefix: str | None
    step: int
