"""The effect of interventions on a model without next-token output: class, score, answer, tags."""

import math

import pandas as pd

from explorer.core.i18n import say
from explorer.core.number_format import percent, short_number
from explorer.core.predictions import prediction_in
from explorer.core.trace import Trace


def prediction_sentence(original: Trace, changed: Trace, language: str) -> str:
    """The class, score or answer without and with interventions, or the number of tokens whose tag
    changes; "" if the model predicts none of these."""
    found = prediction_in(original.arrays, original.facts)
    if found is None:
        return ""
    before, after = (_chosen(trace) for trace in (original, changed))
    if not found.kind.of_tokens:
        facts = {"before": _written(before, language), "after": _written(after, language)}
        return say("heads.changed_prediction", language, **facts)
    count = int((before.label.to_numpy() != after.label.to_numpy()).sum())
    return say("heads.changed_tags", language, count=count, tokens=len(before))


def _chosen(trace: Trace) -> pd.DataFrame:
    found = trace.predictions()
    return found[found.chosen.astype(bool)]


def _written(chosen: pd.DataFrame, language: str) -> str:
    """Labels with their probabilities, scores alone."""
    columns = (chosen[name].tolist() for name in ("label", "probability", "value"))
    parts = [
        short_number(value) if math.isnan(share) else f"“{label}” ({percent(share)})"
        for label, share, value in zip(*columns, strict=True)
    ]
    return ", ".join(parts) or say("heads.no_label", language)
