"""Direct paths, and rows of one token repeated, of a model of the library.

Families name their modules differently, so the modules on the way are those that one pass has
called; see `residual_reading`. On a direct path a module is called again where it reads more than
that pass has; rows of one token are a pass of their own, with rotary positions if the family has
them.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor

from explorer.core.errors import ConfigError
from explorer.heads.circuits.direct_path import DirectPath, spread
from explorer.heads.circuits.preferred_offset import POSITIONS, ROWS, RepeatedRows
from explorer.heads.contributions.library_stream import frozen
from explorer.model.huggingface.anatomy import Kind, Place
from explorer.model.huggingface.capture import Call
from explorer.model.huggingface.inputs import Inputs
from explorer.model.huggingface.masks import unmasked_cells
from explorer.model.huggingface.silenced_pass import silenced_calls

if TYPE_CHECKING:
    from explorer.model.huggingface.read_streams import ReadStack, ReadSublayer, ResidualPass
    from explorer.model.huggingface.stream_calls import HeadInputs, NormCall
    from explorer.model.huggingface.traced_model import HuggingFaceModel

_TOGETHER = 16  # rows of a pass


class LibraryCircuits:
    """Raises `ConfigError` on a family whose layers are no sums, or whose embeddings are not those
    of its tokens times a factor; in half precision; and on weights that are not in memory."""

    def __init__(self, model: "HuggingFaceModel") -> None:
        self.model = model
        special = model.tokens.special_ids
        self.ids = torch.tensor([one for one in range(model.tokens.size) if one not in special])
        length = min(POSITIONS, model.positions or POSITIONS)
        self.repeated = self.ids[:1].repeat(length)[None]  # (1, L)
        self.found: ResidualPass = model.residuals_of(_inputs(model.kind, self.repeated))
        if not all(stack.embedded for stack in self.found.stacks.values()):
            raise ConfigError("no_stream", family=str(model.model.config.model_type))

    @torch.no_grad()
    def direct_paths(self) -> Iterator[DirectPath]:
        """None where logits are no linear map of the decoder's output."""
        logits, own = self.found.to_logits, spread(len(self.ids))
        if logits is None:
            return
        written = logits.weight.detach().float().cpu()[self.ids] * logits.scale  # (V, D)
        for stack, sublayer in self._attentions():
            call = sublayer.attention
            assert call is not None
            if call.own_values is None or sublayer.kind == "encoder":
                continue
            keys = "encoder" if sublayer.kind == "cross" else stack
            until = None if keys != stack else sublayer
            read = _read(self.found.stacks[keys], self._tokens(keys, self.ids[own]), until)
            heads, shared = call.call.query.size(1), _shared(call)
            each = [_projected(call.own_values, head // shared, read) for head in range(heads)]

            def to_logits(stack: str = stack, own: "ReadSublayer" = sublayer) -> Tensor:
                assert own.attention is not None
                weight = own.attention.output_weight  # (H · K, D)
                for norm in _norms_after(self.found.stacks[stack], own):
                    weight = _linear(norm, weight)
                return (weight @ written.T).view(own.attention.call.query.size(1), -1, len(written))

            outputs = torch.stack(each, 1)  # (N, H, K)
            yield DirectPath(sublayer.kind, sublayer.layer, self.ids, outputs, own, to_logits)

    def repeated_rows(self) -> Iterator[RepeatedRows]:
        """Those of every self-attention."""
        parts: dict[Place, list[Call]] = {}
        model, anatomy = self.model.model, self.model.anatomy
        repeated = self.ids[:ROWS, None].repeat(1, self.repeated.size(1))  # (N, L)
        for start in range(0, len(repeated), _TOGETHER):
            rows = _inputs(self.model.kind, repeated[start : start + _TOGETHER])
            for place, call in silenced_calls(model, anatomy, self.found.stacks, rows):
                parts.setdefault(place, []).append(call)
        for place, calls in parts.items():
            weights = torch.cat([call.weights.float() for call in calls]).numpy()
            unmasked = unmasked_cells(calls[0].mask, *weights.shape[-2:])[0, 0].numpy()  # (L, L)
            cells = np.broadcast_to(unmasked, (len(weights), *unmasked.shape))
            yield RepeatedRows(place.site, place.layer, weights, cells)

    def _attentions(self) -> Iterator[tuple[str, "ReadSublayer"]]:
        for stack, read in self.found.stacks.items():
            for sublayer in read.sublayers:
                if sublayer.attention is not None:
                    yield stack, sublayer

    def _tokens(self, stack: str, ids: Tensor) -> Tensor:
        """The embeddings (N, D) of tokens, with their scale, as `stack` reads them."""
        part: Any = self.model.model
        if part.config.is_encoder_decoder:
            part = part.get_encoder() if stack == "encoder" else part.get_decoder()
        table = part.get_input_embeddings().weight.detach().float().cpu()
        row, seen = table[self.repeated[0, 0]], self.found.stacks[stack].embedded["token"][0]
        return table[ids] * ((row * seen).sum() / (row * row).sum())


def _inputs(kind: Kind, ids: Tensor) -> Inputs:
    """`ids` (N, L) in every stack."""
    source = None if kind == Kind.DECODER_ONLY else ids
    target = None if kind == Kind.ENCODER_ONLY else ids
    masks = (None if one is None else torch.ones_like(one) for one in (source, target))
    return Inputs(source, next(masks), target, next(masks))


def _shared(call: Any) -> int:
    """Heads of queries that share one head of keys and values."""
    queries, keys = call.call.query.size(1), call.call.key.size(1)
    return int(queries // keys)


def _projected(inputs: "HeadInputs", head: int, vectors: Tensor) -> Tensor:
    """(…, K) from (…, D)."""
    weight, bias = inputs.head(head)
    return vectors @ weight + bias


def _read(stack: "ReadStack", embedded: Tensor, until: "ReadSublayer | None") -> Tensor:
    """What `until` reads of embeddings if all sublayers before it add 0; None = the end."""
    vectors = embedded if stack.embedding_norm is None else _called(stack.embedding_norm, embedded)
    for sublayer in stack.sublayers:
        if sublayer is until:
            return _called(sublayer.norm, vectors) if sublayer.pre else vectors
        if not sublayer.pre:
            vectors = _called(sublayer.norm, vectors)
    return vectors if stack.last is None else _called(stack.last, vectors)


def _called(norm: "NormCall", vectors: Tensor) -> Tensor:
    result: Tensor = norm.module(vectors.to(norm.module.weight))
    return result.float().cpu()


def _norms_after(stack: "ReadStack", own: "ReadSublayer") -> list["NormCall"]:
    """The norms between a sublayer's output and the logits, the nearest first."""
    if stack.last is not None:
        return [stack.last]
    return [one.norm for one in stack.sublayers[stack.sublayers.index(own) :]]


def _linear(norm: "NormCall", vectors: Tensor) -> Tensor:
    """What a norm makes of summands of its input, without its scale and bias."""
    own = frozen(norm)
    if own.centres:
        vectors = vectors - vectors.mean(-1, keepdim=True)
    return vectors * torch.from_numpy(own.weight).float()
