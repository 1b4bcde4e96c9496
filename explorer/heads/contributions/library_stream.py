"""The residual stream and the attentions of a model of the library, as those of a model trained
here: what is above them is the same for both."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from explorer.core.errors import ConfigError
from explorer.core.sites import Head
from explorer.core.trace import Trace
from explorer.heads.contributions.attention_sublayers import AttentionSublayer
from explorer.heads.contributions.frozen_norm import (
    Array,
    FrozenNorm,
    as_array,
    frozen_norm,
    in_float32,
)
from explorer.heads.contributions.residual_stream import HeadOutputs, Stream, Sublayer
from explorer.model.evaluation_batch import EvaluationBatch
from explorer.model.hooks import STACKS
from explorer.model.left_out import LeftOutPasses
from explorer.model.measurable import MeasurableModel

if TYPE_CHECKING:
    from explorer.model.huggingface.streams.read_streams import (
        ReadStack,
        ReadSublayer,
        ResidualPass,
    )
    from explorer.model.huggingface.streams.stream_calls import NormCall
    from explorer.model.huggingface.streams.turned_heads import Turn
    from explorer.model.huggingface.traced_model import HuggingFaceModel


def library_pass(
    model: MeasurableModel, of: Trace | EvaluationBatch, means: Any = None
) -> "ResidualPass":
    """The residual streams of a trace of a model of the library, or of a batch of one sentence.

    means: of the interventions of a trace.

    Raises `ConfigError` on a family whose layers are no sums, and on weights on disk.
    """
    return cast("HuggingFaceModel", model).residuals(of, means)


def library_left_out(model: MeasurableModel, of: Trace | EvaluationBatch) -> LeftOutPasses:
    """The passes in which tokens of a trace or of one sentence are left out. Raises as
    `HuggingFaceModel.left_out`."""
    return cast("HuggingFaceModel", model).left_out(of)


def library_stream(found: "ResidualPass", stack: str) -> Stream:
    """The stream of one stack, in float64. Raises `ConfigError` on another kind of norm."""
    read = found.stacks[stack]
    last = None if read.last is None else _frozen(read.last)
    return Stream(_embedding(read), tuple(_sublayer(one) for one in read.sublayers), last)


def _embedding(read: "ReadStack") -> dict[str, Array]:
    """Summands of what the first sublayer reads, as in `Stream.embedding`."""
    if not read.embedded:
        return {"embedding": as_array(read.embedding)}
    parts = {name: as_array(vectors) for name, vectors in read.embedded.items()}
    if read.embedding_norm is None:
        return parts
    norm = _frozen(read.embedding_norm)
    normed = {name: norm.linear(vectors) for name, vectors in parts.items()}
    return normed | {"bias": np.broadcast_to(norm.bias, read.embedding.shape)}


def library_logits(
    model: MeasurableModel, found: "ResidualPass", ids: NDArray[np.int64]
) -> tuple[Array, Array, Array]:
    """Of the token `ids` (T,) that may follow each row: rows of the map to logits (T, D), its
    biases (T,) and the logits of the pass (T,).

    Raises `ConfigError` on logits that are no linear map of the decoder's output.
    """
    if found.to_logits is None:
        raise ConfigError("no_logit_map", name=model.name)
    weight, bias = found.to_logits.rows(ids.tolist())
    logits = np.empty(len(ids))
    for own, of_rows in found.logits.at(torch.arange(len(ids))):
        own_ids = torch.tensor(ids)[own][:, None]
        logits[own.numpy()] = of_rows.float().gather(1, own_ids)[:, 0].double().numpy()
    return weight.numpy(), bias.numpy(), logits


@dataclass(frozen=True, slots=True, eq=False)
class ScoreSides:
    """What the scores of one head are made of.

    sources: of its queries and of its keys, the summands (position, D) of what they are made from.
    weights: of both, (D, K) and (K,). scale: of the products.
    turns: of both, by rotary positions; None = none.
    added: (query, key), what the family adds to the scaled products; None = nothing.
    """

    sources: tuple[dict[str, Array], dict[str, Array]]
    weights: tuple[tuple[Array, Array], tuple[Array, Array]]
    turns: "tuple[Turn | None, Turn | None]"
    scale: float
    added: Array | None


def score_sides(model: MeasurableModel, found: "ResidualPass", head: Head) -> ScoreSides:
    """Raises `ConfigError` on queries or keys that a linear layer and rotary positions do not make,
    and on another kind of norm."""
    name, (queries, keys) = f"{head.site}.{head.layer}", STACKS[head.site]
    (call,) = (
        one.attention
        for one in found.stacks[queries].sublayers
        if one.attention and (one.kind, one.layer) == (head.site, head.layer)
    )
    if call.queries is None or call.keys is None or "softcap" in call.call.options:
        raise ConfigError("no_score_parts", name=model.name)
    own = library_stream(found, queries).sources(name)
    others = own if keys == queries else library_stream(found, keys).sources()
    shared = call.call.query.size(1) // call.call.key.size(1)
    of_queries, of_keys = call.queries.head(head.head), call.keys.head(head.head // shared)
    added = call.score_bias
    return ScoreSides(
        (own, others),
        (_in_float64(of_queries), _in_float64(of_keys)),
        (call.queries.turn, call.keys.turn),
        call.score_scale,
        None if added is None else as_array(added.expand_as(call.weights)[head.head]),
    )


def _in_float64(weights: tuple[Tensor, Tensor]) -> tuple[Array, Array]:
    return as_array(weights[0]), as_array(weights[1])


def library_sublayers(found: "ResidualPass") -> list[AttentionSublayer]:
    """All attentions of a pass, in the order of `attention_sublayers`."""
    read = [one for stack in found.stacks.values() for one in stack.sublayers if one.attention]
    sites = ("encoder", "decoder", "cross")
    return [_attention(one) for site in sites for one in read if one.kind == site]


def _frozen(call: "NormCall") -> FrozenNorm[Array]:
    return frozen_norm(call.module, as_array(call.inputs), as_array(call.output))


def _sublayer(read: "ReadSublayer") -> Sublayer:
    heads = None
    if read.attention is not None:
        own = read.attention
        heads = HeadOutputs(as_array(own.heads), own.output_weight, own.output_bias)
    return Sublayer(read.kind, read.layer, as_array(read.added), _frozen(read.norm), heads)


def _attention(read: "ReadSublayer") -> AttentionSublayer:
    own = read.attention
    assert own is not None
    values, weights = own.values, own.weights
    heads, _, width = values.shape
    projected = values @ own.output_weight.view(heads, width, -1)
    norm = None if read.pre else in_float32(_frozen(read.norm))
    return AttentionSublayer(
        read.kind, read.layer, weights, projected, read.inputs, own.output_bias, read.after, norm
    )
