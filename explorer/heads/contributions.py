"""How much each token of source and prefix contributes to each output token of one sentence."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray

from explorer.core.errors import ConfigError
from explorer.heads.attention_sublayers import attention_sublayers
from explorer.heads.contribution_rollout import closeness, rolled_out, shares_of
from explorer.model.evaluation_batch import EvaluationBatch
from explorer.model.explorable import ExplorableModel
from explorer.model.measurable import MeasurableModel
from explorer.model.threads import threads_for

METHODS = ("alti",)


@dataclass(frozen=True, slots=True, eq=False)
class Contributions:
    """What each output token of one sentence has of each token that went in.

    matrix: (target, source + prefix) float64; row t belongs to `predicted_tokens[t]`, the columns
        to `tokens`. Positions after t are 0.
    source_tokens, target_tokens: what encoder and decoder were fed; predicted_tokens: what follows
        each of `target_tokens`. method: one of `METHODS`; model: its name.
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
        """Of the columns: the source, then the prefix."""
        return (*self.source_tokens, *self.target_tokens)

    @property
    def source_share(self) -> NDArray[np.float64]:
        """(target,) the part of the source in each row, 0 to 1; the rest is that of the prefix.

        Negative contributions count as 0; NaN in a row without positive ones.
        """
        positive = self.matrix.clip(min=0)
        of_source = positive[:, : len(self.source_tokens)].sum(-1)
        total = positive.sum(-1)
        share = np.full(len(total), np.nan)
        return np.divide(of_source, total, out=share, where=total > 0)

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


@torch.inference_mode()
def contributions(
    model: MeasurableModel, text: str, method: str = "alti", *, target: str | None = None
) -> Contributions:
    """What each output token of `text` has of each token of source and prefix.

    target: the output; None = what the model decodes. method:

    alti: ALTI+. In each attention, y_i = Σ_j T_i(x_j) + biases, exactly, the residual connection in
        T_i(x_i); c_ij ∝ max(0, ‖y_i‖₁ − ‖y_i − T_i(x_j)‖₁), rows sum to 1. Layers are joined by
        products, the source comes in through those of the encoder. Of what is between attentions
        it ignores all: the feed-forward networks mix within a position alone, but may keep or
        delete what came in. Cost: one pass, and Q · K · D numbers for each attention. Source:
        Ferrando et al. 2022, arXiv 2205.11631.

    Raises `ConfigError` on a method that does not exist or that `model` does not allow, and
    `VocabularyError` on a text that cannot be read or is too long.
    """
    if method not in METHODS:
        raise ConfigError("bad_choice", name="method", got=method, choices=", ".join(METHODS))
    if not isinstance(model, ExplorableModel):
        raise ConfigError("no_contributions", name=model.name, method=method)
    passes = model.passes
    batch = passes.texts([text], "") if target is None else passes.pairs([(text, target)], "")
    assert batch.source is not None
    assert batch.queries is not None
    with threads_for(passes.parameters, batch.longest):
        matrix = _alti(model, batch)
    return Contributions(
        method,
        model.name,
        passes.labels(batch.source.ids[0].tolist(), "source"),
        passes.labels(batch.queries.ids[0].tolist(), "target"),
        passes.labels(batch.labels.ids[0].tolist(), "target"),
        matrix,
    )


def _alti(model: ExplorableModel, batch: EvaluationBatch) -> NDArray[np.float64]:
    assert batch.source is not None
    assert batch.queries is not None
    sublayers = attention_sublayers(model.transformer, batch.source.ids, batch.queries.ids)
    shares = ((one.site, shares_of(one, closeness)) for one in sublayers)
    return rolled_out(shares).numpy()
