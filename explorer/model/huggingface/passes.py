"""The passes of the three kinds of models, and greedy decoding with the library's cache."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import torch
from torch import Tensor
from transformers import DynamicCache, EncoderDecoderCache
from transformers.modeling_outputs import BaseModelOutput

from explorer.model.huggingface.anatomy import Kind
from explorer.model.huggingface.answers import answer_logits
from explorer.model.huggingface.capture import Call, Seen, watching
from explorer.model.huggingface.decoding_rules import DecodingRules
from explorer.model.huggingface.edits import Cursor, Edits
from explorer.model.huggingface.inputs import Inputs
from explorer.model.huggingface.placement import on_device

_NOBODY: Mapping[str, Seen] = MappingProxyType({})


@dataclass(frozen=True, slots=True, eq=False)
class Pass:
    """What one full pass over N sequences gave.

    predictions: (N, T or S, V) logits of the rows; hidden states where the model has no logits of
        tokens. Where it answers otherwise, what `answers.answered` reads.
    encoder, decoder: the recorded calls.
    library: by site, the weights (N, H, Q, K) that the library returned, one a layer.
    """

    predictions: Tensor
    encoder: list[Call] = field(default_factory=list)
    decoder: list[Call] = field(default_factory=list)
    library: Mapping[str, list[Tensor]] = field(default_factory=dict)

    @property
    def outputs(self) -> Tensor:
        """Those of the only sequence, or the first, (T or S, V)."""
        return self.predictions[0]


def full_pass(
    model: Any,
    kind: Kind,
    inputs: Inputs,
    edits: Edits | None = None,
    *,
    copies: int = 1,
    record: bool = False,
    library: bool = False,
    seen: Mapping[str, Seen] = _NOBODY,
    memory: Any = None,
) -> Pass:
    """One pass over all of `inputs`, without a cache.

    copies: how often the sequences run, one after the other; an encoder that is not edited, once.
    memory: of `encoded` with the same inputs and edits, where the encoder is not to run again.
    record: keep the calls. library: let the library return its own weights. Both keep the weights
    of all layers.
    seen: by stack, "encoder" or "decoder", what is called with each call.
    """
    changes = edits or Edits({}, {}, Cursor())
    changes.cursor.first = 0
    options = {"output_attentions": True} if library else {}
    repeated = inputs if copies == 1 else inputs.repeated(copies)
    shared = kind == Kind.ENCODER_DECODER and copies > 1 and not changes.encoder
    with watching(changes.encoder, record=record, seen=seen.get("encoder")) as of_encoder:
        if memory is None:
            memory = _encode(model, kind, inputs if shared else repeated, **options)
    if shared:
        memory = BaseModelOutput(memory.last_hidden_state.repeat(copies, 1, 1))
    with watching(changes.decoder, record=record, seen=seen.get("decoder")) as of_decoder:
        out = _decode(model, kind, repeated, memory, **options)
    returned = _returned(kind, memory, out) if library else {}
    return Pass(_predictions(out), of_encoder.calls, of_decoder.calls, returned)


def encoded(
    model: Any, kind: Kind, inputs: Inputs, edits: Edits, seen: Mapping[str, Seen] = _NOBODY
) -> Any:
    """The output of the encoder of an encoder–decoder model, for `greedy_rows` and `full_pass`.

    seen: as in `full_pass`.
    """
    if kind != Kind.ENCODER_DECODER:
        return None
    edits.cursor.first = 0
    with watching(edits.encoder, record=False, seen=seen.get("encoder")):
        return _encode(model, kind, inputs)


def _encode(model: Any, kind: Kind, inputs: Inputs, **options: Any) -> Any:
    """The output of the encoder; the only one of an encoder-only model, None of a decoder alone."""
    if kind == Kind.DECODER_ONLY:
        return None
    stack = model if kind == Kind.ENCODER_ONLY else model.get_encoder()
    given = {"input_ids": inputs.source, "attention_mask": inputs.source_mask}
    if inputs.segments is not None:
        given["token_type_ids"] = inputs.segments
    return stack(**on_device(model, given), return_dict=True, **options)


def _decode(model: Any, kind: Kind, inputs: Inputs, memory: Any, **options: Any) -> Any:
    """The output of the whole model, without a cache; memory: of `_encode`."""
    if kind == Kind.ENCODER_ONLY:
        return memory
    if kind == Kind.ENCODER_DECODER:
        given = _cross_inputs(inputs, memory, inputs.target)
    else:
        given = _decoder_inputs(inputs.target, inputs.target_mask, 0)
    return model(**on_device(model, given), use_cache=False, return_dict=True, **options)


def greedy_rows(
    model: Any, kind: Kind, inputs: Inputs, edits: Edits, rules: DecodingRules, memory: Any
) -> Iterator[tuple[Tensor, Tensor]]:
    """Decode on from `inputs.target` (N, P), step by step; yield new rows of logits (N, rows, V),
    and the tokens (N,) that follow them: P rows at first, then one at a time.

    memory: of `encoded`.

    Stops when all sequences have ended; what follows the end of one of them means nothing.
    """
    cache: Any = None
    target, mask = inputs.target, inputs.target_mask
    assert target is not None
    if memory is not None:
        # The library's own choice has as many layers as the encoder in some families.
        cache = EncoderDecoderCache(DynamicCache(), DynamicCache())
    step, ended = 0, torch.zeros(len(target), dtype=torch.bool)
    while not bool(ended.all()) and step < rules.last:
        edits.cursor.first = step
        with watching(edits.decoder, record=False):
            if memory is not None:
                given = _cross_inputs(inputs, memory, target)
            else:
                given = _decoder_inputs(target, mask, step)
            given |= {"past_key_values": cache, "use_cache": True}
            out = model(**on_device(model, given), return_dict=True)
        cache, logits = out.past_key_values, out.logits.cpu()
        step += logits.size(1)
        tokens = rules.chosen(logits[:, -1], step)
        yield logits, tokens
        ended |= torch.isin(tokens, rules.ends)
        target = tokens[:, None]
        if mask is not None:
            mask = torch.cat([mask, torch.ones_like(mask[:, :1])], 1)


def _cross_inputs(inputs: Inputs, memory: Any, target: Tensor | None) -> dict[str, Any]:
    """Arguments of a decoder that attends to the output of an encoder."""
    return {
        "encoder_outputs": memory,
        "attention_mask": inputs.source_mask,
        "decoder_input_ids": target,
    }


def _decoder_inputs(target: Tensor | None, mask: Tensor | None, past: int) -> dict[str, Any]:
    """Arguments of a model with a decoder alone; positions count the tokens that are no padding.

    past: the rows that the cache has already.
    """
    given: dict[str, Any] = {"input_ids": target, "attention_mask": mask}
    if mask is not None and not bool(mask.all()):
        positions = (mask.long().cumsum(-1) - 1).clamp(min=0)
        given["position_ids"] = positions[:, past:]
    return given


def _predictions(out: Any) -> Tensor:
    answer = answer_logits(out)
    if answer is not None:
        return answer.cpu()
    for name in ("logits", "prediction_logits", "last_hidden_state"):
        found = getattr(out, name, None)
        if isinstance(found, Tensor):
            return found.cpu()
    return next(value for value in out.values() if isinstance(value, Tensor)).cpu()


def _returned(kind: Kind, memory: Any, out: Any) -> dict[str, list[Tensor]]:
    """The library's own weights by site; layers without attention are left out."""
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
        site: [layer.cpu() for layer in getattr(where, name, None) or () if layer is not None]
        for site, where, name in names[kind]
    }
