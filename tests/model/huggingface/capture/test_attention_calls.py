import numpy as np
import pytest
import torch
import transformers

from explorer.model.huggingface.capture.attention_calls import (
    CAPTURE,
    Edit,
    recomputed,
    register,
    watching,
)
from explorer.model.huggingface.opening.loading import open_directory
from tests.support.huggingface_families import saved, tiny_model

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


_SPARSE = {
    "vocab_size": 64,
    "hidden_size": 24,
    "intermediate_size": 30,
    "moe_intermediate_size": 16,
    "num_attention_heads": 4,
    "n_routed_experts": 4,
    "num_experts_per_tok": 2,
    "n_group": 1,
    "topk_group": 1,
    "v_head_dim": 6,
    "max_position_embeddings": 40,
    "pad_token_id": None,
    "eos_token_id": None,
}
_CHOSEN = {
    "num_hidden_layers": 2,
    "num_key_value_heads": 4,
    "n_shared_experts": 1,
    "first_k_dense_replace": 1,
    "kv_lora_rank": 8,
    "q_lora_rank": 8,
    "qk_rope_head_dim": 4,
    "qk_nope_head_dim": 4,
    "index_n_heads": 2,
    "index_head_dim": 8,
    "index_topk": 3,
}
_SOME_SINKS = {
    "num_hidden_layers": 3,
    "num_key_value_heads": 2,
    "head_dim": 6,
    "sliding_window": 4,
    "layer_types": ["full_attention", "sliding_attention", "full_attention"],
}


@pytest.mark.parametrize(
    ("name", "sizes"), [("DeepseekV32", _CHOSEN), ("MiMoV2Flash", _SOME_SINKS)]
)
def test_chosen_keys_and_sinks_of_some_layers_are_the_librarys(tmp_path, name, sizes):
    """Each query of DeepSeek-V3.2 attends to the keys that it chose; of MiMo-V2 only layers with a
    window have sinks."""
    config = getattr(transformers, f"{name}Config", None)
    if config is None:
        pytest.skip("the library has no such family")
    torch.manual_seed(0)
    made = getattr(transformers, f"{name}ForCausalLM")(config(**_SPARSE, **sizes)).eval()
    with torch.no_grad():
        for parameter in made.parameters():
            parameter.add_(0.2 * torch.randn_like(parameter))
    trace = open_directory(saved(made, tmp_path)).trace("5 17 8 41 9 23", max_new_tokens=3)
    assert trace.integrity().ok.all()
    made.set_attn_implementation("eager")
    ids = torch.tensor([[int(token) for token in trace.target_tokens]])
    with torch.inference_mode():
        expected = made(ids, output_attentions=True).attentions
    for layer, weights in enumerate(expected):
        np.testing.assert_allclose(trace.attention("decoder")[layer], weights[0], atol=1e-6)
    if name == "DeepseekV32":
        assert (trace.mask("decoder", 0, 0).sum(-1) <= 3).all()
    else:
        assert trace.arrays["decoder.sink"].any((1, 2)).tolist() == [False, True, False]
