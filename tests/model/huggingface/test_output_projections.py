import numpy as np
import pytest
import torch

from explorer.core.errors import ConfigError
from explorer.heads.contributions.value_norms import value_norms
from explorer.model.huggingface.anatomy import Kind
from tests.support.huggingface_families import FAMILIES, TESTED

TEXT = "5 17 8 30"


@pytest.mark.parametrize("name", TESTED)
def test_value_norms_are_those_of_the_vectors_that_are_added(opened, name):
    """The vector that a key adds, from the family's own module of which the path is known."""
    model = opened(name)
    most = None if model.kind == Kind.ENCODER_ONLY else 4
    trace = model.trace(TEXT, max_new_tokens=most, capture="full")
    norms = value_norms(model, trace)
    assert set(norms) == set(trace.sites)
    for site, where in FAMILIES[name].projection.items():
        layer, head = trace.attention(site).shape[0] - 1, 1
        module = model.model.get_submodule(where.format(layer))
        value = torch.from_numpy(trace.values(site)[layer].copy())  # (head, key, width)
        alone = torch.zeros_like(value)
        alone[head] = value[head]
        with torch.inference_mode():
            rows = alone.transpose(0, 1).flatten(1)  # (key, head · width)
            added = module(rows) - module(torch.zeros_like(rows))
        expected = trace.attention(site)[layer, head] * added.norm(dim=-1).numpy()
        np.testing.assert_allclose(norms[site][layer, head], expected, rtol=1e-4, atol=1e-5)


def test_a_part_of_the_layers_has_its_own_projections(opened):
    model = opened("marian")
    whole, part = (
        model.trace(TEXT, max_new_tokens=3, capture="full", **chosen)
        for chosen in ({}, {"layers": [1], "sites": ["cross"]})
    )
    own, all_norms = value_norms(model, part)["cross"], value_norms(model, whole)["cross"]
    np.testing.assert_allclose(own[0], all_norms[1], rtol=1e-5)


def test_a_family_that_changes_the_outputs_of_heads_first_has_none(opened):
    model = opened("marian")
    module = model.model.get_submodule(FAMILIES["marian"].projection["cross"].format(0))
    handle = module.register_forward_pre_hook(lambda _, given: (2 * given[0],), prepend=True)
    try:
        with pytest.raises(ConfigError) as caught:
            model.output_weights()
        assert caught.value.key == "no_projection"
    finally:
        handle.remove()
