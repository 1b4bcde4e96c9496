"""The errors of a trace that only the model can measure."""

from collections.abc import Mapping
from typing import Any

from torch import Tensor

from explorer.core.interventions import expected_errors
from explorer.core.trace_checks import integrity_limits
from explorer.model.huggingface.decoding import Decoded
from explorer.model.huggingface.inputs import Inputs
from explorer.model.row_logits import RowLogits


def measured_errors(captured: RowLogits, plain: RowLogits, decoded: Decoded) -> dict[str, float]:
    """Largest differences of logits: a plain pass against the capturing pass and decoding."""
    compared = {"hooked_equals_plain": (captured, 0)}
    if decoded.logits.rows:
        padding = _first_real_row(decoded.inputs, plain)
        compared["cached_equals_full"] = (decoded.logits, padding)
    errors = dict.fromkeys(compared, 0.0)
    for first, end in plain.blocks():
        expected = plain.read(first, end)[0]
        for name, (logits, padding) in compared.items():
            found, own = logits.read(first, end)[0], slice(max(padding - first, 0), None)
            errors[name] = max(errors[name], _largest(found[own], expected[own]))
    return errors


def padding_error(padded: RowLogits, bare: RowLogits, inputs: Inputs) -> dict[str, float]:
    """Largest change of the outputs by the padding of `inputs`."""
    begin = _first_real_row(inputs, padded)
    differences = [
        _largest(padded.read(begin + first, begin + end), bare.read(first, end))
        for first, end in bare.blocks()
    ]
    return {"padding_changes_nothing": max(differences)}


def proves(measured: Mapping[str, float], facts: Mapping[str, Any]) -> bool:
    """Whether all errors of a trace with these facts are within their limits, or expected."""
    limits, expected = integrity_limits(facts), expected_errors(facts)
    return all(error <= limits[name] or name in expected for name, error in measured.items())


def _first_real_row(inputs: Inputs, logits: RowLogits) -> int:
    """The first row that is not padding. Only a decoder alone has padding before it."""
    mask = inputs.source_mask if inputs.target_mask is None else inputs.target_mask
    if mask is None or mask.size(1) != logits.rows:
        return 0  # one output for the whole text
    return int(mask[0].argmax())


def _largest(one: Tensor, other: Tensor) -> float:
    """Largest absolute difference; 0 without rows."""
    return float((one.float() - other.float()).abs_().max()) if one.numel() else 0.0
