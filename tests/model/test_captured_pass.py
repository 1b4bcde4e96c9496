import numpy as np
import torch

from explorer.core.trace_size import SiteSize
from explorer.core.vocabulary import EOS, PAD
from explorer.model.captured_pass import attention_sizes, captured_pass
from explorer.model.hooks import capture
from tests.support.tiny_configs import PRIMES

SOURCE = torch.tensor([[4, 5, 6, EOS, PAD]])
TARGET = torch.tensor([[1, 5, 4]])


def test_the_arrays_are_the_hooked_values_of_the_chosen_layers(make_model):
    model = make_model()
    places = {"encoder": (0,), "cross": (1, 0)}
    with torch.inference_mode():
        logits, arrays = captured_pass(model, SOURCE, TARGET, places, "full")
        with capture(model, "*.pattern", "*.values", "*_vectors") as seen:
            expected = model(SOURCE, TARGET)[0]
    torch.testing.assert_close(logits, expected, atol=1e-5, rtol=0)
    vectors = ("query_vectors", "key_vectors", "values")
    kinds = ("attention", "scores", *vectors, "head_output", "score_scale", "closed")
    assert set(arrays) == {f"{site}.{kind}" for site in places for kind in kinds}
    for index, layer in enumerate(places["cross"]):
        for kind, hook in (("attention", "pattern"), *((kind, kind) for kind in vectors)):
            own = seen[f"decoder.layers.{layer}.cross_attention.{hook}"][0]
            np.testing.assert_allclose(arrays[f"cross.{kind}"][index], own, atol=1e-5)
    scales = arrays["cross.score_scale"]
    np.testing.assert_allclose(scales, [model.config.head_width**-0.5] * 2)
    assert arrays["cross.closed"].tolist() == [[0, 0, 0, 0, 2]] * 3


def test_sizes_follow_the_config():
    sizes = attention_sizes(PRIMES, 7, 5, full=False)
    layers = range(PRIMES.decoder_layers)
    assert sizes["cross"] == SiteSize(layers, PRIMES.heads, 5, 7)
    assert attention_sizes(PRIMES, 7, 5, full=True)["encoder"].width == PRIMES.head_width
