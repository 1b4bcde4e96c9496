"""Models of the library: sums against the family's own pass, and GPT-2 against slices of its own
weights."""

from itertools import product

import numpy as np
import pytest
import torch

from explorer.core.errors import ConfigError
from explorer.heads.contributions.contributions import contributions
from explorer.heads.contributions.library_stream import library_pass, library_sublayers
from explorer.heads.contributions.logit_attribution import logit_attribution
from explorer.heads.contributions.score_parts import score_parts
from explorer.model.huggingface.opening.wrapping import wrapped
from tests.support.huggingface_families import tiny_model

TEXT = "5 17 8 30"
DECODING = ("gpt2", "llama", "qwen2", "qwen3", "bart", "marian", "mbart", "t5", "gemma", "opt")


@pytest.mark.parametrize("options", [{}, {"target": "9 4"}, {"prefix": "9 4"}])
@pytest.mark.parametrize("name", DECODING)
def test_parts_and_remainder_are_the_difference_of_the_logits(tiny, name, options):
    model = tiny(name)
    found = logit_attribution(model, TEXT, **{"max_new_tokens": 4, **options})
    total = found.parts.groupby("step").value.sum().to_numpy() + found.remainder
    np.testing.assert_allclose(total, found.difference, rtol=0, atol=1e-4)
    steps = found.trace.steps()
    chosen = np.log(steps[steps.chosen].probability.to_numpy())
    others = steps[~steps.chosen].drop_duplicates("step").probability.to_numpy()
    np.testing.assert_allclose(found.difference, chosen - np.log(others), rtol=0, atol=1e-4)
    assert set(found.parts.site) == {"decoder", "cross"} & set(found.trace.sites)


def test_interventions_are_part_of_the_pass(tiny):
    found = logit_attribution(tiny("bart"), TEXT, target="9 4", ablate=[("cross", 1, 2)])
    removed = found.parts.query("site == 'cross' and layer == 1 and head == 2").value
    assert (removed == 0).all()
    total = found.parts.groupby("step").value.sum().to_numpy() + found.remainder
    np.testing.assert_allclose(total, found.difference, rtol=0, atol=1e-4)


@torch.no_grad()
def test_the_heads_of_gpt2_are_slices_of_its_own_weights(tiny):
    """z_h W_O^h, from c_attn and c_proj cut by hand, carried through the last LayerNorm."""
    model = tiny("gpt2")
    found = logit_attribution(model, TEXT, target="9 4")
    ids = torch.tensor([[5, 17, 8, 30, 9, 4]])
    own = model.model.double()
    try:
        states = own(ids, output_hidden_states=True).hidden_states
        caught = []
        hook = own.transformer.ln_f.register_forward_pre_hook(lambda _, given: caught.append(given))
        own(ids)
        hook.remove()
        end = caught[0][0][0]
        scale = (end.var(-1, unbiased=False, keepdim=True) + own.transformer.ln_f.eps).sqrt()
        steps = found.trace.steps()
        chosen = steps[steps.chosen].id.tolist()
        others = steps[~steps.chosen].drop_duplicates("step").id.tolist()
        direction = own.lm_head.weight[chosen] - own.lm_head.weight[others]  # (T, D)
        for layer, block in enumerate(own.transformer.h):
            read = block.ln_1(states[layer][0])
            of_heads = (read @ block.attn.c_attn.weight + block.attn.c_attn.bias).chunk(3, -1)
            for head in range(3):
                part = slice(8 * head, 8 * head + 8)
                query, key, value = (one[:, part] for one in of_heads)
                scores = query @ key.T / 8**0.5 / (layer + 1)
                scores += torch.full_like(scores, -torch.inf).triu(1)
                vector = scores.softmax(-1) @ value @ block.attn.c_proj.weight[part]
                moved = (vector - vector.mean(-1, keepdim=True)) / scale
                expected = (own.transformer.ln_f.weight * moved * direction).sum(-1)
                values = found.parts.query("layer == @layer and head == @head").value
                np.testing.assert_allclose(values, expected, rtol=0, atol=1e-4)
    finally:
        model.model.float()


