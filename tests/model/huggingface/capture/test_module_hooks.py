from concurrent.futures import ThreadPoolExecutor

import pytest
import torch
from torch import nn

from explorer.model.huggingface.capture.module_hooks import hooked, watch
from explorer.model.huggingface.capture.verification import probe
from explorer.model.huggingface.streams.layer_outputs import layer_paths
from explorer.model.points import Point, kept


def watched(module):
    watch(module)
    return module


def test_a_hook_may_replace_the_output_and_is_gone_behind_the_block():
    module, seen = watched(nn.Linear(3, 3)), []
    given = torch.ones(1, 3)
    plain = module(given)
    with hooked([(module, lambda *call: seen.append(call))]):
        assert torch.equal(module(given), plain)
    assert [(one[0], one[1]) for one in seen] == [(module, given)]
    assert torch.equal(seen[0][2], plain)
    with hooked([(module, lambda _, first, output: first + output)]):
        assert torch.equal(module(given), given + plain)
    assert torch.equal(module(given), plain)


def test_hooks_of_one_module_are_called_in_turn():
    module, given = watched(nn.Linear(3, 3)), torch.ones(1, 3)
    plain = module(given)
    doubled = (module, lambda _, __, output: 2 * output)
    with hooked([doubled, (module, lambda _, first, output: first + output)]):
        assert torch.equal(module(given), given + 2 * plain)
        with hooked([doubled]):
            assert torch.equal(module(given), 2 * (given + 2 * plain))


def test_a_module_that_is_not_watched_is_refused_and_watching_twice_does_no_harm():
    module = nn.Linear(3, 3)
    with pytest.raises(AssertionError, match="Linear"), hooked([(module, print)]):
        pass
    watch(module)
    watch(module)
    assert len(module._forward_hooks) == 1


def test_states_given_by_name_are_the_first_argument():
    class Layer(nn.Module):
        def forward(self, hidden_states):
            return hidden_states

    layer, seen = watched(Layer()), []
    with hooked([(layer, lambda _, first, __: seen.append(first))]):
        layer(hidden_states=torch.ones(1))
    assert torch.equal(seen[0], torch.ones(1))


def test_other_threads_are_not_seen():
    module = watched(nn.Linear(3, 3))
    given = torch.ones(1, 3)
    plain = module(given)
    with hooked([(module, lambda *_: torch.zeros(1, 3))]), ThreadPoolExecutor(1) as pool:
        assert torch.equal(pool.submit(module, given).result(), plain)
        assert not module(given).any()


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


def test_eight_threads_with_readers_and_actions_of_their_own_share_one_model(opened):
    """Each run equals, to the last bit, the same one alone."""
    model = opened("gpt2")
    batch = model.passes.begun(["5 17 8 41", "9 2 30"], [None, None], "two")
    residuals, heads = (model.passes.points(kind) for kind in ("residual", "heads"))

    def one(number):
        point = (residuals if number % 2 else heads)[number % 3]
        readers, values = kept([residuals[-1], Point("pattern", "decoder", number % 3)])
        actions = {point: lambda value: value * (number / 8)}
        with torch.inference_mode():
            logits = model.passes.run(batch, actions, readers).whole()
        return [logits, *values.values()]

    expected = [one(number) for number in range(8)]

    def same(number):
        return all(map(torch.equal, one(number % 8), expected[number % 8]))

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(same, range(200)))
    assert not torch.equal(expected[1][0], expected[2][0])
