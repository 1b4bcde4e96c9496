import numpy as np
import pytest

TEXT = "5 17 8 41 9 23"


@pytest.mark.parametrize("name", ["marian", "llama", "gemma2", "bert"])
def test_full_capture_gives_what_the_weights_are_made_of(opened, name):
    model = opened(name)
    most = None if name == "bert" else 3
    trace = model.trace(TEXT, capture="full", max_new_tokens=most)
    for site in trace.sites:
        for layer in range(len(trace.attention(site))):
            mask = trace.mask(site, layer, 0)
            scores = np.where(mask, trace.scores(site)[layer].astype(np.float64), -np.inf)
            weights = np.exp(scores - scores.max(-1, keepdims=True))
            weights /= weights.sum(-1, keepdims=True)
            np.testing.assert_allclose(trace.attention(site)[layer], weights, atol=1e-6)
        queries, keys = trace.query_vectors(site), trace.key_vectors(site)
        config = model.model.config
        divisor = getattr(config, "query_pre_attn_scalar", queries.shape[-1])
        products = queries @ keys.swapaxes(-1, -2) / np.sqrt(divisor)
        if name == "gemma2":
            products = np.tanh(products / config.attn_logit_softcapping)
            products = products * config.attn_logit_softcapping
        np.testing.assert_allclose(trace.scores(site), products, atol=1e-5)
        mixed = trace.attention(site) @ trace.values(site)
        np.testing.assert_allclose(trace.head_output(site), mixed, atol=1e-5)


def test_a_sink_takes_the_rest_of_each_row_but_of_one_that_was_set(opened):
    model = opened("gpt_oss")
    plain = model.trace(TEXT, max_new_tokens=2)
    sink = plain.arrays["decoder.sink"]
    total = plain.attention("decoder").sum(-1) + sink
    np.testing.assert_allclose(total, np.ones_like(total), atol=1e-5)
    edited = model.trace(TEXT, override_row=[("decoder", 0, 1, 2, (1.0, 1.0))], max_new_tokens=2)
    assert edited.arrays["decoder.sink"][0, 1, 2] == 0
    assert (sink > 0).all()
    assert "decoder.sink" not in opened("llama").trace(TEXT, max_new_tokens=2).arrays
