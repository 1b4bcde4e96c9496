"""A pass of a model of the library whose sublayers are silenced."""

from threading import Thread
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import Tensor

import explorer
from explorer.model.huggingface import silenced_pass
from explorer.model.huggingface.anatomy import Kind
from explorer.model.huggingface.inputs import Inputs
from explorer.model.huggingface.passes import full_pass
from explorer.model.huggingface.silenced_pass import silenced_calls
from explorer.model.huggingface.traced_model import HuggingFaceModel
from tests.support.huggingface_families import tiny_model

IDS = torch.tensor([[5, 6, 7, 8], [9, 5, 9, 5]])
FEED_FORWARD = ("mlp.c_proj", "down_proj", "fc2", "wo", "output.dense")


def inputs(model: HuggingFaceModel, ids: Tensor) -> Inputs:
    """`ids` in every stack."""
    source = None if model.kind == Kind.DECODER_ONLY else ids
    target = None if model.kind == Kind.ENCODER_ONLY else ids
    masks = (None if one is None else torch.ones_like(one) for one in (source, target))
    return Inputs(source, next(masks), target, next(masks))


def silenced(model: HuggingFaceModel) -> list[NDArray[Any]]:
    """The weights of every self-attention, in a pass over `IDS`."""
    stacks = model.residuals_of(inputs(model, IDS[:1])).stacks
    found = silenced_calls(model.model, model.anatomy, stacks, inputs(model, IDS))
    return [call.weights.numpy() for _, call in found]


@torch.inference_mode()
def as_it_is(model: HuggingFaceModel) -> list[NDArray[Any]]:
    """The same, with what the sublayers add."""
    done = full_pass(model.model, model.anatomy, inputs(model, IDS), record=True)
    calls = [(model.anatomy.encoder, done.encoder), (model.anatomy.decoder, done.decoder)]
    return [
        call.weights.numpy()
        for places, called in calls
        for place, call in zip(places, called, strict=False)
        if place.site != "cross"
    ]


@pytest.mark.parametrize("family", ["gpt2", "llama", "opt", "bert", "bart", "t5", "marian"])
@torch.inference_mode()
def test_it_is_the_pass_of_a_model_whose_sublayers_have_weights_of_0(family):
    model = explorer.wrap(tiny_model(family))
    found = silenced(model)
    stacks = model.residuals_of(inputs(model, IDS[:1])).stacks.values()
    own = [one.attention for stack in stacks for one in stack.sublayers if one.attention]
    projections = [attention.projection for attention in own]
    for name, module in model.model.named_modules():
        if module in projections or name.endswith(FEED_FORWARD):
            for parameter in module.parameters():
                parameter.zero_()
    expected = as_it_is(model)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-6)


def test_other_threads_that_share_the_model_do_not_see_it(monkeypatch):
    model = explorer.wrap(tiny_model("gpt2"))
    expected, others = as_it_is(model), []

    def with_another_thread(*given: Any, **options: Any) -> Any:
        thread = Thread(target=lambda: others.extend(as_it_is(model)))
        thread.start()
        thread.join()
        return full_pass(*given, **options)

    monkeypatch.setattr(silenced_pass, "full_pass", with_another_thread)
    found = silenced(model)
    for one, other in zip(others, expected, strict=True):
        np.testing.assert_array_equal(one, other)
    assert not np.allclose(found[-1], expected[-1], atol=1e-3)
    assert not any(module._forward_pre_hooks for module in model.model.modules())
