import torch

from explorer.model.huggingface.anatomy import Kind
from explorer.model.huggingface.decoded import Decoded
from explorer.model.huggingface.inputs import padded_inputs
from explorer.model.huggingface.measured_errors import measured_errors, padding_error
from explorer.model.huggingface.passes import Pass


def test_the_largest_differences_are_measured():
    plain = Pass(torch.zeros(1, 3, 5))
    captured = Pass(torch.full((1, 3, 5), -0.5))
    inputs = padded_inputs(Kind.DECODER_ONLY, [5, 6], [0], start=0)
    logits = torch.tensor([[9.0], [0.125], [0.0]]).expand(3, 5)
    found = measured_errors(captured, plain, Decoded(inputs, logits))
    assert found == {
        "hooked_equals_plain": 0.5,
        "cached_equals_full": 0.125,  # not in the row of padding
    }


def test_padding_is_measured_on_the_rows_that_are_none():
    inputs = padded_inputs(Kind.ENCODER_ONLY, [5, 6], [0], start=0)
    padded = Pass(torch.tensor([[[1.0], [2.0], [7.0]]]))
    bare = Pass(torch.tensor([[[1.0], [2.25]]]))
    assert padding_error(padded, bare, inputs) == {"padding_changes_nothing": 0.25}
