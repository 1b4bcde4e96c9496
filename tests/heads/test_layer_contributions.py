from dataclasses import replace

import numpy as np
import pytest

from explorer.heads.contributions import contributions
from explorer.heads.layer_contributions import layer_contributions
from explorer.model.checkpoint import Checkpoint
from explorer.model.explorable import ExplorableModel


@pytest.fixture(params=["pre", "post"])
def tiny(request, explorable, make_model) -> ExplorableModel:
    """As `explorable`, with two layers of the encoder and both kinds of norm."""
    config = replace(explorable.transformer.config, encoder_layers=2, norm=request.param)
    vocabulary = explorable.source_vocabulary
    return ExplorableModel(Checkpoint(make_model(config, 5), vocabulary, vocabulary, {}), "two")


def joined(layers: dict[str, np.ndarray]) -> np.ndarray:
    """(T, S + T): the layers multiplied by hand, the source through the encoder."""
    memory = np.eye(layers["encoder"].shape[-1])
    for layer in layers["encoder"]:
        memory = layer @ memory
    steps = layers["decoder"].shape[-1]
    row = np.concatenate([np.zeros((steps, len(memory))), np.eye(steps)], 1)
    for own, cross in zip(layers["decoder"], layers["cross"], strict=True):
        source = np.concatenate([cross @ memory, np.zeros((steps, steps))], 1)
        row = source + (1 - cross.sum(-1, keepdims=True)) * (own @ row)
    return row


@pytest.mark.parametrize("pad", [0, 3])
def test_layers_and_share_are_those_of_the_whole_model(tiny, pad):
    expected = contributions(tiny, "1 2 <b> 3")
    source = len(expected.source_tokens)
    trace = tiny.trace("1 2 <b> 3", pad_to=source + pad)
    found = layer_contributions(tiny, trace)
    for site in trace.sites:
        layers, _, queries, keys = trace.attention(site).shape
        assert found.layers[site].shape == (layers, queries, keys)
    np.testing.assert_allclose(found.source_share, expected.source_share, atol=1e-5)
    whole = joined(dict(found.layers))
    assert not whole[:, source : source + pad].any()
    kept = np.delete(whole, slice(source, source + pad), 1)
    np.testing.assert_allclose(kept, expected.matrix, atol=1e-5)


def test_a_masked_key_contributes_nothing_and_self_attention_sums_to_one(tiny):
    trace = tiny.trace("3 2 1", pad_to=6)
    found = layer_contributions(tiny, trace)
    for site in trace.sites:
        assert not found.layers[site][:, ~trace.mask(site)].any()
    for site in ("encoder", "decoder"):
        text = [token != "<pad>" for token in trace.queries(site)]
        np.testing.assert_allclose(found.layers[site][:, text].sum(-1), 1)
    assert (found.layers["cross"].sum(-1) <= 1).all()


def test_a_forced_output_has_contributions_of_its_own(tiny):
    target = "3 3 2 1"
    ids = tiny.target_vocabulary.encode(target)
    trace = tiny.trace("1 2 3", force=dict(enumerate([*ids, 2], start=1)))
    found = layer_contributions(tiny, trace)
    expected = contributions(tiny, "1 2 3", target=target)
    assert trace.predicted_tokens == expected.predicted_tokens
    np.testing.assert_allclose(found.source_share, expected.source_share, atol=1e-5)


def test_the_layers_are_those_that_the_trace_has(tiny):
    whole = layer_contributions(tiny, tiny.trace("1 2 3"))
    part = layer_contributions(tiny, tiny.trace("1 2 3", layers=[1], sites=["cross"]))
    assert set(part.layers) == {"cross"}
    np.testing.assert_array_equal(part.layers["cross"][0], whole.layers["cross"][1])
