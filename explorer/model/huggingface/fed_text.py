"""Decoder inputs of a classifier with both stacks: its library class derives them from the text."""

from typing import Any

import torch
from torch import Tensor

from explorer.core.errors import VocabularyError
from explorer.core.predictions import PredictionKind
from explorer.model.huggingface.anatomy import Kind
from explorer.model.huggingface.answers import answer_of
from explorer.model.huggingface.inputs import Inputs
from explorer.model.huggingface.placement import on_device

_OF_TEXT = (PredictionKind.CLASS, PredictionKind.LABELS, PredictionKind.SCORE)


def decodes(model: Any, kind: Kind) -> bool:
    """Whether a model predicts next tokens; a classifier with a decoder does not."""
    return kind != Kind.ENCODER_ONLY and bool(model.can_generate())


def without_head(model: Any, kind: Kind) -> Any:
    """`model` itself if it decodes or has an encoder alone, else its part below the head."""
    alone = kind == Kind.ENCODER_ONLY or decodes(model, kind)
    return model if alone else model.base_model


def fed(model: Any, inputs: Inputs) -> Inputs:
    """`inputs` of a classifier with both stacks, with the tokens (N, S) that its class feeds to
    the decoder.

    Raises `VocabularyError` if the class predicts at the end token of the text, and the text has
    none.
    """
    source, mask = inputs.source, inputs.source_mask
    assert source is not None
    end = model.config.eos_token_id
    if answer_of(model) in _OF_TEXT and not bool((source == end).any(1).all()):
        raise VocabularyError("no_end", token=end)
    target = _decoder_input(model, source, mask)
    return Inputs(source, mask, target, mask)


@torch.inference_mode()
def _decoder_input(model: Any, source: Tensor, mask: Tensor | None) -> Tensor:
    """The ids that the decoder gets in the class's own pass."""
    seen: list[Tensor] = []

    def note(_: Any, args: tuple[Any, ...], options: dict[str, Any]) -> None:
        seen.append(options["input_ids"] if "input_ids" in options else args[0])

    hook = model.get_decoder().register_forward_pre_hook(note, with_kwargs=True)
    try:
        model(**on_device(model, {"input_ids": source, "attention_mask": mask}))
    finally:
        hook.remove()
    return seen[0].cpu()
