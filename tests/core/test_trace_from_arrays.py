import numpy as np
import pytest
import torch

from explorer.core.errors import TraceError
from explorer.core.i18n import say
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
        ({"cross": [np.ones((1, 3, 4)), np.ones((2, 3, 4))]}, "uneven_layers"),
        ({"cross": "text"}, "no_numbers"),
        ({"cross": np.ones((1, 1, 3, 4)), "masks": {"enc": 1}}, "unknown_site"),
        ({"cross": np.ones((1, 1, 3, 4)), "masks": {"cross": np.ones((3, 3))}}, "wrong_mask"),
        ({"cross": np.ones((1, 1, 3, 4)), "masks": {"cross": np.full((3, 4), 2)}}, "bad_mask"),
        ({"cross": np.ones((1, 1, 3, 4)), "masks": {"cross": np.ones((3, 4), "c8")}}, "bad_mask"),
        (
            {"cross": np.ones((1, 1, 3, 4)), "masks": {"cross": np.array([[-1e4, 1e9, 0, 0]] * 3)}},
            "bad_mask",
        ),
        ({"cross": np.ones((1, 1, 3, 4)), "masks": {"cross": [np.ones((4, 3))]}}, "wrong_mask"),
    ],
)
def test_each_kind_of_invalid_array_has_its_own_error(given, key):
    with pytest.raises(TraceError) as caught:
        Trace.from_arrays(SOURCE, TARGET, **given)
    assert caught.value.key == key


LAYER = np.ones((1, 1, 3, 4))
EAGER = r'from_pretrained\(name, attn_implementation="eager"\)'


@pytest.mark.parametrize(
    ("weights", "key", "line"),
    [
        ((None, None), "weights_none", EAGER),
        ([None], "weights_none", EAGER),
        ((), "weights_none", EAGER),
        (((), ()), "weights_none", EAGER),
        (np.array([None, None]), "weights_none", EAGER),
        (((None, None), (None, None)), "weights_none", EAGER),
        ((LAYER, None, LAYER, None), "layers_none", r"layers 1, 3, .*if w is not None\]"),
        (((LAYER, LAYER), (LAYER, LAYER)), "weights_of_steps", r"model\(outputs\.sequences, "),
        (((torch.ones(1, 1, 3, 4),), (torch.ones(1, 1, 1, 4),)), "weights_of_steps", "generate"),
        (np.ones((3, 4)), "no_head_axis", r"False; .* is weights\[None, None\]"),
        (np.ones((1, 3, 4)), "no_head_axis", r"False; .* is weights\[None\]"),
        ([np.ones((3, 4))] * 2, "no_head_axis", r"is \[one\[None\] for one in weights\]"),
        (np.ones(4), "wrong_axes", r"shape \(4,\); expected \(layer, head, query, key\), or"),
    ],
)
def test_what_a_library_returns_in_place_of_weights_is_told_the_line_to_write(weights, key, line):
    with pytest.raises(TraceError, match=line) as caught:
        Trace.from_arrays(SOURCE, TARGET, cross=weights)
    assert caught.value.key == key
    assert caught.value.in_language("zh") != str(caught.value)


def test_the_way_that_is_told_for_a_mean_of_heads_is_read():
    mean = torch.full((3, 4), 0.25)
    for weights in (mean[None, None], mean[None][None], [one[None] for one in (mean, mean)]):
        assert Trace.from_arrays(SOURCE, TARGET, cross=weights).attention("cross").shape[1] == 1


def test_weights_after_dropout_are_told_to_call_eval():
    """The line under the maps, which the page draws from the same sentence."""
    weights = np.full((1, 1, 3, 4), 0.25 / 0.9, np.float32)
    trace = Trace.from_arrays(SOURCE, TARGET, cross=weights)
    failed = trace.integrity().set_index("check").loc["rows_sum_to_one"]
    assert (bool(failed.ok), failed.error) == (False, pytest.approx(1 / 0.9 - 1))
    assert "model.eval()" in say("player.failed_rows_sum_to_one", error="1e-1")


def test_without_any_weights_the_library_s_setting_is_named():
    with pytest.raises(TraceError, match='attn_implementation="eager"'):
        Trace.from_arrays(SOURCE, TARGET, decoder=None)


def test_lists_of_the_maps_of_heads_are_read():
    heads = [[np.full((3, 4), 0.25), np.full((3, 4), 0.25)]] * 2
    assert Trace.from_arrays(SOURCE, TARGET, cross=heads).attention("cross").shape == (2, 2, 3, 4)


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


