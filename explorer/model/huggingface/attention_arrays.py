"""The recorded calls as the arrays of a `Trace`: weights, masks, sinks, and what is inside."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from explorer.core.interventions import Interventions
from explorer.core.trace_from_arrays import without_padding_rows
from explorer.model.huggingface.capture import Call, recomputed, scores, values
from explorer.model.huggingface.inputs import Inputs
from explorer.model.huggingface.masks import site_codes


def attention_arrays(
    calls: Mapping[str, Sequence[Call]], inputs: Inputs, interventions: Interventions, *, full: bool
) -> dict[str, NDArray[Any]]:
    """The arrays of each site.

    calls: by site, one a layer. full: scores, values and head outputs too.
    """
    arrays: dict[str, NDArray[Any]] = {}
    for site, layers in calls.items():
        mask = inputs.target_mask if site == "decoder" else inputs.source_mask
        assert mask is not None
        closed = site_codes(layers, (mask[0] == 0).numpy(), causal=site == "decoder")
        weights = torch.cat([call.weights for call in layers]).float().numpy()
        arrays[f"{site}.attention"] = without_padding_rows(weights, closed)
        arrays[f"{site}.closed"] = closed
        arrays |= _sink(site, layers, interventions)
        if full:
            for kind, read in _INSIDE.items():
                found = torch.cat([read(call) for call in layers])
                arrays[f"{site}.{kind}"] = found.float().numpy()
    return arrays


def _head_output(call: Call) -> Tensor:
    return call.output.transpose(1, 2)  # (1, H, Q, width)


_INSIDE = {"scores": scores, "values": values, "head_output": _head_output}


def _sink(
    site: str, layers: Sequence[Call], interventions: Interventions
) -> dict[str, NDArray[np.float32]]:
    """The weight of each query's sink, where a layer has sinks; a row that was set has none."""
    found = [
        recomputed(call)[1] for call in layers if getattr(call.module, "sinks", None) is not None
    ]
    if len(found) != len(layers):
        return {}
    sink = torch.cat([layer for layer in found if layer is not None]).float()
    for row in interventions.override_row:
        if row.site == site:
            sink[row.layer, row.head, row.query] = 0
    return {f"{site}.sink": sink.numpy()}
