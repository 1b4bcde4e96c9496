import copy
from dataclasses import replace

import numpy as np
import pytest
import torch

from explorer.core.errors import ConfigError
from explorer.model.explorable import ExplorableModel
from explorer.model.transformer import CrossAttention, SelfAttention


@pytest.fixture
def model(explorable):
    return explorable.transformer


def without_scaling(model):
    """The same model with queries √K times as long: scores as if they were not divided."""
    other, width = copy.deepcopy(model), model.config.d_model
    root = model.config.head_width**0.5
    with torch.no_grad():
        for module in other.modules():
            if isinstance(module, SelfAttention):
                module.query_key_value.weight[:width] *= root
                module.query_key_value.bias[:width] *= root
            elif isinstance(module, CrossAttention):
                module.query.weight *= root
                module.query.bias *= root
    return other


def without_mask(model):
    other = copy.deepcopy(model)
    other.config = replace(model.config, causal=False)
    return other


def without_positions(model):
    other = copy.deepcopy(model)
    for stack in (other.encoder, other.decoder):
        stack.embedding.positions.zero_()
    return other


BUILT = {"scaling": without_scaling, "mask": without_mask, "positions": without_positions}


@pytest.mark.parametrize("name", BUILT)
def test_a_part_left_out_equals_a_model_without_it(explorable, model, name):
    checkpoint = replace(explorable.checkpoint, model=BUILT[name](model))
    expected = ExplorableModel(checkpoint, "built").trace("1 2 3")
    found = explorable.trace("1 2 3", without=[name])
    plain = explorable.trace("1 2 3")
    assert found.predicted_tokens == expected.predicted_tokens
    for site in found.sites:
        np.testing.assert_allclose(found.attention(site), expected.attention(site), atol=1e-5)
        assert (found.mask(site) == expected.mask(site)).all()
    length = min(len(found.target_tokens), len(plain.target_tokens))
    one, other = (trace.attention("decoder")[:, :, :length, :length] for trace in (found, plain))
    assert not np.allclose(one, other, atol=1e-3)
    assert found.facts["without"] == [name]
    assert found.integrity().ok.all()
    again = explorable.trace("1 2 3")
    assert again.digest == plain.digest


def test_without_masks_padding_is_attended_to(explorable):
    trace = explorable.trace("1 2", pad_to=6, without="mask")
    assert trace.mask("cross").all()
    assert (trace.attention("cross")[..., 3:] > 0).all()
    assert trace.integrity().ok.all()


def test_another_part_is_refused(explorable):
    with pytest.raises(ConfigError, match="scaling, mask, positions"):
        explorable.trace("1 2", without=["norm"])