@pytest.mark.parametrize("name", [*DECODING, "bert", "distilbert", "electra", "gpt_oss"])
def test_the_vectors_of_an_attention_sum_to_its_output(tiny, name):
    model = tiny(name)
    most = 4 if model.decodes else None
    trace = model.trace(TEXT, max_new_tokens=most)
    sublayers = library_sublayers(library_pass(model, trace))
    assert {one.site for one in sublayers} == set(trace.sites)
    for one in sublayers:
        np.testing.assert_allclose(one.weights, trace.attention(one.site)[one.layer], atol=1e-6)
        rows = slice(None)
        total = one.vectors(rows).sum(1) + one.constant(rows)
        error = (total - one.output).abs().max() / max(1.0, one.output.abs().max())
        assert error < 1e-5


@pytest.mark.parametrize("method", ["alti", "value_norm", "value_norm_residual", "rollout"])
@pytest.mark.parametrize("name", ["gpt2", "qwen3", "marian", "t5", "bert"])
def test_rows_of_contributions_sum_to_one(tiny, name, method):
    model = tiny(name)
    found = contributions(model, TEXT, method, target="9 4" if model.decodes else None)
    np.testing.assert_allclose(found.matrix.sum(-1), 1, rtol=0, atol=1e-6)
    source, rows = len(found.source_tokens), len(found.predicted_tokens)
    assert found.matrix.shape == (rows, len(found.tokens))
    prefix = found.matrix[:, source:]
    assert not prefix[~np.tri(*prefix.shape, dtype=bool)].any()
    assert len(found.table()) > 0


@torch.no_grad()
def test_alti_of_gpt2_is_that_of_its_own_weights(tiny):
    """Every vector by itself, head by head, and the shares multiplied."""
    model = tiny("gpt2")
    found = contributions(model, TEXT, "alti", target="9 4")
    ids = torch.tensor([[5, 17, 8, 30, 9, 4]])
    behind = []  # what each attention and its residual connection give
    hooks = [
        block.ln_2.register_forward_pre_hook(lambda _, given: behind.append(given[0][0]))
        for block in model.model.transformer.h
    ]
    states = model.model(ids, output_hidden_states=True).hidden_states
    for hook in hooks:
        hook.remove()
    trace = model.trace(TEXT, target="9 4")
    joined = np.eye(6)
    for layer, block in enumerate(model.model.transformer.h):
        x = states[layer][0]
        value = (block.ln_1(x) @ block.attn.c_attn.weight + block.attn.c_attn.bias)[:, 48:]
        y = behind[layer]
        shares = np.zeros((6, 6))
        for query, key in np.ndindex(6, 6):
            vector = x[query] if query == key else torch.zeros(24)
            for head in range(3):
                part = slice(8 * head, 8 * head + 8)
                weight = float(trace.attention("decoder")[layer, head, query, key])
                vector = vector + weight * value[key, part] @ block.attn.c_proj.weight[part]
            closer = y[query].abs().sum() - (y[query] - vector).abs().sum()
            shares[query, key] = max(0.0, float(closer))
        joined = shares / shares.sum(-1, keepdims=True) @ joined
    np.testing.assert_allclose(found.matrix, joined, rtol=0, atol=1e-4)


@pytest.mark.parametrize("name", ["gemma2", "gpt_neox", "olmo2", "modernbert"])
def test_a_family_whose_layers_are_no_sums_is_refused_in_a_sentence(tiny, name):
    with pytest.raises(ConfigError, match=f"layers of the family “{name}” do not each add"):
        contributions(tiny(name), TEXT)
    assert contributions(tiny(name), TEXT, "rollout").matrix.shape[0] > 0


def test_what_a_model_does_not_give_is_refused_in_a_sentence(tiny):
    with pytest.raises(ConfigError, match="“bert” predicts no next tokens"):
        logit_attribution(tiny("bert"), TEXT)
    with pytest.raises(ConfigError, match="“bert” predicts no next tokens"):
        contributions(tiny("bert"), TEXT, "leave_one_out")
    half = wrapped(tiny_model("gpt2").to(torch.bfloat16), None, "half")
    for method in ("alti", "leave_one_out"):
        with pytest.raises(ConfigError, match="“half” computes in half precision"):
            contributions(half, TEXT, method)
    with pytest.raises(ConfigError, match=r"“qwen3” changes queries or keys .* as a norm"):
        score_parts(tiny("qwen3"), TEXT, "decoder", 0, 0, 1, 0)


