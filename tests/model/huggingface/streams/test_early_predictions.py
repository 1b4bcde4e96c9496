"""Against the library's own class with fewer layers."""

from copy import deepcopy

import numpy as np
import pytest

from explorer.core.errors import TraceError
from explorer.model.huggingface.opening.wrapping import wrapped
from tests.support.huggingface_families import tiny_model

TEXT = "5 17 8 30"
LAYERS = {
    "gpt2": "transformer.h",
    "llama": "model.layers",
    "qwen3": "model.layers",
    "bart": "model.decoder.layers",
    "marian": "model.decoder.layers",
    "t5": "decoder.block",
}


def shortened(model, path, layers):
    """A copy of `model` with the first `layers` layers."""
    short = deepcopy(model)
    parent, _, name = path.rpartition(".")
    setattr(short.get_submodule(parent), name, short.get_submodule(path)[:layers])
    for size in ("n_layer", "num_hidden_layers", "decoder_layers", "num_decoder_layers"):
        if size in short.config.to_dict():
            setattr(short.config, size, layers)
    return short


@pytest.mark.parametrize("name", LAYERS)
def test_they_are_those_of_a_model_that_ends_there(name):
    model = tiny_model(name)
    trace = wrapped(model, None, name).trace(TEXT, target="9 4", capture="full")
    table = trace.early_predictions()
    assert set(table.layer) == {0, 1, 2}
    for layer in range(3):
        short = wrapped(shortened(model, LAYERS[name], layer + 1), None, "short")
        steps = short.trace(TEXT, target="9 4").steps()
        expected = steps[steps["rank"] <= 3].sort_values(["step", "rank"])
        found = table[table.layer == layer]
        assert found.id.tolist() == expected.id.tolist()
        assert found.token.tolist() == expected.token.tolist()
        np.testing.assert_allclose(found.probability, expected.probability, rtol=0, atol=1e-5)


def test_a_part_of_the_layers_has_its_own(opened):
    whole, one = (
        opened("marian").trace(TEXT, target="9 4", capture="full", layers=layers)
        for layers in (None, [1])
    )
    table = whole.early_predictions()
    own = one.early_predictions()
    assert set(own.layer) == {1}
    expected = table[table.layer == 1].probability
    np.testing.assert_allclose(own.probability, expected, rtol=0, atol=1e-6)


def test_other_families_and_encoders_have_none(opened):
    trace = opened("gemma2").trace(TEXT, max_new_tokens=2, capture="full")
    with pytest.raises(TraceError, match="family “gemma2” do not each add to one"):
        trace.early_predictions()
    with pytest.raises(TraceError, match="early predictions"):
        opened("bert").trace(TEXT, capture="full").early_predictions()
    with pytest.raises(TraceError, match="early predictions"):
        opened("marian").trace(TEXT, max_new_tokens=2).early_predictions()
