"""Scores of every head from the weights alone, beside what it does in sentences.

In a sentence a head also reads what lower layers wrote, so it may do something else there than its
weights alone tell.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pandas as pd

from explorer.core.sites import Head
from explorer.heads import measure
from explorer.heads.circuits.copying import copying_by_weights, copying_in_sentences
from explorer.heads.circuits.direct_path import DirectPath, own_direct_paths
from explorer.heads.circuits.preferred_offset import (
    RepeatedRows,
    own_repeated_rows,
    preferred_offsets,
)
from explorer.heads.metrics.bootstrap import PerExampleMean
from explorer.model.evaluation_batch import EvaluationBatch
from explorer.model.explorable import ExplorableModel
from explorer.model.measurable import MeasurableModel

if TYPE_CHECKING:
    from explorer.model.huggingface.traced_model import HuggingFaceModel

_COPYING_CHANCE = 0.5
_ENDS = ("", "_low", "_high", "_chance")
_COLUMNS = (
    *(f"copying{end}" for end in _ENDS),
    "offset",
    *(f"positional{end}" for end in (*_ENDS, "_chance_low", "_chance_high")),
)
_MEASURED = ("copying_measured", "positional_measured")


def weight_scores(model: MeasurableModel, batch: EvaluationBatch | None = None) -> pd.DataFrame:
    """One row a head: site, layer, head, and

    copying      0 to 1, see `copying`: 1 = the head always raises the logit of the token that it
                 looks at most, 0 = least; copying_chance = 0.5
    offset       key − query, where it looks when all tokens are the same
    positional   the share of the queries that look there

    each share with x_low and x_high, the ends of a 95 % bootstrap interval over tokens.
    positional_chance is the mean share at the best offset of random orders of the keys, and 95 %
    of the orders are between positional_chance_low and positional_chance_high. With a batch also
    copying_measured and positional_measured: the same in its sentences.

    NaN, or no offset: copying of the encoder, which writes to no logits, with fewer than
    `direct_path.FEWEST_SHARED` tokens in both vocabularies, and where logits are no linear map; the
    offset of "cross", whose keys are positions of another text.

    Raises `ConfigError` on a model of the library whose layers are no sums, in half precision, and
    on weights that are not in memory.
    """
    rows: dict[Head, dict[str, Any]] = {head: head._asdict() for head in model.passes.heads}
    paths, repeated = _circuits(model)
    for head, score in copying_by_weights(paths).items():
        rows[head] |= _columns("copying", score, _COPYING_CHANCE)
    for head, found in preferred_offsets(repeated).items():
        rows[head] |= {"offset": found.offset}
        rows[head] |= _columns("positional", found.share, float(found.by_chance.mean()))
        low, high = (float(end) for end in np.percentile(found.by_chance, [2.5, 97.5]))
        rows[head] |= {"positional_chance_low": low, "positional_chance_high": high}
    if batch is not None:
        _add_measured(rows, model, paths, batch)
    columns = [*Head._fields, *_COLUMNS, *(_MEASURED if batch is not None else ())]
    return pd.DataFrame(list(rows.values()), columns=columns).astype({"offset": "Int64"})


def _circuits(model: MeasurableModel) -> tuple[list[DirectPath], list[RepeatedRows]]:
    if isinstance(model, ExplorableModel):
        return list(own_direct_paths(model)), list(own_repeated_rows(model.transformer))
    from explorer.heads.circuits.library_circuits import LibraryCircuits  # it needs the library

    circuits = LibraryCircuits(cast("HuggingFaceModel", model))
    return list(circuits.direct_paths()), list(circuits.repeated_rows())


def _columns(name: str, score: PerExampleMean, chance: float) -> dict[str, float]:
    """The mean of a score (B, 1), the ends of its interval, and its chance level."""
    (low,), (high,) = score.interval()
    values = (float(score.mean[0]), float(low), float(high), chance)
    return {f"{name}{end}": value for end, value in zip(_ENDS, values, strict=True)}


def _add_measured(
    rows: dict[Head, dict[str, Any]],
    model: MeasurableModel,
    paths: Sequence[DirectPath],
    batch: EvaluationBatch,
) -> None:
    """Add what each head does in the sentences of `batch`."""
    for head, score in copying_in_sentences(model, paths, batch).items():
        rows[head]["copying_measured"] = float(score.mean[0])
    offsets = measure.measure(model, batch).offsets.set_index([*Head._fields, "offset"]).share
    for head, row in rows.items():
        if "offset" in row:
            row["positional_measured"] = float(offsets[(*head, row["offset"])])
