from dataclasses import replace

import numpy as np
import pytest

from explorer.core.errors import ConfigError
from explorer.heads.contributions.contributions import contributions
from explorer.heads.contributions.layer_contributions import (
    LAYER_METHODS,
    MOST_LEFT_OUT,
    layer_contributions,
    most_left_out,
)
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


def without_padding(whole: np.ndarray, source: int, pad: int) -> np.ndarray:
    assert not whole[:, source : source + pad].any()
    return np.delete(whole, slice(source, source + pad), 1)


@pytest.mark.parametrize("pad", [0, 2])
@pytest.mark.parametrize("method", ["value_norm", "value_norm_residual", "rollout"])
def test_each_method_has_the_contributions_of_the_whole_model(tiny, method, pad):
    expected = contributions(tiny, "1 2 <b> 3", method)
    source = len(expected.source_tokens)
    trace = tiny.trace("1 2 <b> 3", pad_to=source + pad)
    found = layer_contributions(tiny, trace, method)
    np.testing.assert_allclose(
        without_padding(found.whole, source, pad), expected.matrix, atol=1e-5
    )
    if method == "value_norm_residual":
        whole = without_padding(joined(dict(found.layers)), source, pad)
        np.testing.assert_allclose(whole, expected.matrix, atol=1e-5)
    if method == "rollout":
        last = np.concatenate([found.layers[site][-1] for site in ("cross", "decoder")], 1)
        np.testing.assert_allclose(last, found.whole)


def test_value_norms_are_lengths_of_what_the_heads_add(tiny):
    trace = tiny.trace("1 2 <b> 3", capture="full")
    found = layer_contributions(tiny, trace, "value_norm").layers
    for site, part in (("encoder", "self"), ("decoder", "self"), ("cross", "cross")):
        side = "encoder" if site == "encoder" else "decoder"
        for layer in range(len(found[site])):
            output = tiny.transformer.get_submodule(
                f"{side}.layers.{layer}.{part}_attention.output"
            )
            matrix = output.weight.detach().numpy().astype(np.float64).T
            weights, values = trace.attention(site)[layer], trace.values(site)[layer]
            for query in range(weights.shape[1]):
                lengths = [
                    np.linalg.norm((weights[:, query, key, None] * values[:, key]).ravel() @ matrix)
                    for key in range(weights.shape[2])
                ]
                expected = np.array(lengths) / sum(lengths)
                np.testing.assert_allclose(found[site][layer, query], expected, atol=1e-5)


def test_alti_plus_multiplies_the_layers_of_alti_one_after_another(tiny):
    trace = tiny.trace("1 2 <b> 3")
    of_one = layer_contributions(tiny, trace).layers
    through = layer_contributions(tiny, trace, "alti_plus").layers
    np.testing.assert_allclose(through["encoder"][0], of_one["encoder"][0])
    np.testing.assert_allclose(through["encoder"][1], of_one["encoder"][1] @ of_one["encoder"][0])
    for layers in range(1, len(of_one["cross"]) + 1):
        below = {
            site: found if site == "encoder" else found[:layers] for site, found in of_one.items()
        }
        shown = np.concatenate([through[site][layers - 1] for site in ("cross", "decoder")], 1)
        np.testing.assert_allclose(shown, joined(below), atol=1e-12)


@pytest.mark.parametrize("pad", [0, 2])
def test_leave_one_out_is_the_same_in_each_layer_and_shares_what_falls(tiny, pad):
    expected = contributions(tiny, "1 2 <b> 3", "leave_one_out")
    source = len(expected.source_tokens)
    trace = tiny.trace("1 2 <b> 3", pad_to=source + pad)
    found = layer_contributions(tiny, trace, "leave_one_out")
    np.testing.assert_allclose(
        without_padding(found.whole, source, pad), expected.matrix, atol=1e-5
    )
    np.testing.assert_allclose(found.source_share, expected.source_share, atol=1e-4)
    assert set(found.layers) == set(found.drops) == {"cross", "decoder"}
    positive = expected.matrix.clip(min=0)
    for site, columns in (("cross", slice(0, source)), ("decoder", slice(source, None))):
        shares = positive[:, columns] / positive.sum(1, keepdims=True)
        keys = source if site == "cross" else None
        for shown, fallen in zip(found.layers[site], found.drops[site], strict=True):
            np.testing.assert_allclose(shown[:, :keys], shares, atol=1e-4)
            np.testing.assert_allclose(fallen[:, :keys], expected.matrix[:, columns], atol=1e-5)


def test_leave_one_out_of_too_many_tokens_is_refused(tiny, monkeypatch):
    trace = tiny.trace("1 2 3")
    tokens = len(trace.source_tokens) + len(trace.target_tokens)
    most = "explorer.heads.contributions.layer_contributions.MOST_LEFT_OUT"
    monkeypatch.setattr(most, tokens)
    layer_contributions(tiny, trace, "leave_one_out")
    monkeypatch.setattr(
        "explorer.heads.contributions.layer_contributions.MOST_LEFT_OUT", tokens - 1
    )
    with pytest.raises(ConfigError, match=f"at most {tokens - 1} tokens"):
        layer_contributions(tiny, trace, "leave_one_out")


def test_the_larger_a_model_the_fewer_tokens_it_leaves_out():
    assert most_left_out(10**7) == MOST_LEFT_OUT
    assert most_left_out(124_000_000) == 47  # GPT-2


def test_another_method_is_refused(tiny):
    with pytest.raises(ConfigError, match="alti_plus"):
        layer_contributions(tiny, tiny.trace("1"), "gradient")


@pytest.mark.parametrize("method", LAYER_METHODS)
def test_a_decoder_alone_has_contributions_of_its_prefix(continuing, method):
    trace = continuing.trace("1 2 <b>")
    found = layer_contributions(continuing, trace, method)
    steps = len(trace.target_tokens)
    assert list(found.layers) == ["decoder"]
    assert found.layers["decoder"].shape == (2, steps, steps)
    assert found.whole.shape == (steps, steps)
    if method in ("alti", "alti_plus"):
        expected = contributions(continuing, "1 2 <b>").matrix
        np.testing.assert_allclose(found.whole, expected, atol=1e-5)
