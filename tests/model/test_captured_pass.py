import itertools

import numpy as np
import torch

from explorer.core.trace import Trace
from explorer.core.trace_size import SiteSize
from explorer.core.vocabulary import EOS, PAD
from explorer.model.captured_pass import LayerArrays, attention_sizes, captured_pass
from explorer.model.hooks import recorded
from tests.support.tiny_configs import PRIMES

SOURCE = torch.tensor([[4, 5, 6, EOS, PAD]])
TARGET = torch.tensor([[1, 5, 4]])


def test_the_arrays_are_the_hooked_values_of_the_chosen_layers(make_model):
    model = make_model()
    places = {"encoder": (0,), "cross": (1, 0)}
    with torch.inference_mode():
        logits, arrays = captured_pass(model, SOURCE, TARGET, places, full=True)
        with recorded(model, "*") as seen:
            expected = model(SOURCE, TARGET)[0]
    torch.testing.assert_close(logits.whole()[0], expected, atol=1e-5, rtol=0)
    vectors = ("query_vectors", "key_vectors", "values")
    around = ("input", "sublayer_input", "sublayer_output", "output")
    kinds = ("attention", "scores", *vectors, "head_output", "score_scale", "closed", *around)
    layer_kinds = ("feed_forward_hidden", "feed_forward_output", "layer_output")
    stack_kinds = ("token_vectors", "embedding", "stack_output")
    of_stacks = itertools.product(("encoder", "decoder"), (*layer_kinds, *stack_kinds))
    of_sites = itertools.product(places, kinds)
    assert set(arrays) == {*map(".".join, of_sites), *map(".".join, of_stacks), "logits"}
    for index, layer in enumerate(places["cross"]):
        for kind, hook in (("attention", "pattern"), *((kind, kind) for kind in vectors)):
            own = seen[f"decoder.layers.{layer}.cross_attention.{hook}"][0]
            np.testing.assert_allclose(arrays[f"cross.{kind}"][index], own, atol=1e-5)
        for kind in around:
            own = seen[f"decoder.layers.{layer}.around_cross_attention.{kind}"][0]
            np.testing.assert_allclose(arrays[f"cross.{kind}"][index], own, atol=1e-5)
        own = seen[f"decoder.layers.{layer}.feed_forward.hidden"][0]
        np.testing.assert_allclose(arrays["decoder.feed_forward_hidden"][index], own, atol=1e-5)
    scales = arrays["cross.score_scale"]
    np.testing.assert_allclose(scales, [model.config.head_width**-0.5] * 2)
    assert arrays["cross.closed"].tolist() == [[0, 0, 0, 0, 2]] * 3


def test_sizes_follow_the_config():
    sizes = attention_sizes(PRIMES, 7, 5, full=False)
    layers = range(PRIMES.decoder_layers)
    assert sizes["cross"] == SiteSize(layers, PRIMES.heads, 5, 7)
    full = attention_sizes(PRIMES, 7, 5, full=True)["encoder"]
    assert (full.width, full.beside) == (PRIMES.head_width, 6 * PRIMES.d_model + PRIMES.d_ff)


def test_each_layer_is_copied_into_one_array():
    arrays = LayerArrays()
    values = torch.arange(24, dtype=torch.bfloat16).reshape(2, 1, 3, 4)
    for index in (1, 0):
        copy = arrays.put("x", index, 2, values[index])
        assert copy.shape == (1, 3, 4)
    values[:] = 0
    arrays.clear("x", np.array([[True], [False], [False]]))
    found = arrays.finished()["x"]
    assert found.dtype == np.float32
    expected = np.arange(24.0).reshape(2, 3, 4)
    expected[:, 0] = 0
    assert found.tolist() == expected.tolist()


def test_a_trace_does_not_copy_them():
    arrays = LayerArrays()
    arrays.put("encoder.attention", 0, 1, torch.full((1, 1, 2, 2), 0.5))
    finished = arrays.finished() | {"encoder.closed": np.zeros((2, 2), np.uint8)}
    trace = Trace(("a", "b"), (), (), "", finished)
    assert trace.attention("encoder") is finished["encoder.attention"]
