"""Recorded calls → arrays of a `Trace`: weights, masks, sinks, scores and vectors of heads."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from explorer.core.interventions import Interventions
from explorer.core.sites import sides
from explorer.core.trace_from_arrays import padding_rows
from explorer.model.huggingface.capture.attention_calls import (
    Call,
    keys,
    recomputed,
    score_scale,
    scores,
    values,
)
from explorer.model.huggingface.capture.masks import site_codes
from explorer.model.huggingface.capture.recording import Recording
from explorer.model.huggingface.inputs import Inputs


def attention_arrays(
    recording: Recording, inputs: Inputs, interventions: Interventions, *, full: bool
) -> dict[str, NDArray[Any]]:
    """The arrays of each site; `full`: scores and the vectors of each head too."""
    arrays: dict[str, NDArray[Any]] = {}
    captured = recording.arrays
    for site, calls in recording.chosen.items():
        _, mask = sides(inputs.source_mask, inputs.target_mask)[site]
        assert mask is not None
        codes = site_codes(calls, (mask[0] == 0).numpy(), causal=site == "decoder")
        captured.clear(f"{site}.attention", padding_rows(codes))
        arrays[f"{site}.closed"] = codes
        arrays |= _sink(site, recording.places[site], calls, interventions)
        if full:
            arrays |= _score_constants(site, calls)
        for index, call in enumerate(calls if full else ()):
            for kind, read in _INSIDE.items():
                captured.put(f"{site}.{kind}", index, len(calls), read(call))
    return captured.finished() | arrays


def _queries(call: Call) -> Tensor:
    return call.query  # (1, H, Q, width)


def _head_output(call: Call) -> Tensor:
    return call.output.transpose(1, 2)  # (1, H, Q, width)


_INSIDE = {
    "scores": scores,
    "query_vectors": _queries,
    "key_vectors": keys,
    "values": values,
    "head_output": _head_output,
}


def _score_constants(site: str, calls: Sequence[Call]) -> dict[str, NDArray[np.float32]]:
    """The scale of the scores in each layer and, in a family that caps them, the cap."""
    constants = {f"{site}.score_scale": np.array([score_scale(call) for call in calls], np.float32)}
    caps = [call.options.get("softcap") for call in calls]
    if all(cap is not None for cap in caps):
        constants[f"{site}.score_cap"] = np.array(caps, np.float32)
    return constants


def _sink(
    site: str, places: Sequence[int], calls: Sequence[Call], interventions: Interventions
) -> dict[str, NDArray[np.float32]]:
    """The weight of each query's sink, if the layers have sinks; 0 in a row set by intervention.

    places: the layers of `calls`.
    """
    found = [
        recomputed(call)[1] for call in calls if getattr(call.module, "sinks", None) is not None
    ]
    if len(found) != len(calls):
        return {}
    sink = torch.cat([layer for layer in found if layer is not None]).float()
    for row in interventions.override_row:
        if row.site == site and row.layer in places:
            sink[places.index(row.layer), row.head, row.query] = 0
    return {f"{site}.sink": sink.numpy()}
