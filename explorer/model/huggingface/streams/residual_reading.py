"""The residual stream of a model of the library, read along one pass.

Families name their modules differently, so the stream is found by what a pass computes: the calls
of norms and of attention in their order (`call_reader`), and which sums of their inputs and outputs
are equal (`stream_sums`).
"""

from collections.abc import Sequence
from functools import partial
from typing import Any, TypeVar

import torch

from explorer.core.errors import ConfigError
from explorer.model.huggingface.anatomy import Anatomy, Kind
from explorer.model.huggingface.capture.edits import Edits
from explorer.model.huggingface.capture.module_hooks import hooked
from explorer.model.huggingface.capture.passes import full_pass
from explorer.model.huggingface.inputs import Inputs
from explorer.model.huggingface.streams.call_reader import CallReader, reading_hooks
from explorer.model.huggingface.streams.read_streams import ResidualPass
from explorer.model.huggingface.streams.stream_calls import StreamCall
from explorer.model.huggingface.streams.stream_sums import StreamSums


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
    reader = CallReader(attention=attention)
    with hooked(reading_hooks(model, reader)):
        seen = {
            "encoder": partial(reader.attended, anatomy.encoder),
            "decoder": partial(reader.attended, anatomy.decoder),
        }
        done = full_pass(model, anatomy, inputs, edits, seen=seen, head=anatomy.head)
    sums = StreamSums(str(model.config.model_type), model.dtype)
    tables = _by_stack(anatomy.kind, reader.embedded)
    calls: dict[str, list[StreamCall]] = _by_stack(anatomy.kind, reader.events)
    stacks = {stack: sums.stack(events, tables[stack]) for stack, events in calls.items()}
    to_logits = None
    if "decoder" in stacks and reader.mapped is not None:
        to_logits = sums.logit_map(model, stacks["decoder"].output, reader.mapped, done.logits)
    return ResidualPass(stacks, done.logits, to_logits)


_One = TypeVar("_One")


def _by_stack(kind: Kind, events: Sequence[_One | None]) -> dict[str, list[_One]]:
    """What was called in each stack; None = the encoder has ended."""
    if kind == Kind.ENCODER_DECODER:
        end = events.index(None)
        parts = {"encoder": events[:end], "decoder": events[end:]}
    else:
        parts = {"decoder" if kind == Kind.DECODER_ONLY else "encoder": events}
    return {name: [one for one in part if one is not None] for name, part in parts.items()}
