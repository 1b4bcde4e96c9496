from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
import torch

from explorer.core.errors import ConfigError
from explorer.model.huggingface.anatomy import Kind
from explorer.model.huggingface.streams.layer_outputs import acting_on_layers
from explorer.model.points import kept
from tests.support.huggingface_families import TESTED

TEXTS = ("5 17 8 41 9 23", "5 17 30 41 9 7")
FAMILIES = dict.fromkeys([*TESTED, "albert", "gpt2"])


def passes_of(model):
    """The passes of a model; one that fills in masks has 41 as its mask."""
    if model.kind != Kind.ENCODER_ONLY:
        return model.passes

    class WithMask(type(model.tokens)):
        mask_id = 41

    return replace(model.passes, tokens=WithMask(None, model.tokens.size))


def batches_of(passes):
    prefix = "8 9" if passes.kind == Kind.ENCODER_DECODER else None
    return [passes.begun([text], [prefix], "one") for text in TEXTS]


@pytest.mark.parametrize("name", FAMILIES)
@torch.no_grad()
def test_the_states_after_the_last_layer_are_all_that_the_logits_depend_on(opened, name):
    passes = passes_of(opened(name))
    clean, corrupted = batches_of(passes)
    points = passes.points("residual")
    plain = passes.labelled_logits(clean)
    readers, values = kept(points)
    assert torch.equal(passes.labelled_logits(clean, readers=readers), plain)
    assert (passes.labelled_logits(corrupted, {}) - plain).abs().max() > 1e-3
    last = {point.site: point for point in points}.values()
    for copies in (1, 3):
        put = {point: lambda value, own=values[point]: own.expand_as(value) for point in last}
        found = passes.labelled_logits(corrupted, put, copies=copies)
        torch.testing.assert_close(found, plain.expand_as(found), atol=1e-5, rtol=1e-5)


def test_one_module_may_be_every_layer(opened):
    model = opened("albert")
    paths = model.passes._layers["encoder"]
    assert len(paths) == model.anatomy.layers("encoder")
    assert len(set(paths)) == 1


def test_states_that_change_between_the_layers_are_no_residual_stream(opened):
    model = opened("gpt2")
    layer = model.model.get_submodule("transformer.h.1")
    handle = layer.register_forward_pre_hook(lambda _, given: (2 * given[0], *given[1:]))
    try:
        with pytest.raises(ConfigError, match="“gpt2” is not found between its layers"):
            replace(model.passes).points("residual")
    finally:
        handle.remove()


@torch.no_grad()
def test_other_threads_that_share_the_model_do_not_see_the_action(opened):
    passes = opened("gpt2").passes
    batch, _ = batches_of(passes)
    plain = passes.labelled_logits(batch, {})
    actions = {passes.points("residual")[0]: torch.zeros_like}
    assert not torch.allclose(passes.labelled_logits(batch, actions), plain)

    @torch.no_grad()
    def elsewhere():
        return passes.labelled_logits(batch, {})

    with acting_on_layers(passes.model, passes._layers, actions), ThreadPoolExecutor(1) as pool:
        assert torch.equal(pool.submit(elsewhere).result(), plain)
    assert torch.equal(passes.labelled_logits(batch, {}), plain)
