import torch
from torch import nn

from explorer.model.huggingface.streams.read_streams import LogitMap, ReadStack, ReadSublayer
from explorer.model.huggingface.streams.stream_calls import NormCall


def test_logits_are_scaled_products_and_a_bias():
    torch.manual_seed(1)
    weight, bias, states = torch.randn(7, 4), torch.randn(7), torch.randn(3, 4)
    expected = 0.5 * states @ weight.T
    torch.testing.assert_close(LogitMap(weight, None, 0.5).logits(states), expected)
    own = LogitMap(weight, bias, 0.5)
    torch.testing.assert_close(own.logits(states), expected + bias)
    rows, biases = own.rows([6, 2])
    found = states.double() @ rows.T + biases
    torch.testing.assert_close(found.float(), (expected + bias)[:, [6, 2]])


def test_layers_are_read_by_the_last_norm():
    norm, states = nn.LayerNorm(4), torch.randn(2, 3, 4)
    own = NormCall(norm, states[0], norm(states[0]).detach())
    first = ReadSublayer("feed_forward", 0, states[0], states[1], own, None, pre=True)
    last = NormCall(norm, first.after, norm(first.after).detach())
    stack = ReadStack((first,), last, {}, None)
    torch.testing.assert_close(stack.layer_outputs[0].detach(), stack.output)
    assert torch.equal(stack.embedding, states[0])
