"""One pass through a Transformer that captures the attention of chosen layers."""

from collections.abc import Iterable
from functools import partial
from itertools import chain
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
from explorer.model.hooks import MODULES, STACKS, edit, path, recorded, residual_path
from explorer.model.row_logits import RowLogits
from explorer.model.transformer import Transformer

_HOOKS = {  # kind of array in a `Trace` → hook point
    "attention": "pattern",
    "query_vectors": "query_vectors",
    "key_vectors": "key_vectors",
    "scores": "scores",
    "values": "values",
    "head_output": "head_output",
}
_RESIDUAL = ("input", "sublayer_input", "sublayer_output", "output")
"""Around each attention: kinds of arrays, which are also the names of the hook points."""

_LAYER = {  # of a layer of a stack: kind of array → hook point
    "feed_forward_hidden": "feed_forward.hidden",
    "feed_forward_output": "around_feed_forward.sublayer_output",
    "layer_output": "around_feed_forward.output",
}
_STACK = {  # of a whole stack: kind of array (query, width) → hook point
    "token_vectors": "embedding.scaled",
    "embedding": "embedding.output",
    "stack_output": "output",
}


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
    arrays = LayerArrays()
    points = _points(places, _HOOKS) | _around(places) if full else _points(places, ["attention"])
    actions = {
        point: partial(_store, arrays, name, index, count)
        for point, (name, index, count) in points.items()
    }
    names = {site: [path(site, n, "mask") for n in layers] for site, layers in places.items()}
    whole = _of_stacks(places) if full else {}
    with (
        edit(transformer, actions),
        recorded(transformer, *chain.from_iterable(names.values()), *whole) as values,
    ):
        hidden = transformer.hidden(source, target)  # (1, T, D)
    width = transformer.config.target_vocabulary
    logits = RowLogits.of_states(hidden, transformer.logits, width)
    queries = sides(source.size(1), target.size(1))
    masks = {
        site: _shared_mask([values[name] for name in of_site], queries[site][0])
        for site, of_site in names.items()
    }
    captured = arrays.finished() | path_codes(masks, (source[0] == PAD).cpu().numpy())
    if full:
        captured |= _scales(transformer.config, places)
        captured |= {name: values[point][0].cpu().numpy() for point, name in whole.items()}
        captured["logits"] = logits.whole()[0].numpy()
    return logits, captured


def _points(places: Places, kinds: Iterable[str]) -> dict[str, tuple[str, int, int]]:
    """Path of a hook point of the heads → name of the array, index of the layer there, and how
    many layers it has."""
    return {
        path(site, layer, _HOOKS[kind]): (f"{site}.{kind}", index, len(own))
        for site, own in places.items()
        for index, layer in enumerate(own)
        for kind in kinds
    }


def _around(places: Places) -> dict[str, tuple[str, int, int]]:
    """The same map as `_points`, for the hook points around the attention of these layers."""
    points: dict[str, tuple[str, int, int]] = {}
    for site, own in places.items():
        stack, _ = STACKS[site]
        for index, layer in enumerate(own):
            for kind in _RESIDUAL:
                place = (f"{site}.{kind}", index, len(own))
                points[residual_path(site, layer, kind)] = place
            for kind, hook in _LAYER.items():
                points[f"{stack}.layers.{layer}.{hook}"] = (f"{stack}.{kind}", index, len(own))
    return points


def _of_stacks(places: Places) -> dict[str, str]:
    """Path of a hook point of a whole stack → name of the array."""
    stacks = dict.fromkeys(STACKS[site][0] for site in places)
    return {
        f"{stack}.{hook}": f"{stack}.{kind}" for stack in stacks for kind, hook in _STACK.items()
    }


def _scales(config: ModelConfig, places: Places) -> dict[str, NDArray[np.float32]]:
    """Factor of the products of queries and keys: 1 / √K in every layer (§3.2.1)."""
    scale = config.head_width**-0.5
    return {
        f"{site}.score_scale": np.full(len(own), scale, np.float32) for site, own in places.items()
    }


def _store(arrays: LayerArrays, name: str, index: int, count: int, value: Tensor) -> Tensor:
    arrays.put(name, index, count, value)
    return value


def _shared_mask(masks: list[Tensor], queries: int) -> NDArray[np.bool_]:
    """(query, key) if all heads of all layers share one mask, else (layer, head, query, key)."""
    if masks[0].size(1) == 1 and all(torch.equal(mask, masks[0]) for mask in masks):
        return masks[0][0].expand(-1, queries, -1)[0].cpu().numpy()
    heads = max(mask.size(1) for mask in masks)
    return torch.cat([mask.expand(-1, heads, queries, -1) for mask in masks]).cpu().numpy()
