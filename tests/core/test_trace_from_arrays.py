import numpy as np
import pytest
import torch

from explorer.core.errors import TraceError
from explorer.core.trace import Trace
from tests.support.small_trace import SOURCE, TARGET, random_weights


def test_tokens_and_weights_suffice():
    weights = random_weights((3, 2, 3, 3), np.tril(np.ones((3, 3), bool)))
    trace = Trace.from_arrays((), TARGET, decoder=weights)
    assert trace.sites == ("decoder",)
    assert trace.mask_reason("decoder")[0, 1] == "later position"
    assert trace.integrity().ok.all()
    assert trace.steps().empty
    assert np.isnan(trace.losses).all()


def test_one_array_a_layer_with_a_batch_axis_is_stacked():
    layers = [random_weights((1, 2, 3, 4), np.ones((3, 4), bool), seed) for seed in range(5)]
    trace = Trace.from_arrays(SOURCE, TARGET, cross=layers)
    assert trace.attention("cross").shape == (5, 2, 3, 4)
    np.testing.assert_array_equal(trace.attention("cross")[3], layers[3][0])


def test_the_array_of_the_caller_is_not_shared():
    arrays = {"cross.attention": random_weights((1, 1, 3, 4), np.ones((3, 4), bool))}
    trace = Trace.from_arrays(SOURCE, TARGET, cross=arrays["cross.attention"])
    arrays["cross.attention"][:] = 0
    assert trace.attention("cross").any()


def test_reasons_of_a_boolean_mask_are_inferred():
    mask = np.tril(np.ones((3, 3), bool))
    mask[:, 2] = False
    mask[2, 0] = False
    weights = random_weights((1, 1, 3, 3), mask)
    reasons = Trace.from_arrays((), TARGET, decoder=weights, masks={"decoder": mask}).mask_reason(
        "decoder"
    )
    assert reasons.tolist() == [
        ["", "later position", "padding"],
        ["", "", "padding"],
        ["edited", "", "padding"],
    ]


def test_masks_can_be_strings_of_reasons():
    reasons = np.array([["", "", "", "padding"]] * 3)
    weights = random_weights((1, 1, 3, 4), reasons == "")
    trace = Trace.from_arrays(SOURCE, TARGET, cross=weights, masks={"cross": reasons})
    np.testing.assert_array_equal(trace.mask_reason("cross"), reasons)


def test_tensors_with_gradients_and_in_half_precision_are_read():
    weights = torch.rand(1, 2, 3, 4).softmax(-1).requires_grad_()
    trace = Trace.from_arrays(SOURCE, TARGET, cross=(weights, weights))
    np.testing.assert_array_equal(trace.attention("cross")[1], weights[0].detach())
    assert trace.integrity().ok.all()
    for half in (torch.bfloat16, torch.float16):
        rounded = Trace.from_arrays(SOURCE, TARGET, cross=weights.detach().to(half)[None])
        assert rounded.integrity().ok.all()
    blurred = weights.detach()[None].numpy().copy()
    blurred[..., 0] += 0.003
    assert not Trace.from_arrays(SOURCE, TARGET, cross=blurred).integrity().ok.all()


def test_a_decoder_or_an_encoder_alone_needs_its_tokens_only():
    weights = np.full((1, 1, 2, 2), 0.5, np.float32)
    assert Trace.from_arrays(target_tokens=(7, 8), decoder=weights).target_tokens == ("7", "8")
    assert Trace.from_arrays((1, 2), encoder=weights).sites == ("encoder",)


def test_masks_of_zeros_and_ones_with_leading_axes_are_read():
    mask = np.array([[1, 1, 1, 0]] * 3)[None, None]
    weights = random_weights((1, 1, 3, 4), mask[0, 0] == 1)
    trace = Trace.from_arrays(SOURCE, TARGET, cross=weights, masks={"cross": torch.tensor(mask)})
    assert (trace.mask_reason("cross")[:, 3] == "padding").all()


@pytest.mark.parametrize(
    ("given", "key"),
    [
        ({"cross": np.ones((1, 2, 1, 3, 4))}, "whole_batch"),
        ({"cross": []}, "uneven_layers"),
        ({"cross": [np.ones((1, 3, 4)), np.ones((2, 3, 4))]}, "uneven_layers"),
        ({"cross": "text"}, "no_numbers"),
        ({"cross": np.ones((1, 1, 3, 4)), "masks": {"enc": 1}}, "unknown_site"),
        ({"cross": np.ones((1, 1, 3, 4)), "masks": {"cross": np.ones((3, 3))}}, "wrong_mask"),
        ({"cross": np.ones((1, 1, 3, 4)), "masks": {"cross": np.full((3, 4), 2)}}, "bad_mask"),
    ],
)
def test_each_kind_of_invalid_array_has_its_own_error(given, key):
    with pytest.raises(TraceError) as caught:
        Trace.from_arrays(SOURCE, TARGET, **given)
    assert caught.value.key == key


@pytest.mark.parametrize(
    "weights",
    [
        np.ones((1, 1, 3, 3)),
        np.ones((1, 1, 4, 3)),
        np.ones((3, 4)),
        np.full((1, 1, 3, 4), np.nan),
        np.ones((0, 1, 3, 4)),
        "text",
        [np.ones((1, 3, 4)), np.ones((2, 3, 4))],
    ],
)
def test_weights_that_do_not_fit_the_tokens_are_refused(weights):
    with pytest.raises(TraceError):
        Trace.from_arrays(SOURCE, TARGET, cross=weights)
