"""Layer contributions and parts of heads, of traces of models of the library."""

import numpy as np
import pytest

from explorer.core.errors import ConfigError
from explorer.heads.contributions.contributions import METHODS, contributions
from explorer.heads.contributions.layer_contributions import LAYER_METHODS, layer_contributions
from explorer.heads.contributions.logit_attribution import attribution_of, logit_attribution
from explorer.model.huggingface.traced_model import HuggingFaceModel

TEXT = "5 17 8 30"
FAMILIES = ("gpt2", "qwen3", "gpt_oss", "marian", "t5", "bert")
OF_LIBRARY = tuple(method for method in LAYER_METHODS if method != "leave_one_out")


def traced(model: HuggingFaceModel, pad: int = 0):
    options = {"target": "9 4"} if model.decodes else {}
    plain = model.trace(TEXT, **options)
    if not pad:
        return plain
    read = len(plain.source_tokens) or plain.facts["prompt"]
    return model.trace(TEXT, pad_to=read + pad, **options)


@pytest.mark.parametrize("pad", [0, 3])
@pytest.mark.parametrize("method", OF_LIBRARY)
@pytest.mark.parametrize("name", FAMILIES)
def test_layers_and_the_whole_are_those_of_python(tiny, name, method, pad):
    model = tiny(name)
    trace = traced(model, pad)
    found = layer_contributions(model, trace, method)
    for site in trace.sites:
        layers, _, queries, keys = trace.attention(site).shape
        assert found.layers[site].shape == (layers, queries, keys)
        for layer in range(layers):
            assert not found.layers[site][layer][~trace.mask(site, layer, 0)].any()
    known = method if method in METHODS else "alti"  # of which ALTI+ is the product
    expected = contributions(model, TEXT, known, target="9 4" if model.decodes else None)
    read = len(expected.source_tokens)
    after = slice(read, read + pad) if read else slice(0, pad)
    whole = np.delete(found.whole, after, 1)
    if len(whole) > len(expected.matrix):  # padding has rows of its own
        whole = np.delete(whole, after, 0)
    np.testing.assert_allclose(whole, expected.matrix, rtol=0, atol=1e-5)
    if trace.predicted_tokens and read:
        np.testing.assert_allclose(found.source_share, expected.source_share, atol=1e-5)


@pytest.mark.parametrize("name", ["gpt2", "marian", "t5"])
def test_the_last_layer_of_a_method_through_layers_is_the_whole(tiny, name):
    trace = traced(tiny(name))
    for method in ("alti_plus", "rollout"):
        found = layer_contributions(tiny(name), trace, method)
        sites = [site for site in ("cross", "decoder") if site in trace.sites]
        last = np.concatenate([found.layers[site][-1] for site in sites], 1)
        np.testing.assert_allclose(last, found.whole)


def test_what_is_not_given_is_refused_in_the_sentence_of_python(tiny):
    with pytest.raises(ConfigError, match="“bert” predicts no next tokens"):
        layer_contributions(tiny("bert"), traced(tiny("bert")), "leave_one_out")
    gemma = tiny("gemma2")
    with pytest.raises(ConfigError, match="layers of the family “gemma2” do not each add"):
        layer_contributions(gemma, traced(gemma))
    assert layer_contributions(gemma, traced(gemma), "rollout").layers.keys() == {"decoder"}
    with pytest.raises(ConfigError, match="“bert” predicts no next tokens"):
        attribution_of(tiny("bert"), traced(tiny("bert")))


@pytest.mark.parametrize("pad", [0, 3])
@pytest.mark.parametrize("name", ["gpt2", "llama", "marian", "t5"])
def test_the_parts_of_heads_of_a_trace_are_those_of_python(tiny, name, pad):
    model = tiny(name)
    found = attribution_of(model, traced(model, pad))
    expected = logit_attribution(model, TEXT, target="9 4")
    steps = len(expected.difference)
    assert found.runner_up[-steps:] == expected.runner_up
    np.testing.assert_allclose(found.difference[-steps:], expected.difference, rtol=0, atol=1e-4)
    values = found.parts.value.to_numpy().reshape(len(found.difference), -1)[-steps:]
    np.testing.assert_allclose(values.ravel(), expected.parts.value, rtol=0, atol=1e-4)
