"""The residual stream of a model of the library, read along one pass.

Families name their modules differently, so the stream is found by what a pass computes: the calls
of norms and of attention in their order, and which sums of their inputs and outputs are equal. A
norm is before a sublayer (pre-norm) or behind its residual connection (post-norm); a family that
does neither is refused.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from typing import Any, TypeAlias, TypeVar

import torch
from torch import Tensor, nn

from explorer.core.errors import ConfigError
from explorer.model.huggingface.anatomy import Anatomy, Kind, Place
from explorer.model.huggingface.capture import Call, score_scale, values
from explorer.model.huggingface.edits import Edits
from explorer.model.huggingface.inputs import Inputs
from explorer.model.huggingface.module_hooks import Hook, hooked
from explorer.model.huggingface.output_projections import LINEAR, by_input, projects
from explorer.model.huggingface.passes import full_pass
from explorer.model.row_logits import RowLogits

LARGEST_ERROR = 1e-4
"""Of a sum, relative to its largest number, in float32."""

_LARGEST_HALF_ERROR = 2e-2


@dataclass(frozen=True, slots=True, eq=False)
class NormCall:
    """One call of a norm: `inputs` and `output` (T, D)."""

    module: Any
    inputs: Tensor
    output: Tensor


@dataclass(frozen=True, slots=True, eq=False)
class HeadInputs:
    """The linear layer whose outputs from column `start` on are the queries, the keys or the values
    of all heads, unchanged. width: of a head."""

    module: Any
    start: int
    width: int

    def head(self, number: int) -> tuple[Tensor, Tensor]:
        """Weights (D, width) and biases (width,) of one head."""
        first = self.start + number * self.width
        columns = slice(first, first + self.width)
        bias = _bias(self.module)
        weight = by_input(self.module)[:, columns]
        return weight, torch.zeros(self.width) if bias is None else bias[columns]


@dataclass(slots=True, eq=False)
class AttentionCall:
    """One call of attention, the module that projects its heads, and its output `added` (T, D).

    queries, keys, own_values: None where the family changes them further, as rotary positions do.
    """

    place: Place
    call: Call
    queries: HeadInputs | None
    keys: HeadInputs | None
    own_values: HeadInputs | None
    projection: Any = None
    added: Tensor = field(default_factory=lambda: torch.empty(0))

    @property
    def weights(self) -> Tensor:
        """(H, Q, K), after the softmax."""
        return self.call.weights[0].float()

    @property
    def values(self) -> Tensor:
        """(H, K, width), repeated for the heads of queries that share them."""
        return values(self.call)[0].float()

    @property
    def heads(self) -> Tensor:
        """(H, Q, width), the outputs of the heads."""
        return self.call.output[0].transpose(0, 1).float()

    @property
    def output_weight(self) -> Tensor:
        """(H · width, D)."""
        return by_input(self.projection)

    @property
    def output_bias(self) -> Tensor:
        """(D,), 0 in a projection without biases."""
        bias = _bias(self.projection)
        return torch.zeros(self.added.size(1)) if bias is None else bias

    @property
    def score_scale(self) -> float:
        """Factor of the products of queries and keys."""
        return score_scale(self.call)

    @property
    def score_bias(self) -> Tensor | None:
        """(1 or H, Q, K), added to the scaled products; None without one."""
        bias = self.call.options.get("position_bias")
        return bias[0].float() if isinstance(bias, Tensor) and bool(bias.any()) else None


def _bias(module: Any) -> Tensor | None:
    """Of a linear layer, in float32."""
    bias = getattr(module, "bias", None)
    return bias.detach().float().cpu() if isinstance(bias, Tensor) else None


_Event: TypeAlias = NormCall | AttentionCall


@dataclass(frozen=True, slots=True, eq=False)
class ReadSublayer:
    """A sublayer and its residual connection.

    kind: the site of an attention, or "feed_forward".
    inputs: (T, D), the stream before it; added: what it adds.
    norm: of `inputs` with pre-norm, of the sum with post-norm.
    attention: None for a feed-forward network.
    pre: whether it is with pre-norm.
    """

    kind: str
    layer: int
    inputs: Tensor
    added: Tensor
    norm: NormCall
    attention: AttentionCall | None
    pre: bool

    @property
    def after(self) -> Tensor:
        """(T, D), the stream behind it."""
        return self.inputs + self.added if self.pre else self.norm.output


@dataclass(frozen=True, slots=True, eq=False)
class ReadStack:
    """The residual stream of one stack.

    embedded: (T, D) by source, the embeddings of the tokens, with their scale, and those of
        positions and segments together; empty if the first sublayer reads something else.
    embedding_norm: of their sum; None without one.
    last: the norm behind the last sublayer with pre-norm; None with post-norm.
    """

    sublayers: tuple[ReadSublayer, ...]
    last: NormCall | None
    embedded: Mapping[str, Tensor]
    embedding_norm: NormCall | None

    @property
    def embedding(self) -> Tensor:
        """(T, D), what the first sublayer reads."""
        return self.sublayers[0].inputs

    @property
    def output(self) -> Tensor:
        """(T, D), of the stack, its last norm included."""
        return (self.last or self.sublayers[-1].norm).output

    @property
    def layer_outputs(self) -> list[Tensor]:
        """Of each layer, (T, D), as the map to logits would read it from the last one."""
        ends = [one for one in self.sublayers if one.kind == "feed_forward"]
        if self.last is None:
            return [one.norm.output for one in ends]
        norm = self.last.module
        summed = [(one.inputs + one.added).to(norm.weight) for one in ends]
        return [norm(one[None])[0].float().cpu() for one in summed]


@dataclass(frozen=True, slots=True, eq=False)
class LogitMap:
    """scale · weight x + bias, from the output of the decoder to logits.

    weight: (V, D). bias: (V,), or None.
    """

    weight: Tensor
    bias: Tensor | None
    scale: float

    def rows(self, ids: Sequence[int]) -> tuple[Tensor, Tensor]:
        """The map to the logits of `ids`: (N, D) with the scale, and (N,)."""
        chosen = torch.tensor(ids, device=self.weight.device)
        weight = self.weight[chosen].detach().double().cpu() * self.scale
        if self.bias is None:
            return weight, torch.zeros(len(ids), dtype=torch.float64)
        return weight, self.bias.detach().double().cpu()[torch.tensor(ids)]

    def logits(self, states: Tensor) -> Tensor:
        """(T, V) from (T, D)."""
        weight = self.weight.detach()
        found = ((states * self.scale).to(weight) @ weight.T).float().cpu()
        return found if self.bias is None else found + self.bias.detach().float().cpu()


@dataclass(frozen=True, slots=True, eq=False)
class ResidualPass:
    """The streams of one pass, by stack: "encoder", "decoder".

    logits: of the pass. to_logits: how they follow from the decoder's output; None where they are
        no linear map of it.
    """

    stacks: Mapping[str, ReadStack]
    logits: RowLogits
    to_logits: LogitMap | None


@torch.inference_mode()
def residual_pass(
    model: Any,
    anatomy: Anatomy,
    inputs: Inputs,
    edits: Edits | None = None,
    *,
    attention: bool = True,
) -> ResidualPass:
    """Repeat a pass over one sequence and read its residual streams.

    attention: keep the weights of all layers, which take most of the memory.

    Raises `ConfigError` on a family whose layers are no such sums, and on weights that are not in
    memory.
    """
    away = any(parameter.is_meta for parameter in model.parameters())
    if away or anatomy.weights_only:
        raise ConfigError("no_stream", family=str(model.config.model_type))
    reader = _Reader(attention=attention)
    with hooked(_hooks(model, reader)):
        seen = {
            "encoder": partial(reader.attended, anatomy.encoder),
            "decoder": partial(reader.attended, anatomy.decoder),
        }
        done = full_pass(model, anatomy, inputs, edits, seen=seen, head=anatomy.head)
    near = _Near(str(model.config.model_type), model.dtype)
    tables = _by_stack(anatomy.kind, reader.embedded)
    calls: dict[str, list[_Event]] = _by_stack(anatomy.kind, reader.events)
    stacks = {stack: near.stack(events, tables[stack]) for stack, events in calls.items()}
    to_logits = None
    if "decoder" in stacks and reader.mapped is not None:
        to_logits = near.logit_map(model, stacks["decoder"].output, reader.mapped, done.logits)
    return ResidualPass(stacks, done.logits, to_logits)


class _Reader:
    """What is called in one pass, in order. None = the encoder has ended.

    embedded: the outputs of embeddings, (T, D).
    mapped: the last input of the output embeddings, (rows, D); None without any.
    """

    def __init__(self, *, attention: bool) -> None:
        self._attention = attention
        self.events: list[_Event | None] = []
        self.embedded: list[Tensor | None] = []
        self.mapped: Tensor | None = None
        self._waiting: AttentionCall | None = None
        self._linear: list[tuple[Any, Tensor]] = []  # since the last attention

    def attended(self, places: Sequence[Place], index: int, call: Call) -> None:
        queries, keys, own = (self._made(one) for one in (call.query, call.key, call.value))
        if not self._attention:
            call.weights = torch.empty(0)
        self._waiting = AttentionCall(places[index], call, queries, keys, own)
        self._linear.clear()
        self.events.append(self._waiting)

    def normed(self, module: Any, given: Any, output: Any) -> None:
        whole = isinstance(given, Tensor) and given.ndim <= 3  # not one head
        if whole and isinstance(output, Tensor):
            self.events.append(NormCall(module, _rows(given), _rows(output)))

    def projected(self, module: Any, given: Any, output: Any) -> None:
        if self._waiting and projects(given, self._waiting.call):
            self._waiting.projection, self._waiting.added = module, _rows(output)
            self._waiting = None
        self._linear.append((module, output))

    def looked_up(self, _: Any, given: Any, output: Tensor) -> None:
        self.embedded.append(_rows(output))

    def encoded(self, *_: Any) -> None:
        self.events.append(None)
        self.embedded.append(None)

    def _made(self, states: Tensor) -> HeadInputs | None:
        """The linear layer that made `states` (1, heads, T, width), if it alone did."""
        _, heads, _, width = states.shape
        wanted = states[0].transpose(0, 1).flatten(1)  # (T, heads · width)
        for module, output in reversed(self._linear):
            found = output.reshape(-1, output.size(-1)).cpu()
            for start in range(0, found.size(1) - heads * width + 1, width):
                part = found[:, start : start + heads * width]
                if torch.equal(part[-1], wanted[-1]) and torch.equal(part, wanted):
                    return HeadInputs(module, start, width)
        return None

    def to_logits(self, _: Any, given: Any, output: Any) -> None:
        self.mapped = _rows(given)


def _hooks(model: Any, reader: _Reader) -> Iterator[tuple[Any, Hook]]:
    """Each module that `reader` reads, with what it makes of a call."""
    for module in model.modules():
        if _is_norm(module):
            yield module, reader.normed
        elif isinstance(module, LINEAR):
            yield module, reader.projected
        elif isinstance(module, nn.Embedding):
            yield module, reader.looked_up
    if model.config.is_encoder_decoder:
        yield model.get_encoder(), reader.encoded
    if (head := model.get_output_embeddings()) is not None:
        yield head, reader.to_logits


def _is_norm(module: Any) -> bool:
    """Whether a module is a LayerNorm or an RMSNorm, of the library or of torch."""
    weight = getattr(module, "weight", None)
    return "Norm" in type(module).__name__ and isinstance(weight, Tensor) and weight.ndim == 1


def _rows(states: Tensor) -> Tensor:
    """(T, D) of a batch of one sequence, in float32."""
    return states.detach().reshape(-1, states.size(-1)).float().cpu()


_One = TypeVar("_One")


def _by_stack(kind: Kind, events: Sequence[_One | None]) -> dict[str, list[_One]]:
    """What was called in each stack; None = the encoder has ended."""
    if kind == Kind.ENCODER_DECODER:
        end = events.index(None)
        parts = {"encoder": events[:end], "decoder": events[end:]}
    else:
        parts = {"decoder" if kind == Kind.DECODER_ONLY else "encoder": events}
    return {name: [one for one in part if one is not None] for name, part in parts.items()}


@dataclass(frozen=True, slots=True)
class _Near:
    """Finds the sums of a stack among its calls, to the rounding of `dtype`."""

    family: str
    dtype: torch.dtype

    def stack(self, events: Sequence[_Event], tables: Sequence[Tensor]) -> ReadStack:
        """The stream of one stack. Raises `ConfigError` if its calls are no such sums.

        tables: what its embeddings returned.
        """
        calls = [place for place, event in enumerate(events) if isinstance(event, AttentionCall)]
        sublayers: list[ReadSublayer] = []
        behind: list[NormCall] = []
        for place, end in zip(calls, [*calls[1:], len(events)], strict=True):
            attention, behind = self._attended(events, place, end)
            sublayers.append(attention)
            following = events[end] if end < len(events) else None
            if not isinstance(following, AttentionCall) or following.place.layer > attention.layer:
                sublayers.append(self._fed(attention, behind))
        for one, other in pairwise(sublayers):
            if one.pre != other.pre or not self.equal(other.inputs, one.after):
                raise self._refusal()
        last = behind[1] if sublayers[-1].pre else None
        embedding, first = sublayers[0].inputs, events[0]
        normed = isinstance(first, NormCall) and self.equal(first.output, embedding)
        norm = first if isinstance(first, NormCall) and normed else None
        embedded = self._embedded(embedding if norm is None else norm.inputs, tables)
        return ReadStack(tuple(sublayers), last, embedded, norm)

    def _embedded(self, embedding: Tensor, tables: Sequence[Tensor]) -> dict[str, Tensor]:
        """`embedding` as the tokens' embeddings, times a factor, and all others together."""
        own = [table for table in tables if table.shape[-1] == embedding.shape[-1]]
        if not own or own[0].shape != embedding.shape:
            return {}
        others = torch.zeros_like(embedding)
        for table in own[1:]:
            if len(table) in (1, len(embedding)):
                others = others + table
        tokens, rest = own[0], embedding - others
        factor = float((rest * tokens).sum() / (tokens * tokens).sum())
        if not self.equal(tokens * factor, rest):
            return {}
        parts = {"token": rest}
        return parts | {"position": others} if len(own) > 1 else parts

    def _attended(
        self, events: Sequence[_Event], place: int, end: int
    ) -> tuple[ReadSublayer, list[NormCall]]:
        """The attention at `place`, and the norms behind it."""
        own = events[place]
        assert isinstance(own, AttentionCall)
        before = events[place - 1] if place else None
        if not (isinstance(before, NormCall) and before.inputs.shape == own.added.shape):
            before = None  # such as one of narrower embeddings
        behind = [event for event in events[place + 1 : end] if isinstance(event, NormCall)]
        if own.projection is None or not behind:
            raise self._refusal()
        stream, site, layer = behind[0].inputs, own.place.site, own.place.layer
        if before and self.equal(stream, before.inputs + own.added):
            return ReadSublayer(site, layer, before.inputs, own.added, before, own, True), behind
        if stream.shape != own.added.shape:
            raise self._refusal()
        inputs = before.output if before else stream - own.added
        if not self.equal(stream, inputs + own.added):
            raise self._refusal()
        return ReadSublayer(site, layer, inputs, own.added, behind[0], own, False), behind

    def _fed(self, attention: ReadSublayer, norms: Sequence[NormCall]) -> ReadSublayer:
        """The feed-forward network behind the last attention of a layer."""
        if len(norms) < 2:
            raise self._refusal()
        if norms[0].inputs.shape != norms[1].inputs.shape:
            raise self._refusal()
        pre = attention.pre
        inputs = norms[0].inputs if pre else norms[0].output
        own, added = norms[0 if pre else 1], norms[1].inputs - inputs
        return ReadSublayer("feed_forward", attention.layer, inputs, added, own, None, pre)

    def logit_map(
        self, model: Any, output: Tensor, mapped: Tensor, logits: RowLogits
    ) -> LogitMap | None:
        """The map from the decoder's output to logits, if it is linear."""
        end = output[len(output) - len(mapped) :]
        head = model.get_output_embeddings()
        if mapped.shape != end.shape or not isinstance(head, nn.Linear):
            return None
        scale = float((mapped * end).sum() / (end * end).sum())
        biases = [getattr(head, "bias", None), getattr(model, "final_logits_bias", None)]
        given = [one.flatten() for one in biases if isinstance(one, Tensor)]
        found = LogitMap(head.weight, sum(given[1:], given[0]) if given else None, scale)
        expected = logits.read(logits.rows - 1, logits.rows)[0].float()
        same = self.equal(mapped, end * scale) and expected.size(-1) == len(head.weight)
        return found if same and self.equal(found.logits(output[-1:]), expected) else None

    def equal(self, one: Tensor, other: Tensor) -> bool:
        limit = LARGEST_ERROR if self.dtype == torch.float32 else _LARGEST_HALF_ERROR
        most = limit * max(1.0, float(other.abs().max()))
        return one.shape == other.shape and float((one - other).abs().max()) <= most

    def _refusal(self) -> ConfigError:
        return ConfigError("no_stream", family=self.family)
