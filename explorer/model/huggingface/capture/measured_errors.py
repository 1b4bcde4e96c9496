"""The errors of a trace that only the model can measure."""

from torch import Tensor

from explorer.model.huggingface.capture.passes import Pass
from explorer.model.huggingface.decoding import Decoded
from explorer.model.huggingface.inputs import Inputs
from explorer.model.row_logits import RowLogits


def measured_errors(captured: Pass, plain: Pass, decoded: Decoded) -> dict[str, float]:
    """Largest differences of logits: a plain pass against the capturing pass and decoding."""
    compared = {"hooked_equals_plain": (captured.logits, 0)}
    if decoded.logits.rows:
        padding = _first_real_row(decoded.inputs, plain.logits)
        compared["cached_equals_full"] = (decoded.logits, padding)
    errors = dict.fromkeys(compared, 0.0)
    for first, end in plain.logits.blocks():
        expected = plain.logits.read(first, end)[0]
        for name, (logits, padding) in compared.items():
            found, own = logits.read(first, end)[0], slice(max(padding - first, 0), None)
            errors[name] = max(errors[name], _largest(found[own], expected[own]))
    return errors


def padding_error(padded: Pass, bare: Pass, inputs: Inputs) -> dict[str, float]:
    """Largest change of the outputs by the padding of `inputs`."""
    begin = _first_real_row(inputs, padded.logits)
    differences = [
        _largest(padded.logits.read(begin + first, begin + end), bare.logits.read(first, end))
        for first, end in bare.logits.blocks()
    ]
    return {"padding_changes_nothing": max(differences)}


def _first_real_row(inputs: Inputs, logits: RowLogits) -> int:
    """The first row that is not padding. Only a decoder alone has padding before it."""
    mask = inputs.source_mask if inputs.target_mask is None else inputs.target_mask
    if mask is None or mask.size(1) != logits.rows:
        return 0  # one output for the whole text
    return int(mask[0].argmax())


def _largest(one: Tensor, other: Tensor) -> float:
    """Largest absolute difference; 0 without rows."""
    return float((one.float() - other.float()).abs_().max()) if one.numel() else 0.0
