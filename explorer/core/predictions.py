"""Predictions of a model without next-token output, for a text or its tokens: class, tags, span.

In a `Trace` these are the arrays "predictions.…" and the fact "predictions".
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.core.errors import TraceError

_COLUMNS = {  # name of the array → type of its numbers
    "start": np.integer,
    "stop": np.integer,
    "rank": np.integer,
    "value": np.floating,
    "probability": np.floating,
    "chosen": np.bool_,
}


class PredictionKind(StrEnum):
    """How the probabilities of a prediction are to be read.

    CLASS: one label of the text, softmax over all. LABELS: any number of labels, a sigmoid each.
    SCORE: numbers of the text, with a sigmoid or without. SPAN: tokens of the text, the product of
    two softmaxes. TAGS: one label a token, softmax. REPLACED: the same of two labels, sigmoid.
    """

    CLASS = "class"
    LABELS = "labels"
    SCORE = "score"
    SPAN = "span"
    TAGS = "tags"
    REPLACED = "replaced"

    @property
    def of_tokens(self) -> bool:
        """Whether each token has a label of its own."""
        return self in (PredictionKind.TAGS, PredictionKind.REPLACED)


@dataclass(frozen=True, slots=True, eq=False)
class Prediction:
    """Labels with their probabilities.

    labels: one for each entry; for a span its text.
    columns: one value for each entry. start and stop, its first token and the one after its last;
        rank, 1 = most probable of these tokens; value, the logit, for a span the sum of two;
        probability, NaN for a score without one; chosen, True for the model's prediction.
    """

    kind: PredictionKind
    labels: tuple[str, ...]
    columns: Mapping[str, NDArray[Any]]

    @property
    def arrays(self) -> dict[str, NDArray[Any]]:
        """Arrays of a trace, by name: "predictions.…"."""
        return {f"predictions.{name}": column for name, column in self.columns.items()}

    @property
    def facts(self) -> dict[str, Any]:
        return {"predictions": {"kind": str(self.kind), "labels": list(self.labels)}}

    def behind(self, padding: int) -> "Prediction":
        """The same prediction for a text with `padding` padding tokens before it."""
        moved = {name: self.columns[name] + padding for name in ("start", "stop")}
        return replace(self, columns={**self.columns, **moved})

    @property
    def text(self) -> str:
        """The prediction as one line: labels, the text of a span, or the number of a score."""
        rows = np.flatnonzero(self.columns["chosen"]).tolist()
        if self.kind != PredictionKind.SCORE:
            between = " " if self.kind.of_tokens else ", "
            return between.join(self.labels[row] for row in rows)
        numbers = self.columns["value"], self.columns["probability"]
        shown = np.where(np.isnan(numbers[1]), *numbers)
        if len(rows) == 1:
            return f"{shown[rows[0]]:.4g}"
        return ", ".join(f"{self.labels[row]} {shown[row]:.4g}" for row in rows)


def prediction_in(
    arrays: Mapping[str, NDArray[Any]], facts: Mapping[str, Any]
) -> Prediction | None:
    """The prediction of a trace, or None if it has none.

    Raises `TraceError` on a malformed one; positions outside the text are not checked here.
    """
    columns = {name: arrays.get(f"predictions.{name}") for name in _COLUMNS}
    if all(column is None for column in columns.values()):
        return None
    kind, labels = _names(facts.get("predictions") if isinstance(facts, Mapping) else None)
    found: dict[str, NDArray[Any]] = {}
    for name, column in columns.items():
        if column is None or column.shape != (len(labels),):
            raise TraceError("bad_predictions")
        if not np.issubdtype(column.dtype, _COLUMNS[name]):
            raise TraceError("bad_predictions")
        found[name] = column
    return Prediction(kind, labels, found)


def check_predictions(
    arrays: Mapping[str, NDArray[Any]], facts: Mapping[str, Any], tokens: int
) -> None:
    """Raise `TraceError` if a prediction has invalid numbers or positions outside the text.

    tokens: number of tokens of the text.
    """
    prediction = prediction_in(arrays, facts)
    if prediction is None:
        return
    columns = prediction.columns
    start, stop, shares = (columns[name] for name in ("start", "stop", "probability"))
    inside = (start >= 0) & (start < stop) & (stop <= tokens) & (columns["rank"] > 0)
    likely = (shares >= 0) & (shares <= 1 + 1e-6)  # NaN fails both
    if prediction.kind == PredictionKind.SCORE:
        likely |= np.isnan(shares)
    if not (inside & likely & np.isfinite(columns["value"])).all():
        raise TraceError("bad_predictions")


def _names(known: Any) -> tuple[PredictionKind, tuple[str, ...]]:
    """Kind and labels of the fact "predictions"."""
    if not isinstance(known, Mapping):
        raise TraceError("bad_predictions")
    kind, labels = known.get("kind"), known.get("labels")
    if kind not in list(PredictionKind) or not isinstance(labels, list | tuple):
        raise TraceError("bad_predictions")
    if not all(isinstance(label, str) for label in labels):
        raise TraceError("bad_predictions")
    return PredictionKind(kind), tuple(labels)
