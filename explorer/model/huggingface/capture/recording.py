"""Record a pass in the arrays of a `Trace`: weights, masks, sinks, scores and vectors of heads. And
compare its weights with those of a second pass."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from explorer.core.interventions import Interventions
from explorer.core.sites import sides
from explorer.core.trace_from_arrays import padding_rows
from explorer.core.trace_size import Places
from explorer.core.verbs import CellEdit
from explorer.model.captured_pass import LayerArrays
from explorer.model.huggingface.anatomy import Anatomy, Place
from explorer.model.huggingface.capture.attention_calls import (
    Call,
    Seen,
    keys,
    recomputed,
    score_scale,
    scores,
    values,
)
from explorer.model.huggingface.capture.masks import LayerMask, site_codes
from explorer.model.huggingface.inputs import Inputs

_WEIGHTS: Mapping[str, Callable[[Call], Tensor]] = {"attention": lambda call: call.weights}
_FULL: Mapping[str, Callable[[Call], Tensor]] = {
    **_WEIGHTS,
    "scores": scores,
    "query_vectors": lambda call: call.query,  # (1, H, Q, width)
    "key_vectors": keys,
    "values": values,
    "head_output": lambda call: call.output.transpose(1, 2),  # (1, H, Q, width)
}
"""Kind of array in a `Trace` → its values in a call."""


class Recording:
    """The values of one pass that a trace needs. Those of the layers in `places` are copied as soon
    as a layer is computed, so at most one layer is in memory twice."""

    def __init__(self, anatomy: Anatomy, places: Places, *, full: bool) -> None:
        """full: with scores and the vectors of each head, not the weights alone."""
        self.places = places
        self.difference = 0.0
        """Largest difference of a weight between the two passes."""
        self._anatomy, self._full = anatomy, full
        self._arrays = LayerArrays()
        self._weights: dict[Place, Tensor] = {}  # views of the array
        self._masks: dict[str, list[LayerMask]] = {place.site: [] for place in anatomy.places}
        self._sinks: dict[str, list[Tensor | None]] = {site: [] for site in places}
        self._scales: dict[str, list[float]] = {site: [] for site in places}
        self._caps: dict[str, list[float]] = {site: [] for site in places}

    def keep(self) -> Mapping[str, Seen]:
        """Callbacks for the pass to record, by stack."""
        return self._seen(self._keep)

    def compare(self) -> Mapping[str, Seen]:
        """Callbacks for a second pass over the same tokens, which update `difference`."""
        return self._seen(self._compare)

    @staticmethod
    def of_each(several: Sequence[Mapping[str, Seen]]) -> Mapping[str, Seen]:
        """Callbacks for one pass over a batch: each of `several` sees its own sequence."""
        if len(several) == 1:
            return several[0]

        def pass_on(stack: str, index: int, call: Call) -> None:
            for sequence, own in enumerate(several):
                own[stack](index, call.of(sequence))

        return {stack: partial(pass_on, stack) for stack in several[0]}

    def unmasked(self, cell: CellEdit) -> Tensor:
        """Whether each head may attend to a cell before the edits: (layer, head)."""
        masks = self._masks[cell.site]
        heads = self._anatomy.heads(cell.site)
        return torch.stack([mask.before[:, cell.query, cell.key].expand(heads) for mask in masks])

    def finished(self, inputs: Inputs, interventions: Interventions) -> dict[str, NDArray[Any]]:
        """The arrays of each site, of a pass over `inputs`."""
        arrays: dict[str, NDArray[Any]] = {}
        for site, layers in self.places.items():
            _, mask = sides(inputs.source_mask, inputs.target_mask)[site]
            assert mask is not None
            masks = [self._masks[site][layer] for layer in layers]
            codes = site_codes(masks, (mask[0] == 0).numpy(), causal=site == "decoder")
            self._arrays.clear(f"{site}.attention", padding_rows(codes))
            arrays[f"{site}.closed"] = codes
            if self._full:
                arrays[f"{site}.score_scale"] = np.array(self._scales[site], np.float32)
            if self._full and len(self._caps[site]) == len(layers):
                arrays[f"{site}.score_cap"] = np.array(self._caps[site], np.float32)
            if any(sink is not None for sink in self._sinks[site]):
                arrays[f"{site}.sink"] = self._sink(site, interventions)
        return self._arrays.finished() | arrays

    def _seen(self, see: Callable[[Place, Call], None]) -> Mapping[str, Seen]:
        stacks = {"encoder": self._anatomy.encoder, "decoder": self._anatomy.decoder}

        def pass_on(places: tuple[Place, ...], index: int, call: Call) -> None:
            see(places[index], call)

        return {stack: partial(pass_on, places) for stack, places in stacks.items()}

    def _keep(self, place: Place, call: Call) -> None:
        site, layers = place.site, self.places.get(place.site, ())
        self._masks[site].append(LayerMask.of(call))
        if place.layer not in layers:
            return
        index, count = layers.index(place.layer), len(layers)
        for kind, read in (_FULL if self._full else _WEIGHTS).items():
            kept = self._arrays.put(f"{site}.{kind}", index, count, read(call))
            if kind == "attention":
                self._weights[place] = kept[0]  # (H, Q, K)
        if self._full:
            self._scales[site].append(score_scale(call))
        if (cap := call.options.get("softcap")) is not None:
            self._caps[site].append(cap)
        has_sink = getattr(call.module, "sinks", None) is not None
        self._sinks[site].append(recomputed(call)[1] if has_sink else None)

    def _compare(self, place: Place, call: Call) -> None:
        if place in self._weights:
            for one, other in zip(self._weights[place], call.weights[0], strict=True):
                # One head at a time, so that no second layer is in memory.
                self.difference = max(self.difference, float((one - other).abs().max()))

    def _sink(self, site: str, interventions: Interventions) -> NDArray[np.float32]:
        """The weight of each query's sink, (layer, H, Q); 0 in a layer without one and in a row
        set by intervention."""
        layers, sinks = self.places[site], self._sinks[site]
        none = torch.zeros_like(next(sink for sink in sinks if sink is not None))
        sink = torch.cat([none if one is None else one for one in sinks]).float()
        for row in interventions.override_row:
            if row.site == site and row.layer in layers:
                sink[layers.index(row.layer), row.head, row.query] = 0
        return sink.numpy()
