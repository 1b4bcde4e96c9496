import numpy as np
import pytest
import torch

from explorer.core.errors import ConfigError
from explorer.model.huggingface.capture.verification import probe
from explorer.model.huggingface.streams.layer_path import layer_path
from explorer.model.huggingface.streams.residual_reading import residual_pass
from tests.support.huggingface_families import FAMILIES


def near(found, expected):
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-4)


def passed(model):
    inputs = probe(model.model, model.kind, model.tokens.size, model.positions)
    return inputs, residual_pass(model.model, model.anatomy, inputs, attention=False)


@pytest.mark.parametrize("name", ["gpt2", "llama", "bert", "marian", "pegasus", "t5"])
@torch.no_grad()
def test_each_vector_follows_from_those_before(opened, name):
    model = opened(name)
    _, found = passed(model)
    for place in model.anatomy.places:
        path = layer_path(found, place.site, place.layer)
        vectors = path.vectors
        assert path.heads == place.heads
        module = model.model.get_submodule(
            FAMILIES[name].projection[place.site].format(place.layer)
        )
        near(vectors["projected"], module(torch.tensor(vectors["heads"])))
        added = vectors["input"] + vectors["projected"]
        if path.pre:
            near(vectors["output"], added)
            assert "normed" in vectors
        else:
            assert "normed" not in vectors
            assert np.abs(vectors["output"] - added).max() > 1e-2
        assert (path.logits is None) == (place.site == "encoder")


@pytest.mark.parametrize("name", ["gpt2", "llama", "t5"])
@torch.no_grad()
def test_layers_end_where_those_of_the_library_do(opened, name):
    model = opened(name)
    inputs, found = passed(model)
    given = {"input_ids": inputs.target if inputs.source is None else inputs.source}
    if inputs.source is not None:
        given["decoder_input_ids"] = inputs.target
    own = model.model(**given, output_hidden_states=True)
    states = getattr(own, "decoder_hidden_states", None) or own.hidden_states
    layers = model.anatomy.layers("decoder")
    for layer in range(layers):
        path = layer_path(found, "decoder", layer)
        near(path.vectors["input"], states[layer][0])
        if layer + 1 < layers:
            near(path.vectors["layer"], states[layer + 1][0])
        near(path.vectors["stack"], states[-1][0])
        assert path.layers["decoder"] == layers
        assert path.norm == ("LayerNorm" if name == "gpt2" else "RMSNorm")
    embedded = layer_path(found, "decoder", 0).vectors
    positions = embedded["positions"] if name == "gpt2" else 0
    near(embedded["input"], embedded["tokens"] + positions)


def test_a_layer_counts_among_those_that_a_trace_has(opened):
    model = opened("gpt2")
    whole, one = model.trace("5 17 8"), model.trace("5 17 8", layers=[2])
    expected = model.layer_path(whole, "decoder", 2)
    found = model.layer_path(one, "decoder", 0)
    for name, vectors in expected.vectors.items():
        near(found.vectors[name], vectors)


def test_a_removed_head_adds_nothing_on_the_way(opened):
    model = opened("marian")
    trace = model.trace("5 17 8", ablate=[("cross", 1, 2)], max_new_tokens=4)
    heads = model.layer_path(trace, "cross", 1).vectors["heads"]
    by_head = heads.reshape(len(heads), model.anatomy.heads("cross"), -1)
    assert not by_head[:, 2].any()
    assert by_head[:, 1].any()


def test_a_family_whose_layers_are_no_sums_has_no_path(opened):
    model = opened("gemma2")
    with pytest.raises(ConfigError, match="layers of the family “gemma2” do not each add"):
        model.layer_path(model.trace("5 17 8"), "decoder", 0)
