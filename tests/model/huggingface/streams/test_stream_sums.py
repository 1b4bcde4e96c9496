from types import SimpleNamespace

import pytest
import torch
from torch import nn

from explorer.core.errors import ConfigError
from explorer.model.huggingface.anatomy import Place
from explorer.model.huggingface.streams.stream_calls import AttentionCall, NormCall
from explorer.model.huggingface.streams.stream_sums import StreamSums

SUMS = StreamSums("invented", torch.float32)
NORM = nn.LayerNorm(6)


def normed(states):
    return NormCall(NORM, states, NORM(states).detach())


def attended(layer, added):
    place = Place("decoder", layer, layer, 2, 3)
    call = SimpleNamespace(weights=None)
    return AttentionCall(place, call, None, None, projection=nn.Linear(6, 6), added=added)


def calls(pre):
    """Calls of two layers, and the streams behind each of their four sublayers."""
    torch.manual_seed(3)
    x, events, after = torch.randn(4, 6), [], []
    for layer in range(2):
        for sublayer in ("attention", "feed_forward"):
            added = torch.randn(4, 6)
            if pre:
                events.append(normed(x))
            if sublayer == "attention":
                events.append(attended(layer, added))
            x = x + added
            if not pre:
                events.append(normed(x))
                x = events[-1].output
            after.append(x)
    if pre:
        events.append(normed(x))
    return events, after


@pytest.mark.parametrize("pre", [True, False])
def test_each_sublayer_adds_to_the_stream(pre):
    events, after = calls(pre)
    stack = SUMS.stack(events, [])
    kinds = [(one.kind, one.layer, one.pre) for one in stack.sublayers]
    both = ("decoder", "feed_forward")
    assert kinds == [(kind, layer, pre) for layer in range(2) for kind in both]
    for sublayer, expected in zip(stack.sublayers, after, strict=True):
        torch.testing.assert_close(sublayer.after, expected)
    assert (stack.last is not None) == pre
    torch.testing.assert_close(stack.layer_outputs[-1], stack.output)


@pytest.mark.parametrize("changed", [1, 4])
def test_a_call_that_is_no_summand_is_refused(changed):
    events, _ = calls(pre=True)
    events[changed].added += 1
    with pytest.raises(ConfigError, match="invented"):
        SUMS.stack(events, [])
