import threading

import numpy as np
import pytest
import torch

from explorer.core.errors import ConfigError
from explorer.model.huggingface.capture.verification import probe
from explorer.model.huggingface.streams.residual_reading import residual_pass
from tests.support.huggingface_families import TESTED

NO_SUMS = {"modernbert", "gemma2", "gemma3_text", "olmo2", "gpt_neox"}


def read(model):
    inputs = probe(model.model, model.kind, model.tokens.size, model.positions)
    return inputs, residual_pass(model.model, model.anatomy, inputs)


@pytest.mark.parametrize("name", sorted({*TESTED, "gpt2", "llama", "bert", "bart"}))
def test_the_stream_is_that_of_the_library(opened, name):
    model = opened(name)
    if name in NO_SUMS:
        with pytest.raises(ConfigError) as caught:
            read(model)
        assert caught.value.key == "no_stream"
        return
    inputs, found = read(model)
    with torch.no_grad():
        given = {"input_ids": inputs.target if inputs.source is None else inputs.source}
        if "decoder" in found.stacks and inputs.source is not None:
            given["decoder_input_ids"] = inputs.target
        own = model.model(**given, output_hidden_states=True)
    states = {
        stack: getattr(own, f"{stack}_hidden_states", None) or getattr(own, "hidden_states", None)
        for stack in found.stacks
    }
    for stack, read_stack in found.stacks.items():
        expected = states[stack]
        np.testing.assert_allclose(read_stack.embedding, expected[0][0], rtol=0, atol=1e-4)
        np.testing.assert_allclose(read_stack.output, expected[-1][0], rtol=0, atol=1e-4)
        ends = [one.after for one in read_stack.sublayers if one.kind == "feed_forward"]
        for end, state in zip(ends[:-1], expected[1:-1], strict=True):
            np.testing.assert_allclose(end, state[0], rtol=0, atol=1e-4)
        sites = [one.kind for one in read_stack.sublayers if one.attention]
        assert len(sites) == sum(model.anatomy.layers(site) for site in set(sites))
    if found.to_logits:
        logits = found.to_logits.logits(found.stacks["decoder"].output)
        np.testing.assert_allclose(logits, own.logits[0], rtol=0, atol=1e-4)
        weight, bias = found.to_logits.rows([4, 5])
        rows = found.stacks["decoder"].output.double() @ weight.T + bias
        np.testing.assert_allclose(rows, own.logits[0, :, 4:6], rtol=0, atol=1e-4)


def test_logits_with_a_cap_are_no_linear_map(opened):
    model = opened("llama")
    head = model.model.get_output_embeddings()
    handle = head.register_forward_hook(lambda _, given, output: torch.tanh(output / 2))
    try:
        assert read(model)[1].to_logits is None
    finally:
        handle.remove()


def test_threads_that_share_a_model_read_their_own_passes(opened):
    model, found = opened("gpt2"), {}
    alone = read(model)[1].stacks["decoder"].output

    def run(number):
        for _ in range(3):
            found[number] = read(model)[1].stacks["decoder"].output

    threads = [threading.Thread(target=run, args=(number,)) for number in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(torch.equal(one, alone) for one in found.values())
    assert len(found) == 3


def test_nothing_stays_registered(opened):
    def hooks(model):
        return [
            hook
            for module in model.model.modules()
            for hook in (*module._forward_hooks, *module._forward_pre_hooks)
        ]

    model = opened("bart")
    before = hooks(model)
    read(model)
    assert hooks(model) == before
