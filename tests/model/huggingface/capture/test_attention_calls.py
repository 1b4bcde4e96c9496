import torch

from explorer.model.huggingface.capture.attention_calls import (
    CAPTURE,
    Edit,
    recomputed,
    register,
    watching,
)
from tests.support.huggingface_families import tiny_model

IDS = torch.tensor([[5, 17, 8, 41]])


def watched_model(name):
    register()
    model = tiny_model(name)
    model.set_attn_implementation(CAPTURE)
    return model


def test_calls_are_recorded_only_while_somebody_watches():
    model = watched_model("albert")
    with torch.inference_mode():
        plain = model(IDS).logits
        with watching() as watch:
            seen = model(IDS).logits
        with watching(record=False) as silent:
            model(IDS)
    assert torch.equal(plain, seen)
    assert len(watch.calls) == 3  # one module runs as every layer
    assert len({id(call.module) for call in watch.calls}) == 1
    assert (silent.calls, silent.count) == ([], 3)


def test_a_mask_is_there_also_where_everything_is_unmasked():
    model = watched_model("bert")
    with torch.inference_mode(), watching() as watch:
        model(IDS)
    assert all(torch.equal(call.mask, torch.zeros(1, 1, 4, 4)) for call in watch.calls)


def test_weights_are_recomputed_from_queries_keys_mask_and_bias():
    for name in ("albert", "gemma2", "gpt_oss"):
        model = watched_model(name)
        with torch.inference_mode(), watching() as watch:
            model(IDS)
        for call in watch.calls:
            weights, sink = recomputed(call)
            torch.testing.assert_close(weights, call.weights, atol=1e-6, rtol=0)
            assert (sink is not None) == (name == "gpt_oss")
            if sink is not None:
                ones = torch.ones_like(sink)
                torch.testing.assert_close(weights.sum(-1) + sink, ones, atol=1e-5, rtol=0)
                assert (call.weights.sum(-1) < 1).all()


def test_edited_weights_are_mixed_from_the_values_of_shared_keys():
    model = watched_model("llama")
    first = torch.zeros(1, 4, 4, 4)
    first[..., 0] = 1
    with torch.inference_mode(), watching({1: Edit(weights=lambda *_: first)}) as watch:
        model(IDS)
    call = watch.calls[1]
    assert torch.equal(call.weights, first)
    expected = call.value[:, [0, 0, 1, 1], 0]  # (B, H, width): two heads share each value
    for query in range(4):
        torch.testing.assert_close(call.output[:, query], expected)
