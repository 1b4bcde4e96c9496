"""The errors of a trace that only the model can measure."""

import torch
from torch import Tensor

from explorer.model.huggingface.decoded import Decoded
from explorer.model.huggingface.inputs import Inputs
from explorer.model.huggingface.passes import Pass


def measured_errors(captured: Pass, plain: Pass, decoded: Decoded) -> dict[str, float]:
    """The largest differences between the pass that captures, one that does not, and decoding."""
    errors = {"hooked_equals_plain": _largest(captured.outputs, plain.outputs)}
    if len(decoded.logits):
        real = _real_rows(decoded.inputs, plain.outputs)
        errors["cached_equals_full"] = _largest(decoded.logits[real], plain.outputs[real])
    return errors


def padding_error(padded: Pass, bare: Pass, inputs: Inputs) -> dict[str, float]:
    """By how much the padding of `inputs` changes the outputs."""
    real = _real_rows(inputs, padded.outputs)
    return {"padding_changes_nothing": _largest(padded.outputs[real], bare.outputs)}


def _real_rows(inputs: Inputs, outputs: Tensor) -> Tensor:
    """Which rows of `outputs` belong to no padding, (T or S,)."""
    if inputs.target_mask is not None:
        return inputs.target_mask[0] == 1
    if outputs.ndim == 2 and inputs.source_mask is not None:
        return inputs.source_mask[0] == 1
    return torch.ones(len(outputs), dtype=torch.bool)  # one output for the whole text


def _largest(one: Tensor, other: Tensor) -> float:
    return float((one.float() - other.float()).abs().max())
