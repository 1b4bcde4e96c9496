"""The passes of the three kinds of models, and greedy decoding with the library's cache."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import torch
from torch import Tensor
from transformers import DynamicCache, EncoderDecoderCache

from explorer.model.huggingface.anatomy import Kind
from explorer.model.huggingface.capture import Call, Seen, watching
from explorer.model.huggingface.edits import Cursor, Edits
from explorer.model.huggingface.inputs import Inputs

_NOBODY: Mapping[str, Seen] = MappingProxyType({})


@dataclass(frozen=True, slots=True, eq=False)
class Pass:
    """What one full pass gave.

    outputs: logits of the rows (T or S, V); hidden states where the model has no logits of tokens.
    encoder, decoder: the recorded calls.
    library: by site, the weights (1, H, Q, K) that the library returned, one a layer.
    """

    outputs: Tensor
    encoder: list[Call] = field(default_factory=list)
    decoder: list[Call] = field(default_factory=list)
    library: Mapping[str, list[Tensor]] = field(default_factory=dict)


def full_pass(
    model: Any,
    kind: Kind,
    inputs: Inputs,
    edits: Edits | None = None,
    *,
    record: bool = False,
    library: bool = False,
    seen: Mapping[str, Seen] = _NOBODY,
) -> Pass:
    """One pass over all of `inputs`, without a cache.

    record: keep the calls. library: let the library return its own weights. Both keep the weights
    of all layers.
    seen: by stack, "encoder" or "decoder", what is called with each call.
    """
    changes = edits or Edits({}, {}, Cursor())
    changes.cursor.first = 0
    options = {"output_attentions": True} if library else {}
    memory: Any = None
    with watching(changes.encoder, record=record, seen=seen.get("encoder")) as of_encoder:
        if kind == Kind.ENCODER_DECODER:
            memory = encode(model, inputs, **options)
        elif kind == Kind.ENCODER_ONLY:
            given = {"input_ids": inputs.source, "attention_mask": inputs.source_mask}
            out = model(**given, return_dict=True, **options)
    with watching(changes.decoder, record=record, seen=seen.get("decoder")) as of_decoder:
        if kind == Kind.ENCODER_DECODER:
            out = model(
                encoder_outputs=memory,
                attention_mask=inputs.source_mask,
                decoder_input_ids=inputs.target,
                use_cache=False,
                return_dict=True,
                **options,
            )
        elif kind == Kind.DECODER_ONLY:
            given = _decoder_inputs(inputs.target, inputs.target_mask, 0)
            out = model(**given, use_cache=False, return_dict=True, **options)
    returned = _returned(kind, memory, out) if library else {}
    return Pass(_outputs(out), of_encoder.calls, of_decoder.calls, returned)


def encode(model: Any, inputs: Inputs, **options: Any) -> Any:
    """The output of the encoder of a model that has a decoder as well."""
    encoder = model.get_encoder()
    given = {"input_ids": inputs.source, "attention_mask": inputs.source_mask}
    return encoder(**given, return_dict=True, **options)


def greedy_rows(
    model: Any,
    kind: Kind,
    inputs: Inputs,
    edits: Edits,
    forced: Mapping[int, int],
    never: Mapping[int, Tensor],
    ends: frozenset[int],
    last: int,
) -> Iterator[tuple[Tensor, int]]:
    """Decode on from `inputs.target` (1, P), step by step; yield new rows of logits, and the token
    that follows them: P rows at first, then one at a time.

    forced: step → its token; step t follows row t − 1, so the first is P.
    never: ids not chosen, those at step P, and at 0 those at any step.
    ends: ids after which decoding stops; `last`: the last step.
    """
    memory: Any = None
    cache: Any = None
    target, mask = inputs.target, inputs.target_mask
    assert target is not None
    first_step = target.size(1)
    if kind == Kind.ENCODER_DECODER:
        with watching(edits.encoder, record=False):
            memory = encode(model, inputs)
        # The library's own choice has as many layers as the encoder in some families.
        cache = EncoderDecoderCache(DynamicCache(), DynamicCache())
    step = 0
    while True:
        edits.cursor.first = step
        with watching(edits.decoder, record=False):
            if memory is not None:
                out = model(
                    encoder_outputs=memory,
                    attention_mask=inputs.source_mask,
                    decoder_input_ids=target,
                    past_key_values=cache,
                    use_cache=True,
                    return_dict=True,
                )
            else:
                given = _decoder_inputs(target, mask, step)
                out = model(**given, past_key_values=cache, use_cache=True, return_dict=True)
        cache = out.past_key_values
        logits = out.logits[0]  # (rows, V)
        step += len(logits)
        token = forced.get(step)
        if token is None:
            allowed = logits[-1].clone()
            allowed[never[0]] = -torch.inf
            if step == first_step:
                allowed[never[first_step]] = -torch.inf
            token = int(allowed.argmax())
        yield logits, token
        if token in ends or step >= last:
            return
        target = torch.tensor([[token]])
        if mask is not None:
            mask = torch.cat([mask, torch.ones_like(mask[:, :1])], 1)


def _decoder_inputs(target: Tensor | None, mask: Tensor | None, past: int) -> dict[str, Any]:
    """Arguments of a model with a decoder alone; positions count the tokens that are no padding.

    past: the rows that the cache has already.
    """
    given: dict[str, Any] = {"input_ids": target, "attention_mask": mask}
    if mask is not None and not bool(mask.all()):
        positions = (mask.long().cumsum(-1) - 1).clamp(min=0)
        given["position_ids"] = positions[:, past:]
    return given


def _outputs(out: Any) -> Tensor:
    for name in ("logits", "prediction_logits", "last_hidden_state"):
        found = getattr(out, name, None)
        if isinstance(found, Tensor):
            return found[0]
    return next(value for value in out.values() if isinstance(value, Tensor))[0]


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
        site: [layer for layer in getattr(where, name, None) or () if layer is not None]
        for site, where, name in names[kind]
    }
