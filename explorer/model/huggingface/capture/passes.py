"""The passes of the three kinds of models, and greedy decoding with the library's cache."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from inspect import signature
from types import MappingProxyType
from typing import Any

import torch
from torch import Tensor
from transformers import DynamicCache, EncoderDecoderCache
from transformers.modeling_outputs import BaseModelOutput

from explorer.model.huggingface.anatomy import Anatomy, Kind, OutputHead, Place
from explorer.model.huggingface.capture.attention_calls import Call, Seen, Watch, watching
from explorer.model.huggingface.capture.edits import Edits
from explorer.model.huggingface.capture.output_head import predictions, run
from explorer.model.huggingface.capture.returned_weights import Returned, returned_calls
from explorer.model.huggingface.decoding import DecodingRules
from explorer.model.huggingface.inputs import Inputs
from explorer.model.huggingface.placement import on_device
from explorer.model.points import from_query
from explorer.model.row_logits import RowLogits, rows_of_block

NOBODY: Mapping[str, Seen] = MappingProxyType({})
"""No callbacks for the calls of a pass."""

_AT_ONCE = OutputHead()
"""All logits are computed with the pass."""


@dataclass(frozen=True, slots=True, eq=False)
class Pass:
    """Results of one full pass over N sequences.

    logits: of the rows, (N, T or S, V); hidden states if the model has no logits.
    encoder, decoder: the recorded calls.
    library: by site, the weights (N, H, Q, K) of each layer that the library returned.
    """

    logits: RowLogits
    encoder: list[Call] = field(default_factory=list)
    decoder: list[Call] = field(default_factory=list)
    library: Returned = field(default_factory=dict)


def full_pass(
    model: Any,
    anatomy: Anatomy,
    inputs: Inputs,
    edits: Edits | None = None,
    *,
    copies: int = 1,
    record: bool = False,
    library: bool = False,
    seen: Mapping[str, Seen] = NOBODY,
    memory: Any = None,
    head: OutputHead = _AT_ONCE,
) -> Pass:
    """One pass over all of `inputs`, without a cache.

    copies: number of copies of the sequences in the batch; an unedited encoder runs on one copy.
    memory: result of `encoded` for the same inputs and edits; then the encoder does not run again.
    record: keep the calls. library: let the library return its own weights. Both keep the weights
    of all layers.
    seen: by stack, "encoder" or "decoder", the callback for each call.
    head: the model's, to compute its logits only when they are read.
    """
    kind, changes = anatomy.kind, edits or Edits({}, {})
    returning = anatomy.weights_only and (record or bool(seen))
    options = {"output_attentions": True} if library or returning else {}
    repeated = inputs if copies == 1 else inputs.repeated(copies)
    shared = kind == Kind.ENCODER_DECODER and copies > 1 and not changes.encoder
    alone, encodes = kind == Kind.ENCODER_ONLY, memory is None
    with watching(changes.encoder, record=record, seen=seen.get("encoder")) as of_encoder:
        if alone:
            out, logits = run(model, head, _encoder_inputs(repeated) | options)
        elif encodes:
            memory = _encode(model, kind, inputs if shared else repeated, **options)
    if shared:
        memory = BaseModelOutput(memory.last_hidden_state.repeat(copies, 1, 1))
    with watching(changes.decoder, record=record, seen=seen.get("decoder")) as of_decoder:
        if not alone:
            given = _decoder_inputs(model, repeated, memory) | {"use_cache": False} | options
            out, logits = run(model, head, given)
    returned = _returned(kind, memory, out) if options else {}
    if returning and encodes:
        _hand_over(of_encoder, model, anatomy.encoder, returned, inputs)
    if returning:
        _hand_over(of_decoder, model, anatomy.decoder, returned, inputs)
    return Pass(logits, of_encoder.calls, of_decoder.calls, returned)


def _hand_over(
    watch: Watch, model: Any, places: Sequence[Place], returned: Returned, inputs: Inputs
) -> None:
    """Pass the weights of a stack that the library returned to its `watch`."""
    family = str(model.config.model_type)
    for index, call in enumerate(returned_calls(places, returned, inputs, family)):
        watch.take(index, call)


def encoded(
    model: Any, anatomy: Anatomy, inputs: Inputs, edits: Edits, seen: Mapping[str, Seen] = NOBODY
) -> Any:
    """Encoder output of an encoder–decoder model, for `greedy_rows` and `full_pass`, else None.

    seen: as in `full_pass`.
    """
    kind = anatomy.kind
    if kind != Kind.ENCODER_DECODER:
        return None
    returning = anatomy.weights_only and bool(seen)
    options = {"output_attentions": True} if returning else {}
    with watching(edits.encoder, record=False, seen=seen.get("encoder")) as watch:
        memory = _encode(model, kind, inputs, **options)
    if returning:
        _hand_over(watch, model, anatomy.encoder, _returned(kind, memory, None), inputs)
    return memory


def _encode(model: Any, kind: Kind, inputs: Inputs, **options: Any) -> Any:
    """The encoder output of an encoder–decoder model, or None for a decoder alone."""
    if kind == Kind.DECODER_ONLY:
        return None
    given = on_device(model, _encoder_inputs(inputs))
    return model.get_encoder()(**given, return_dict=True, **options)


def cache_argument(model: Any) -> str:
    """Name of the argument of `forward` for the cache of keys and values.

    The library renames it, family by family, from 5.24 on. Some families have no cache.
    """
    return "cache" if "cache" in signature(model.forward).parameters else "past_key_values"


def _rows_in(cache: Any) -> int:
    """The rows that a cache counts, by which a model numbers the next ones. RecurrentGemma returns
    no cache, and that of MiniMax counts none."""
    return 0 if cache is None else int(cache.get_seq_length())


class Stepper:
    """Decoding step by step: passes over the tokens that are not in the library's cache yet."""

    def __init__(
        self,
        model: Any,
        inputs: Inputs,
        edits: Edits,
        memory: Any,
        head: OutputHead = _AT_ONCE,
    ) -> None:
        """memory: result of `encoded`. head: as in `full_pass`."""
        assert inputs.target is not None
        self.rows = 0
        """The rows so far: the tokens that were fed in."""
        self._model, self._inputs, self._edits = model, inputs, edits
        self._memory, self._head = memory, head
        self._target, self._mask = inputs.target, inputs.target_mask  # all tokens
        self._cached = cache_argument(model)
        # Without a cache all rows run again at each step.
        self._caches = self._cached in signature(model.forward).parameters
        self._cache: Any = None
        if memory is not None:
            # The library's own choice has as many layers as the encoder in some families.
            self._cache = EncoderDecoderCache(DynamicCache(), DynamicCache())

    def step(self, *, keep: bool = True) -> tuple[RowLogits, Tensor]:
        """The logits of the new rows, and those (N, V) of the last one. keep: as in `run`."""
        past = self.rows if self._caches else 0
        with from_query(past), watching(self._edits.decoder, record=False):
            if self._memory is not None:
                given = _cross_inputs(self._inputs, self._memory, self._target[:, past:])
            else:
                given = _alone_inputs(self._model, self._target[:, past:], self._mask, past)
            cache = {self._cached: self._cache, "use_cache": True}
            given |= cache if self._caches else {"use_cache": False}
            out, logits = run(self._model, self._head, given, keep=keep)
        if not self._caches and self.rows:
            logits = RowLogits.of(logits.read(logits.rows - 1, logits.rows))
        self.rows += logits.rows
        self._cache = getattr(out, self._cached, None)
        self._caches = self._caches and _rows_in(self._cache) == self.rows
        return logits, predictions(out)[:, -1]

    def feed(self, tokens: Tensor) -> None:
        """Go on with the `tokens` (N,)."""
        self._target = torch.cat([self._target, tokens[:, None]], 1)
        if self._mask is not None:
            self._mask = torch.cat([self._mask, torch.ones_like(self._mask[:, :1])], 1)


