"""What `contributions` returns."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False)
class Contributions:
    """Contribution of each input token to each output token of one sentence.

    matrix: (target, source + prefix) float64; row t belongs to `predicted_tokens[t]`, the columns
        to `tokens`. Positions after t are 0. A decoder alone has no source; an encoder alone has no
        prefix, and a row for each of its own positions.
    source_tokens, target_tokens: the inputs of encoder and decoder; predicted_tokens: the token
        that follows each of `target_tokens`; where nothing is predicted, the tokens of the rows.
        method: one of `METHODS`; model: its name.
    """

    method: str
    model: str
    source_tokens: tuple[str, ...]
    target_tokens: tuple[str, ...]
    predicted_tokens: tuple[str, ...]
    matrix: NDArray[np.float64]

    def __repr__(self) -> str:
        rows, source, prefix = map(
            len, (self.predicted_tokens, self.source_tokens, self.target_tokens)
        )
        return (
            f"Contributions({self.method} of {self.model!r}: "
            f"{rows} rows, {source} source + {prefix} prefix tokens)"
        )

    @property
    def tokens(self) -> tuple[str, ...]:
        """Tokens of the columns: the source, then the prefix."""
        return (*self.source_tokens, *self.target_tokens)

    @property
    def source_share(self) -> NDArray[np.float64]:
        """(target,) the share of the source in each row, 0 to 1; the rest belongs to the prefix.

        Negative contributions count as 0; NaN in a row without positive ones.
        """
        return share_of_source(self.matrix, len(self.source_tokens))

    def table(self) -> pd.DataFrame:
        """One row a cell: step (from 1), predicted, side ("source" or "prefix"), position (from
        0, on its side), token, value. Later positions, which the step cannot use, are left out.
        """
        steps, columns = self.matrix.shape
        source = len(self.source_tokens)
        step, column = np.divmod(np.arange(steps * columns), columns)
        of_source = column < source
        position = np.where(of_source, column, column - source)
        frame = pd.DataFrame(
            {
                "step": step + 1,
                "predicted": np.array(self.predicted_tokens, dtype=object)[step],
                "side": np.where(of_source, "source", "prefix"),
                "position": position,
                "token": np.array(self.tokens, dtype=object)[column],
                "value": self.matrix.ravel(),
            }
        )
        used = of_source | (position <= step) | (self.matrix.ravel() != 0)
        return frame[used].reset_index(drop=True)


def share_of_source(matrix: NDArray[np.float64], source: int) -> NDArray[np.float64]:
    """Source share (T,) of contributions (T, S + T), S = `source`.

    See `Contributions.source_share`.
    """
    positive = matrix.clip(min=0)
    total = positive.sum(-1)
    share = np.full(len(total), np.nan)
    return np.divide(positive[:, :source].sum(-1), total, out=share, where=total > 0)