ROTARY = ("llama", "qwen2", "phi3", "gemma")  # with all heads, shared keys, one layer for all


@pytest.mark.parametrize(
    "name", ["gpt2", "bart", "marian", "mbart", "m2m_100", "t5", "bert", "opt", *ROTARY]
)
def test_the_parts_of_a_score_are_it(tiny, name):
    model = tiny(name)
    options = {"target": "9 4"} if model.decodes else {}
    for site in model.trace(TEXT, **options).sites:
        for layer, head, query, key in [(0, 1, 2, 1), (1, 2, 1, 0)]:
            found = score_parts(model, TEXT, site, layer, head, query, key, **options)
            error = abs(found.parts.value.sum() - found.score) / max(1.0, abs(found.score))
            assert error < 1e-5
            assert ("distance" in set(found.parts.query_part)) == (name == "t5" and site != "cross")


@torch.no_grad()
def test_the_parts_of_a_score_of_gpt2_are_products_of_slices_of_its_weights(tiny):
    model = tiny("gpt2")
    found = score_parts(model, TEXT, "decoder", 0, 2, query=2, key=1, target="9 4")
    own = model.model.transformer
    block, part = own.h[0], slice(16, 24)  # the third head
    vectors = {"token": own.wte.weight[[8, 17]], "position": own.wpe.weight[[2, 1]]}
    total = sum(vectors.values())
    scale = (total.var(-1, unbiased=False, keepdim=True) + block.ln_1.eps).sqrt()
    weight = block.attn.c_attn.weight
    for query, key in product(vectors, repeat=2):
        normed = [
            block.ln_1.weight * (vectors[name][row] - vectors[name][row].mean()) / scale[row]
            for row, name in enumerate((query, key))
        ]
        score = (normed[0] @ weight[:, :24][:, part]) @ (normed[1] @ weight[:, 24:48][:, part])
        np.testing.assert_allclose(found.table.loc[query, key], score / 8**0.5, rtol=0, atol=1e-5)


@torch.no_grad()
def test_the_parts_of_a_score_of_llama_are_products_of_vectors_turned_by_hand(tiny):
    """In the second layer: of the token's embedding alone and of the sublayers below."""
    model = tiny("llama")
    found = score_parts(model, TEXT, "decoder", 1, 2, query=3, key=1, target="9 4")
    own, config = model.model.model, model.model.config
    ids = torch.tensor([[5, 17, 8, 30, 9, 4]])
    stream = own(ids, output_hidden_states=True).hidden_states[1][0]
    caught = []
    block, below = own.layers[1], own.layers[0]
    hook = below.self_attn.register_forward_hook(lambda *given: caught.append(given[2][0][0]))
    own(ids)
    hook.remove()
    token = own.embed_tokens.weight[ids[0]]
    sources = {"token": token, "decoder.0": caught[0]}
    sources["feed_forward.0"] = stream - token - caught[0]
    width = config.head_dim
    angles = 10_000.0 ** (-torch.arange(0, width, 2) / width)

    def made(source, weight, head, position):
        size = (stream[position].square().mean() + config.rms_norm_eps).sqrt()
        read = block.input_layernorm.weight * source[position] / size
        first, second = (weight[head * width :][:width] @ read).chunk(2)
        cos, sin = (position * angles).cos(), (position * angles).sin()
        return torch.cat([first * cos - second * sin, second * cos + first * sin])

    attention = block.self_attn
    shared = config.num_attention_heads // config.num_key_value_heads
    for one, other in product(sources, repeat=2):
        query = made(sources[one], attention.q_proj.weight, 2, 3)
        key = made(sources[other], attention.k_proj.weight, 2 // shared, 1)
        score = float(query @ key) / width**0.5
        np.testing.assert_allclose(found.table.loc[one, other], score, rtol=0, atol=1e-5)
