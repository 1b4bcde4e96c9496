"""Contribution of each key to each query in every attention of a trace, and of each input token in
every layer."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import isqrt

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from explorer.core.errors import ConfigError
from explorer.core.trace import Trace
from explorer.heads.contributions.attention_sublayers import AttentionSublayer, attention_sublayers
from explorer.heads.contributions.contributions_result import share_of_source
from explorer.heads.contributions.leave_one_out import leave_one_out
from explorer.heads.contributions.library_stream import (
    library_left_out,
    library_pass,
    library_sublayers,
)
from explorer.heads.contributions.rollout import (
    added_length,
    closeness,
    half_attention,
    last_layers,
    length,
    mean_lengths,
    rolled_by_layer,
    rolled_out,
    shares_of,
)
from explorer.model.evaluation_batch import EvaluationBatch
from explorer.model.explorable import ExplorableModel, chosen_ids
from explorer.model.left_out import transformer_left_out
from explorer.model.measurable import MeasurableModel
from explorer.model.threads import threads_for

Sublayers = Sequence[AttentionSublayer]
Layers = dict[str, list[Tensor]]
"""By site, for each layer, (query, key) float64."""


@dataclass(frozen=True, slots=True, eq=False)
class LayerContributions:
    """Contributions in each attention of a trace, and in the whole model.

    layers: by site (layer, query, key) float64, of the layers that the trace has; 0 at masked
        cells, also where padding keeps itself.
    whole: (T, S + T), as `Contributions.matrix`, with the padding among S.
    source_columns: the number of its columns that are the source, or the prompt of a decoder
        alone; 0 where nothing is predicted.
    drops: as `layers`, for leave-one-out: the fall of ln p (nats) of the output token; empty for
        the other methods.
    """

    layers: Mapping[str, NDArray[np.float64]]
    whole: NDArray[np.float64]
    source_columns: int
    drops: Mapping[str, NDArray[np.float64]] = field(default_factory=dict)

    @property
    def source_share(self) -> NDArray[np.float64]:
        """(T,) the share of what was read in each output token; as `Contributions.source_share`."""
        return share_of_source(self.whole, self.source_columns)


@torch.inference_mode()
def layer_contributions(
    model: MeasurableModel, trace: Trace, method: str = "alti"
) -> LayerContributions:
    """The contributions to a trace of `model` without interventions; of the library, one that has
    all layers.

    method: one of `LAYER_METHODS`, see `contributions`. In one attention:
        alti, value_norm_residual: rows of self-attention sum to 1, the residual connection is on
            the diagonal; a row of cross-attention and its residual connection sum to 1.
        value_norm: rows sum to 1, without residual connections.
    For the input tokens:
        alti_plus, rollout: after each layer, all lower layers included; a row of "cross" has the
            source, one of "decoder" the prefix, and both sum to 1. The last layer has the
            contributions of the whole model.
        leave_one_out: for the whole model, the same in each layer, without "encoder". A row of
            "cross" and one of "decoder" sum to 1; tokens that lower the probability count as 0,
            and `drops` has their values.

    Padding is part of the pass, as in the trace, and contributes nothing to a token. Raises
    `ConfigError` on another method, on one that `model` does not allow, and on more than
    `most_left_out` tokens for leave-one-out, and `VocabularyError` on a trace of a text that
    `model` cannot read.
    """
    refuse_method(method, LAYER_METHODS)
    if method == "leave_one_out":
        return _left_out(model, trace)
    with threads_for(model.passes.parameters, _longest(trace)):
        layers, whole = _joined(model, trace, method)
    shown = {site: _of_trace(trace, site, layers[site]) for site in trace.sites}
    return LayerContributions(shown, whole.numpy(), _source_columns(trace))


@torch.inference_mode()
def contribution_matrix(
    model: MeasurableModel, of: Trace | EvaluationBatch, method: str
) -> NDArray[np.float64]:
    """(T, S + T), the contributions in the whole model: `LayerContributions.whole` of a trace
    without interventions, or of a batch of one sentence with its target. Raises `ConfigError` as
    `contributions`."""
    if method == "leave_one_out":
        return _fallen(model, of).numpy()
    with threads_for(model.passes.parameters, _longest(of)):
        return _joined(model, of, method)[1].numpy()


def refuse_method(method: object, methods: Sequence[str]) -> None:
    """Raise `ConfigError` on a method that is not of `methods`."""
    if not isinstance(method, str) or method not in methods:
        raise ConfigError("bad_choice", name="method", got=method, choices=", ".join(methods))


def _joined(
    model: MeasurableModel, of: Trace | EvaluationBatch, method: str
) -> tuple[Layers, Tensor]:
    """Contributions in all layers of the model, and in the whole."""
    if isinstance(model, ExplorableModel):
        return _METHODS[method](attention_sublayers(model.transformer, *model.fed(of)))
    if method == "rollout":  # needs no sums
        return _rolled(_halves(model, of))
    return _METHODS[method](library_sublayers(library_pass(model, of)))


def _halves(model: MeasurableModel, of: Trace | EvaluationBatch) -> Iterator[tuple[str, Tensor]]:
    """Site and `half_attention` of each attention of a model of the library."""
    if isinstance(of, EvaluationBatch):
        for one in model.passes.attentions(of):
            yield one.site, half_attention(one.site, one.weights[0])
        return
    for site in of.sites:
        for weights in torch.from_numpy(of.attention(site).copy()):
            yield site, half_attention(site, weights)


def _longest(of: Trace | EvaluationBatch) -> int:
    """Number of tokens of the longer side."""
    if isinstance(of, EvaluationBatch):
        return of.longest
    return max(len(of.source_tokens), len(of.target_tokens))


def _source_columns(trace: Trace) -> int:
    """Number of tokens of the source, with padding, or of the prompt."""
    return len(trace.source_tokens) or int(trace.facts.get("prompt", 0))


def _of_trace(trace: Trace, site: str, layers: Sequence[Tensor]) -> NDArray[np.float64]:
    """(layer, query, key) of the layers that the trace has, 0 at masked cells."""
    numbers, keys = trace.layer_numbers(site), trace.attention(site).shape[-1]
    chosen = layers if len(layers) == len(numbers) else [layers[number] for number in numbers]
    shown = [
        np.where(trace.mask(site, index, 0), layer[:, :keys].numpy(), 0)
        for index, layer in enumerate(chosen)
    ]
    return np.stack(shown)


def _by_site(sublayers: Sublayers, share: Callable[[AttentionSublayer], Tensor]) -> Layers:
    """Shares of each attention, by site and layer."""
    layers: Layers = {}
    for sublayer in sublayers:
        layers.setdefault(sublayer.site, []).append(share(sublayer))
    return layers


def _sited(layers: Layers) -> list[tuple[str, Tensor]]:
    """Site and shares of each attention, as `rolled_out` takes them."""
    return [(site, one) for site, of_site in layers.items() for one in of_site]


def _alti(sublayers: Sublayers) -> tuple[Layers, Tensor]:
    layers = _by_site(sublayers, lambda one: shares_of(one, closeness))
    return layers, rolled_out(_sited(layers))


def _value_norm_residual(sublayers: Sublayers) -> tuple[Layers, Tensor]:
    layers = _by_site(sublayers, lambda one: shares_of(one, length))
    return layers, rolled_out(_sited(layers))


def _value_norm(sublayers: Sublayers) -> tuple[Layers, Tensor]:
    lengths = _by_site(sublayers, added_length)
    layers = {
        site: [one / one.sum(-1, keepdim=True) for one in of_site]
        for site, of_site in lengths.items()
    }
    return layers, mean_lengths(lengths)


def _alti_plus(sublayers: Sublayers) -> tuple[Layers, Tensor]:
    return _rolled((one.site, shares_of(one, closeness)) for one in sublayers)


def _rollout(sublayers: Sublayers) -> tuple[Layers, Tensor]:
    return _rolled((one.site, half_attention(one.site, one.weights)) for one in sublayers)


def _rolled(shares: Iterable[tuple[str, Tensor]]) -> tuple[Layers, Tensor]:
    """shares: site and shares of each attention."""
    layers = rolled_by_layer(shares)
    return layers, last_layers(layers)


_METHODS: Mapping[str, Callable[[Sublayers], tuple[Layers, Tensor]]] = {
    "alti": _alti,
    "value_norm": _value_norm,
    "value_norm_residual": _value_norm_residual,
    "alti_plus": _alti_plus,
    "rollout": _rollout,
}

LAYER_METHODS = (*_METHODS, "leave_one_out")

MOST_LEFT_OUT = 96
"""Most tokens of both sides for leave-one-out: one pass for each token takes seconds."""

MOST_PRODUCTS = 2**38
"""The most parameters times squared tokens, for models of any size."""


def most_left_out(parameters: int) -> int:
    """Most tokens of both sides for leave-one-out of a model."""
    return min(MOST_LEFT_OUT, isqrt(MOST_PRODUCTS // parameters))


def _fallen(model: MeasurableModel, of: Trace | EvaluationBatch) -> Tensor:
    """Leave-one-out: (T, S + T), with the padding of a trace."""
    with threads_for(model.passes.parameters, _longest(of) ** 2):
        if isinstance(model, ExplorableModel):
            passes = transformer_left_out(model.transformer, *model.fed(of))
        else:
            passes = library_left_out(model, of)
        labels = chosen_ids(of) if isinstance(of, Trace) else of.labels.ids
        return leave_one_out(passes, labels[0])


def _left_out(model: MeasurableModel, trace: Trace) -> LayerContributions:
    """Leave-one-out contributions."""
    source, limit = len(trace.source_tokens), most_left_out(model.passes.parameters)
    if source + len(trace.target_tokens) > limit:
        raise ConfigError("too_many_left_out", limit=limit)
    whole = contribution_matrix(model, trace, "leave_one_out")
    both = {"cross": whole[:, :source], "decoder": whole[:, source:]}
    total = whole.clip(min=0).sum(-1, keepdims=True)
    sites = [site for site in trace.sites if site in both]
    of_layers = {site: [both[site]] * len(trace.layer_numbers(site)) for site in sites}
    fallen = {site: np.stack(layers) for site, layers in of_layers.items()}
    shares = {
        site: np.divide(one.clip(min=0), total, out=np.zeros_like(one), where=total > 0)
        for site, one in fallen.items()
    }
    return LayerContributions(shares, whole, _source_columns(trace), fallen)