def test_masks_may_differ_by_layer():
    allowed = np.tril(np.ones((3, 3), bool))
    local = np.eye(3, dtype=bool)
    weights = np.concatenate([random_weights((1, 2, 3, 3), mask) for mask in (allowed, local)])
    as_list = [allowed, local]
    as_array = np.stack(as_list)[:, None]
    with_batch = [mask[None, None] for mask in as_list]
    for given in (as_list, as_array, as_array[:, None], with_batch):
        trace = Trace.from_arrays((), TARGET, decoder=weights, masks={"decoder": given})
        assert trace.mask("decoder", 0).tolist() == allowed.tolist()
        assert trace.mask("decoder", 1, 1).tolist() == local.tolist()
        assert trace.mask_reason("decoder", 1)[2, 0] == "outside the window"
        assert trace.integrity().ok.all()
        with pytest.raises(TraceError):
            trace.mask("decoder")


def test_additive_masks_are_read():
    allowed = np.array([[1, 1, 1, 0]] * 3, bool)
    weights = random_weights((1, 1, 3, 4), allowed)
    for least in (np.finfo(np.float32).min, -np.inf, -1e4):
        mask = np.where(allowed, 0.0, least)
        trace = Trace.from_arrays(SOURCE, TARGET, cross=weights, masks={"cross": mask})
        assert trace.mask("cross").tolist() == allowed.tolist()
        assert trace.mask_reason("cross")[0, 3] == "padding"
    open_ = Trace.from_arrays(
        SOURCE, TARGET, cross=np.full((1, 1, 3, 4), 0.25), masks={"cross": np.zeros((3, 4))}
    )
    assert open_.mask("cross").all()


def test_rows_of_padding_are_left_out():
    """With padding on the left a causal mask leaves its queries nothing; libraries write 1/K."""
    mask = np.tril(np.ones((3, 3), bool))
    mask[:, 0] = False
    weights = np.where(mask.any(-1)[:, None], 0, 1 / 3) + np.where(mask, 1, 0)
    weights[2, 1:] = 0.5
    trace = Trace.from_arrays(
        (), TARGET, decoder=weights[None, None], masks={"decoder": mask[None, None, None]}
    )
    assert trace.integrity().ok.all()
    assert not trace.attention("decoder")[0, 0, 0].any()
    assert (trace.mask_reason("decoder")[:, 0] == "padding").all()


def test_candidates_make_steps():
    weights = random_weights((1, 1, 2, 2), np.tril(np.ones((2, 2), bool)))
    given = {"target_tokens": ("a", "b"), "decoder": weights, "predicted_tokens": ("b", "c")}
    listed = [[("a", 0.25), ("b", 0.5)], [("b", 0.75), ("c", 0.125)]]
    trace = Trace.from_arrays(**given, candidates=listed)
    steps = trace.steps()
    assert steps.token.tolist() == ["b", "a", "b", "c"]
    assert steps["rank"].tolist() == [1, 2, 1, 2]
    assert steps[steps.chosen].token.tolist() == ["b", "c"]
    np.testing.assert_allclose(trace.losses, -np.log([0.5, 0.125]), rtol=1e-6)
    for wrong, key in [(listed[:1], "candidates_differ"), ([listed[0]] * 2, "candidate_missing")]:
        with pytest.raises(TraceError) as caught:
            Trace.from_arrays(**given, candidates=wrong)
        assert caught.value.key == key


@pytest.mark.parametrize("candidates", [np.ones((2, 2)), [np.ones((2, 2, 2))], [3]])
def test_what_are_no_candidates_is_refused(candidates):
    weights = np.ones((1, 1, 1, 1), np.float32)
    with pytest.raises(TraceError, match="list of steps"):
        Trace.from_arrays(
            ["a"], ["b"], cross=weights, predicted_tokens=["c"], candidates=candidates
        )


def test_many_layers_with_masks_of_their_own_are_stored_in_few_members(tmp_path):
    """A file may have 64 arrays, however many layers there are."""
    layers, size = 200, 4
    masks = [np.tri(size, dtype=bool) for _ in range(layers)]
    masks[150] = np.triu(np.tri(size, dtype=bool), -1)  # one layer with a window
    weights = [(mask / mask.sum(-1, keepdims=True))[None] for mask in masks]
    trace = Trace.from_arrays(target_tokens="abcd", decoder=weights, masks={"decoder": masks})
    trace.save(tmp_path / "x.trace")
    again = Trace.load(tmp_path / "x.trace")
    assert again.integrity().ok.all()
    assert again.attention("decoder").shape == (layers, 1, size, size)
    assert again.mask_reason("decoder", 150)[3, 0] == "outside the window"
    assert again.mask_reason("decoder", 149)[3, 0] == ""
