from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import torch
from torch import nn

from explorer.model.huggingface.capture.verification import probe
from explorer.model.huggingface.streams.layer_outputs import layer_paths
from explorer.model.huggingface.streams.module_hooks import hooked


def test_a_hook_may_replace_the_output_and_is_gone_behind_the_block():
    module, seen = nn.Linear(3, 3), []
    given = torch.ones(1, 3)
    plain = module(given)
    with hooked([(module, lambda *call: seen.append(call))]):
        assert torch.equal(module(given), plain)
    assert [(one[0], one[1]) for one in seen] == [(module, given)]
    assert torch.equal(seen[0][2], plain)
    with hooked([(module, lambda _, first, output: first + output)]):
        assert torch.equal(module(given), given + plain)
    assert not module._forward_hooks


def test_states_given_by_name_are_the_first_argument():
    class Layer(nn.Module):
        def forward(self, hidden_states):
            return hidden_states

    layer, seen = Layer(), []
    with hooked([(layer, lambda _, first, __: seen.append(first))]):
        layer(hidden_states=torch.ones(1))
    assert torch.equal(seen[0], torch.ones(1))


def test_other_threads_are_not_seen():
    module = nn.Linear(3, 3)
    given = torch.ones(1, 3)
    plain = module(given)
    with hooked([(module, lambda *_: torch.zeros(1, 3))]), ThreadPoolExecutor(1) as pool:
        assert torch.equal(pool.submit(module, given).result(), plain)
        assert not module(given).any()


def test_a_block_of_another_thread_may_end_while_a_module_runs():
    module, given, stack = nn.Linear(3, 3), torch.ones(1, 3), ExitStack()
    plain = module(given)
    ends_the_block = module.register_forward_hook(lambda *_: stack.close())
    block = hooked([(module, lambda *_: torch.zeros(1, 3))])
    with ThreadPoolExecutor(1) as pool:
        pool.submit(stack.enter_context, block).result()
    assert torch.equal(module(given), plain)
    ends_the_block.remove()
    assert not module._forward_hooks


def test_layers_are_found_while_another_thread_uses_the_model(opened):
    model = opened("gpt2")
    inputs = probe(model.model, model.kind, model.tokens.size, model.positions)
    alone = layer_paths(model.model, model.anatomy, inputs)
    with ThreadPoolExecutor(1) as pool:
        traced = [pool.submit(model.trace, "5 17 8 41") for _ in range(5)]
        found = [layer_paths(model.model, model.anatomy, inputs) for _ in range(20)]
        for one in traced:
            one.result()
    assert all(one == alone for one in found)
