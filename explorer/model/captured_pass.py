"""One pass through a Transformer that captures the attention of chosen layers."""

from functools import partial
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from explorer.core.mask_reasons import path_codes
from explorer.core.sites import sides
from explorer.core.trace_size import Places, SiteSize
from explorer.core.vocabulary import PAD
from explorer.model.config import ModelConfig
from explorer.model.hooks import MODULES, STACKS
from explorer.model.points import Point, kept
from explorer.model.row_logits import RowLogits
from explorer.model.transformer import Transformer
from explorer.model.transformer_run import run

_INSIDE = ("pattern", "query_vectors", "key_vectors", "scores", "values", "heads")
_RESIDUAL = ("input", "sublayer_input", "sublayer_output", "output")
"""Around each attention."""

_LAYER = ("feed_forward_hidden", "feed_forward_output", "residual")
_STACK = ("token_vectors", "embedding", "stack_output")

_ARRAYS = {"pattern": "attention", "heads": "head_output", "residual": "layer_output"}
"""Kind of point → of array in a `Trace`, where they differ."""


class LayerArrays:
    """Arrays (layer, …) in float32 by name. Each layer is copied in as soon as it is computed, so
    that no second copy of all layers is ever in memory."""

    def __init__(self) -> None:
        self._arrays: dict[str, NDArray[np.float32]] = {}

    def put(self, name: str, index: int, count: int, value: Tensor) -> Tensor:
        """Copy `value` (1, …) in as layer `index` of `count`. Returns the copy (1, …)."""
        array = self._arrays.get(name)
        if array is None:
            array = self._arrays[name] = np.empty((count, *value.shape[1:]), np.float32)
        layer = torch.from_numpy(array)[index : index + 1]
        return layer.copy_(value)

    def clear(self, name: str, where: NDArray[np.bool_]) -> None:
        """Set the array to 0 where `where`, which is broadcast, is True."""
        if where.any():
            np.copyto(self._arrays[name], 0, where=where)

    def finished(self) -> dict[str, NDArray[np.float32]]:
        """All arrays, read-only from now on, so that a `Trace` does not copy them."""
        for array in self._arrays.values():
            array.flags.writeable = False
        return dict(self._arrays)


def attention_sizes(
    config: ModelConfig, source: int, target: int, *, full: bool
) -> dict[str, SiteSize]:
    """Sizes, by site, of the attention of `source` tokens with an output of `target` tokens.

    full: with all kinds of arrays, not the weights alone.
    """
    axes = sides(source, target)
    width = config.head_width if full else 0
    around = len(_RESIDUAL) * config.d_model + config.d_ff + 2 * config.d_model
    beside = around if full else 0
    return {
        site: SiteSize(range(config.layers(site)), config.heads, *axes[site], width, beside)
        for site in MODULES
        if config.layers(site)
    }


def captured_pass(
    transformer: Transformer, source: Tensor, target: Tensor, places: Places, *, full: bool
) -> tuple[RowLogits, dict[str, NDArray[Any]]]:
    """Logits of one pass over `source` (1, S) and `target` (1, T), and the arrays of the
    layers in `places`, as a `Trace` has them.

    full: with all kinds of arrays, not the weights alone.
    """
    arrays, of_layers = LayerArrays(), _of_layers(places, full=full)
    masks, values = kept(Point("mask", site, n) for site, own in places.items() for n in own)
    readers = {
        point: partial(arrays.put, f"{point.site}.{kind}", index, count)
        for point, (kind, index, count) in of_layers.items()
    }
    stacks = {STACKS[site][0]: None for site in places if full}
    of_stacks, whole = kept(Point(kind, stack) for stack in stacks for kind in _STACK)
    logits = run(transformer, source, target, readers={**readers, **masks, **of_stacks})
    queries = sides(source.size(1), target.size(1))
    shared = {
        site: _shared_mask([values[Point("mask", site, n)] for n in own], queries[site][0])
        for site, own in places.items()
    }
    captured = arrays.finished() | path_codes(shared, (source[0] == PAD).cpu().numpy())
    if full:
        captured |= _scales(transformer.config, places)
        captured |= {
            f"{point.site}.{point.kind}": value[0].cpu().numpy() for point, value in whole.items()
        }
        captured["logits"] = logits.whole()[0].numpy()
    return logits, captured


def _of_layers(places: Places, *, full: bool) -> dict[Point, tuple[str, int, int]]:
    """Point → kind of the array, index of the layer there, and how many layers it has."""
    found: dict[Point, tuple[str, int, int]] = {}
    for site, own in places.items():
        kinds = [(site, kind) for kind in (*_INSIDE, *_RESIDUAL)]
        kinds += [(STACKS[site][0], kind) for kind in _LAYER]
        for index, layer in enumerate(own):
            for where, kind in kinds if full else [(site, "pattern")]:
                array = _ARRAYS.get(kind, kind)
                found[Point(kind, where, layer)] = (array, index, len(own))
    return found


def _scales(config: ModelConfig, places: Places) -> dict[str, NDArray[np.float32]]:
    """Factor of the products of queries and keys: 1 / √K in every layer (§3.2.1)."""
    scale = config.head_width**-0.5
    return {
        f"{site}.score_scale": np.full(len(own), scale, np.float32) for site, own in places.items()
    }


def _shared_mask(masks: list[Tensor], queries: int) -> NDArray[np.bool_]:
    """(query, key) if all heads of all layers share one mask, else (layer, head, query, key)."""
    if masks[0].size(1) == 1 and all(torch.equal(mask, masks[0]) for mask in masks):
        return masks[0][0].expand(-1, queries, -1)[0].cpu().numpy()
    heads = max(mask.size(1) for mask in masks)
    return torch.cat([mask.expand(-1, heads, queries, -1) for mask in masks]).cpu().numpy()