def greedy_rows(
    model: Any,
    kind: Kind,
    inputs: Inputs,
    edits: Edits,
    rules: DecodingRules,
    memory: Any,
    head: OutputHead = _AT_ONCE,
) -> Iterator[tuple[RowLogits, Tensor]]:
    """Continue `inputs.target` (N, P) by greedy decoding.

    Each step yields the logits of its new rows and the chosen tokens (N,). The first step has P new
    rows, every other step one.

    memory: result of `encoded`. head: as in `full_pass`.

    Stops when all sequences have ended; tokens after the end of a sequence are meaningless.
    """
    assert inputs.target is not None
    stepper = Stepper(model, inputs, edits, memory, head)
    ended = torch.zeros(len(inputs.target), dtype=torch.bool)
    keep = rules.last <= 2 * rows_of_block(head.block, len(inputs.target), head.width)
    while not bool(ended.all()) and stepper.rows < rules.last:
        logits, after = stepper.step(keep=keep)
        tokens = rules.chosen(after, stepper.rows)
        yield logits, tokens
        ended |= torch.isin(tokens, rules.ends)
        stepper.feed(tokens)


def _encoder_inputs(inputs: Inputs) -> dict[str, Any]:
    given = {"input_ids": inputs.source, "attention_mask": inputs.source_mask}
    return given if inputs.segments is None else given | {"token_type_ids": inputs.segments}


def _decoder_inputs(model: Any, inputs: Inputs, memory: Any) -> dict[str, Any]:
    """Arguments of the whole model, after `_encode`.

    They include the source, because some families mask later positions only with it.
    """
    if memory is None:
        return _alone_inputs(model, inputs.target, inputs.target_mask, 0)
    return {"input_ids": inputs.source} | _cross_inputs(inputs, memory, inputs.target)


def _cross_inputs(inputs: Inputs, memory: Any, target: Tensor | None) -> dict[str, Any]:
    """Arguments of a decoder that attends to the output of an encoder."""
    return {
        "encoder_outputs": memory,
        "attention_mask": inputs.source_mask,
        "decoder_input_ids": target,
    }


def _alone_inputs(
    model: Any, target: Tensor | None, mask: Tensor | None, past: int
) -> dict[str, Any]:
    """Arguments of a model with a decoder alone. Positions, if it takes them, do not count padding.

    past: the number of rows in the cache.
    """
    given: dict[str, Any] = {"input_ids": target, "attention_mask": mask}
    padded = mask is not None and not bool(mask.all())
    if mask is not None and padded and "position_ids" in signature(model.forward).parameters:
        positions = (mask.long().cumsum(-1) - 1).clamp(min=0)
        given["position_ids"] = positions[:, past:]
    return given


def _returned(kind: Kind, memory: Any, out: Any) -> Returned:
    """The library's own weights by site. Layers whose entry is not one tensor are left out: they
    have no attention or return it in parts."""
    names = {
        Kind.ENCODER_DECODER: (
            ("encoder", memory, "attentions"),
            ("decoder", out, "decoder_attentions"),
            ("cross", out, "cross_attentions"),
        ),
        Kind.DECODER_ONLY: (("decoder", out, "attentions"),),
        Kind.ENCODER_ONLY: (("encoder", out, "attentions"),),
    }
    return {
        site: [one.cpu() for one in getattr(where, name, None) or () if isinstance(one, Tensor)]
        for site, where, name in names[kind]
    }
