import torch

from explorer.model.huggingface.anatomy import Kind
from explorer.model.huggingface.capture.measured_errors import (
    measured_errors,
    padding_error,
    proves,
)
from explorer.model.huggingface.decoding import Decoded
from explorer.model.huggingface.inputs import padded_inputs
from explorer.model.row_logits import RowLogits


def in_blocks(rows, step):
    """RowLogits (1, T, V), so many rows a block."""
    logits = RowLogits.of(torch.as_tensor(rows)[None])
    return RowLogits.computed(logits.rows, logits.width, step, logits.read)


def test_the_largest_differences_are_measured():
    inputs = padded_inputs(Kind.DECODER_ONLY, [5, 6], [0], start=0)
    steps = torch.tensor([[9.0], [0.125], [0.0]]).expand(3, 5)
    for step in (1, 2, 3):
        plain = in_blocks(torch.zeros(3, 5), step)
        captured = in_blocks(torch.full((3, 5), -0.5), step)
        logits = RowLogits.joined([in_blocks(steps[:2], step), in_blocks(steps[2:], 1)])
        found = measured_errors(captured, plain, Decoded(inputs, logits))
        assert found == {
            "hooked_equals_plain": 0.5,
            "cached_equals_full": 0.125,  # not in the row of padding
        }


def test_padding_is_measured_on_the_rows_that_are_none():
    behind = padded_inputs(Kind.ENCODER_ONLY, [5, 6], [0], start=0)
    before = padded_inputs(Kind.DECODER_ONLY, [5, 6], [0], start=0)
    for inputs, rows in [(behind, [[1.0], [2.0], [7.0]]), (before, [[7.0], [1.0], [2.0]])]:
        for step in (1, 2, 3):
            padded = in_blocks(rows, step)
            bare = in_blocks([[1.0], [2.25]], step)
            assert padding_error(padded, bare, inputs) == {"padding_changes_nothing": 0.25}


def test_one_output_for_the_whole_text_has_no_rows_of_padding():
    inputs = padded_inputs(Kind.ENCODER_ONLY, [5, 6], [0], start=0)
    padded, bare = (RowLogits.of(torch.tensor([[1.0, other]])) for other in (2.0, 2.5))
    assert padding_error(padded, bare, inputs) == {"padding_changes_nothing": 0.5}


def test_only_errors_within_their_limits_prove_anything():
    """The limits are 1e-6 for weights, and 1e-4 or, in half precision, 2e-2 for logits."""
    assert proves({"hooked_equals_plain": 1e-4, "equals_library": 1e-6}, {})
    assert not proves({"hooked_equals_plain": 1e-4, "equals_library": 2e-6}, {})
    assert not proves({"hooked_equals_plain": 2e-4}, {})
    assert not proves({"hooked_equals_plain": float("nan")}, {})
    assert proves({"hooked_equals_plain": 1e-2}, {"precision": "half"})
    unmasked = {"interventions": ["unmask decoder.0.1 2 5"]}
    assert proves({"cached_equals_full": 9.0}, unmasked)
    assert not proves({"hooked_equals_plain": 9.0}, unmasked)
