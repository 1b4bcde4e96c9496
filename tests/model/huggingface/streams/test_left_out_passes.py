"""Leave-one-out against a loop is in `tests/heads/contributions/test_leave_one_out.py`."""

import pytest
import torch

from explorer.core.errors import ConfigError
from explorer.model.huggingface.inputs import Inputs
from explorer.model.huggingface.streams.left_out_passes import library_left_out, refuse_leaks


def ones(ids):
    return ids, torch.ones_like(ids)


def inputs_of(source=None, target=(5, 17, 8, 41)):
    read = (None, None) if source is None else ones(torch.tensor([source]))
    return Inputs(*read, *ones(torch.tensor([target])))


def passes_of(model, source=None, target=(5, 17, 8, 41)):
    return library_left_out(model.passes, inputs_of(source, target))


@pytest.mark.parametrize("name", ["gpt2", "llama", "t5", "bart"])
@torch.no_grad()
def test_a_token_that_is_left_out_may_be_any_other(opened, name):
    model = opened(name)
    source = None if name in ("gpt2", "llama") else (9, 30, 6)
    left_out = torch.tensor([1])
    one = passes_of(model, source).without_target(left_out).whole()
    other = passes_of(model, source, (5, 23, 8, 41)).without_target(left_out).whole()
    assert torch.equal(one, other)
    assert not torch.allclose(one, passes_of(model, source).whole().whole())
    if source is not None:
        one = passes_of(model, source).without_source(left_out).whole()
        other = passes_of(model, (9, 44, 6)).without_source(left_out).whole()
        assert torch.equal(one, other)


@torch.no_grad()
def test_without_its_only_token_nothing_is_read_from_the_source(opened):
    left_out = torch.tensor([0])
    one, other = (passes_of(opened("bart"), (token,)).without_source(left_out) for token in (9, 44))
    assert torch.equal(one.whole(), other.whole())
    assert one.whole().isfinite().all()


@torch.no_grad()
def test_source_tokens_that_mix_besides_attention_are_refused(opened):
    model = opened("bart")
    layer = model.model.get_submodule("model.encoder.layers.0.fc2")
    given = model.passes, inputs_of((9, 30, 6))
    refuse_leaks(*given, [3, 5])
    handle = layer.register_forward_hook(lambda _, given, output: output.cumsum(1))
    try:
        with pytest.raises(ConfigError, match="“bart” a token has an effect on others besides"):
            refuse_leaks(*given, [3, 5])
    finally:
        handle.remove()


def test_padding_is_of_no_side(opened):
    given = Inputs(target=torch.tensor([[0, 0, 5]]), target_mask=torch.tensor([[0, 0, 1]]))
    model = opened("gpt2")
    source, target = library_left_out(model.passes, given).sides
    assert not len(source)
    assert target.tolist() == [False, False, True]
