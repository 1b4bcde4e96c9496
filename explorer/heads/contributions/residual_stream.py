"""The residual stream of a model, taken apart along one captured pass; that of one of the library
comes from `library_stream`.

Each sublayer adds its output to the stream. A LayerNorm whose scale is frozen at its value in the
pass is affine, so every vector read from the stream is a sum over the vectors added to it.
Arrays are float64: the sums below agree with the pass to its own float32 rounding.
"""

import copy
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from explorer.core.errors import ConfigError
from explorer.core.trace import Trace
from explorer.heads.contributions.frozen_norm import Array, FrozenNorm, frozen_norm
from explorer.model.explorable import ExplorableModel
from explorer.model.hooks import path
from explorer.model.measurable import MeasurableModel

ALL = slice(None)

_ATTENTIONS = {"encoder": ("encoder",), "decoder": ("decoder", "cross")}
"""Stack → the attention paths of each of its layers, in order."""

_RESIDUALS = {
    "encoder": "around_self_attention",
    "decoder": "around_self_attention",
    "cross": "around_cross_attention",
    "feed_forward": "around_feed_forward",
}


@dataclass(frozen=True, slots=True, eq=False)
class HeadOutputs:
    """The outputs of the heads of an attention, (head, query, K), and what W_O makes of them.

    weight: (head · K, D). bias: (D,).
    """

    mixed: Array
    weight: Tensor
    bias: Tensor


@dataclass(frozen=True, slots=True, eq=False)
class Sublayer:
    """A sublayer and its residual connection.

    kind: "encoder", "decoder" or "cross", an attention path, or "feed_forward".
    output: (query, D), the vectors that it adds to the stream.
    norm: of its input, with pre-norm; of the sum, with post-norm.
    heads: of an attention; None for a feed-forward network.
    """

    kind: str
    layer: int
    output: Array
    norm: FrozenNorm[Array]
    heads: HeadOutputs | None

    @property
    def name(self) -> str:
        return f"{self.kind}.{self.layer}"


@dataclass(frozen=True, slots=True, eq=False)
class Stream:
    """The residual stream of one stack in one pass, or some of its rows.

    embedding: (query, D) by source, what goes into the first sublayer: "token" and "position", the
        scaled embeddings and the position vectors added to them, and "bias", of a LayerNorm of
        their sum. In a model of the library "position" has segments, too, and is missing with
        rotary positions; "embedding" stands for all where a family makes it in another way.
    last: the LayerNorm after the last sublayer with pre-norm; None with post-norm.
    """

    embedding: Mapping[str, Array]
    sublayers: tuple[Sublayer, ...]
    last: FrozenNorm[Array] | None

    def sources(self, read_by: str | None = None) -> dict[str, Array]:
        """Summands (query, D) of the input of a sublayer, by source.

        Sources: those of `embedding`, each sublayer below as `Sublayer.name`, and "bias", the
        biases of the LayerNorms on the way.

        read_by: the name of the sublayer; None = the summands of the stack's output.
        """
        summands = {"bias": 0 * next(iter(self.embedding.values())), **self.embedding}
        for sublayer in self.sublayers:
            if sublayer.name == read_by:
                return _normed(summands, sublayer.norm) if self.last else summands
            summands[sublayer.name] = sublayer.output
            if not self.last:
                summands = _normed(summands, sublayer.norm)
        return _normed(summands, self.last) if self.last else summands


def residual_stream(model: ExplorableModel, trace: Trace, stack: str, rows: slice = ALL) -> Stream:
    """The stream of `stack` ("encoder" or "decoder") in `trace`, at some `rows`.

    trace: of `model`, all layers of the stack captured in full; otherwise raises `TraceError`.
    """
    pre = model.transformer.config.norm == "pre"
    sublayers = tuple(_sublayers(model, trace, stack, rows, pre=pre))
    tokens, embedding = (
        _rows(trace, f"{stack}.{kind}", rows) for kind in ("token_vectors", "embedding")
    )
    last = None
    if pre:
        ends = _rows(trace, f"{stack}.layer_output", rows)[-1]
        last = _frozen(_module(model, f"{stack}.norm"), ends)
    return Stream({"token": tokens, "position": embedding - tokens}, sublayers, last)


def whole_trace(
    model: MeasurableModel,
    text: str,
    options: Mapping[str, Any],
    sites: Sequence[str] | None = None,
) -> Trace:
    """`text` with all layers of `sites` captured in full; raises what `trace` does.

    options: other options of `trace`; raises `ConfigError` on one that selects what to capture.
    """
    for name in ("capture", "layers", "sites"):
        if name in options:
            raise ConfigError("all_is_captured", name=name)
    return model.trace(text, capture="full", sites=sites, **options)


def _sublayers(
    model: ExplorableModel, trace: Trace, stack: str, rows: slice, *, pre: bool
) -> Iterator[Sublayer]:
    config = model.transformer.config
    attentions = [site for site in _ATTENTIONS[stack] if config.layers(site)]
    inputs = {site: _rows(trace, f"{site}.input", rows) for site in attentions}
    outputs = {site: _rows(trace, f"{site}.sublayer_output", rows) for site in attentions}
    inputs["feed_forward"] = _rows(trace, f"{attentions[-1]}.output", rows)
    outputs["feed_forward"] = _rows(trace, f"{stack}.feed_forward_output", rows)
    for layer in range(len(inputs["feed_forward"])):
        for kind, output in outputs.items():
            normed = inputs[kind][layer] if pre else inputs[kind][layer] + output[layer]
            norm = _module(model, f"{stack}.layers.{layer}.{_RESIDUALS[kind]}")
            heads = _heads(model, trace, kind, layer, rows) if kind in attentions else None
            yield Sublayer(kind, layer, output[layer], _frozen(norm, normed), heads)


def _heads(model: ExplorableModel, trace: Trace, site: str, layer: int, rows: slice) -> HeadOutputs:
    projection = _module(model, path(site, layer, "output"))
    mixed = trace.head_output(site)[layer, :, rows].astype(np.float64)
    return HeadOutputs(mixed, projection.weight.T, projection.bias)


def _frozen(norm: Any, inputs: Array) -> FrozenNorm[Array]:
    exact = copy.deepcopy(norm).cpu().double()
    with torch.no_grad():
        output = exact.normed(torch.from_numpy(inputs)).numpy()
    return frozen_norm(norm, inputs, output)


def _normed(sources: dict[str, Array], norm: FrozenNorm[Array]) -> dict[str, Array]:
    found = {name: norm.linear(vectors) for name, vectors in sources.items()}
    return found | {"bias": found["bias"] + norm.bias}


def _rows(trace: Trace, name: str, rows: slice) -> Array:
    """Rows of an array (…, query, D)."""
    return trace.arrays[name][..., rows, :].astype(np.float64)


def _module(model: ExplorableModel, path: str) -> Any:
    return model.transformer.get_submodule(path)
