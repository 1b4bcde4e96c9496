"""Scores of the weights alone of models of the library: exported ones, and a GPT-2 in slices."""

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

import explorer
from explorer.core.errors import ConfigError
from explorer.heads.circuits import library_circuits
from explorer.heads.circuits.library_circuits import LibraryCircuits
from explorer.heads.circuits.preferred_offset import ROWS
from explorer.heads.circuits.weight_scores import weight_scores
from explorer.heads.metrics.evaluation_batches import given_sentences
from explorer.model.evaluation_batch import EvaluationBatch
from explorer.model.transformer_passes import token_rows
from tests.support.huggingface_families import VOCABULARY, tiny_model

KEYS = ["site", "layer", "head"]
SCORES = ["copying", "positional", "copying_measured", "positional_measured"]


@pytest.mark.parametrize("fixture", ["explorable", "continuing"])
def test_an_exported_model_has_the_scores_of_ours(request, fixture, tmp_path):
    own = request.getfixturevalue(fixture)
    with torch.no_grad():  # tokens that are far apart, so that no two logits are nearly equal
        own.transformer.decoder.embedding.tokens.weight.mul_(3)
    explorer.export_huggingface(own, tmp_path)
    library = explorer.load(tmp_path)
    texts = ["1 2 3", "3 甲 1 2", "<b> 2"]
    expected = weight_scores(own, given_sentences(own, texts)).set_index(KEYS)
    found = weight_scores(library, given_sentences(library, texts)).set_index(KEYS)
    assert found.index.equals(expected.index)
    assert found.copying.to_numpy() == pytest.approx(expected.copying.to_numpy(), nan_ok=True)
    own_measured = expected.copying_measured.to_numpy()
    assert found.copying_measured.to_numpy() == pytest.approx(own_measured, nan_ok=True)
    assert found.offset.equals(expected.offset)
    positional = expected.positional.to_numpy()
    assert found.positional.to_numpy() == pytest.approx(positional, nan_ok=True)


@torch.no_grad()
def test_copying_of_a_gpt2_is_that_of_its_slices():
    library = tiny_model("gpt2")
    found = explorer.wrap(library).weight_scores().set_index(["layer", "head"]).copying
    table, heads = library.transformer.wte.weight, library.config.n_head
    ids = [one for one in range(len(table)) if one not in explorer.wrap(library).tokens.special_ids]
    width = library.config.n_embd // heads
    for layer, block in enumerate(library.transformer.h):
        normed = block.ln_1(table[ids])
        for head in range(heads):
            columns = slice(head * width, (head + 1) * width)
            values = (normed @ block.attn.c_attn.weight[:, 2 * library.config.n_embd :])[:, columns]
            added = (values - values.mean(0)) @ block.attn.c_proj.weight[columns]
            read = (added - added.mean(-1, keepdim=True)) * library.transformer.ln_f.weight
            logits = read @ library.lm_head.weight[ids].T
            own = logits.diagonal()[:, None]
            share = (logits < own).double().sum(-1) / (len(ids) - 1)
            assert found[layer, head] == pytest.approx(share.mean().item(), abs=2e-3)


def test_a_family_whose_bias_is_of_distances_prefers_the_one_with_the_largest(monkeypatch):
    library = tiny_model("t5")
    bias = library.decoder.block[0].layer[0].SelfAttention.relative_attention_bias.weight
    with torch.no_grad():
        bias.zero_()
        bias[2] = 50.0  # two keys before the query
    table = explorer.wrap(library).weight_scores()
    decoder = table[table.site == "decoder"]
    assert decoder.offset.tolist() == [-2] * len(decoder)
    assert decoder.positional.tolist() == pytest.approx([1.0] * len(decoder))


def test_copying_is_missing_where_logits_are_no_linear_map():
    table = explorer.wrap(tiny_model("bert")).weight_scores()
    assert table.copying.isna().all()
    assert table.positional.notna().all()


def rotation(angles: Tensor) -> Tensor:
    """The matrix that rotates the first half of the dimensions with the second, pair by pair."""
    half, matrix = len(angles), torch.zeros(2 * len(angles), 2 * len(angles))
    for pair, angle in enumerate(angles):
        cos, sin = angle.cos(), angle.sin()
        matrix[pair, pair], matrix[pair, pair + half] = cos, -sin
        matrix[pair + half, pair], matrix[pair + half, pair + half] = sin, cos
    return matrix


@pytest.mark.parametrize("family", ["llama", "qwen2", "qwen3"])
@torch.no_grad()
def test_rotary_positions_are_rotations_by_the_distance(family):
    """The weights are those of a slow loop: qᵀ R(distance) k, with the matrices written out."""
    library = tiny_model(family)
    circuits = LibraryCircuits(explorer.wrap(library))
    config = library.config
    width = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
    angles = 10_000.0 ** (-torch.arange(0, width, 2) / width)  # of a distance of 1
    shared = config.num_attention_heads // config.num_key_value_heads
    for layer, rows in zip(library.model.layers, circuits.repeated_rows(), strict=True):
        own = layer.self_attn
        read = layer.input_layernorm(library.model.embed_tokens.weight[circuits.ids[:ROWS]])
        queries, keys = (part(read).unflatten(-1, (-1, width)) for part in (own.q_proj, own.k_proj))
        if family == "qwen3":
            queries, keys = own.q_norm(queries), own.k_norm(keys)
        length = rows.weights.shape[-1]
        for head in range(config.num_attention_heads):
            scores = torch.full((len(read), length, length), -torch.inf)
            for distance in range(length):
                turned = keys[:, head // shared] @ rotation(-distance * angles).T
                score = (queries[:, head] * turned).sum(-1) * width**-0.5
                for query in range(distance, length):
                    scores[:, query, query - distance] = score
            expected = scores.softmax(-1).numpy()
            np.testing.assert_allclose(rows.weights[:, head], expected, atol=1e-5)


def test_a_head_with_rotary_positions_prefers_the_offset_that_its_weights_are_made_for():
    """All tokens have one query, which is the key turned by two positions."""
    library = tiny_model("llama", hidden_size=24, num_attention_heads=1, num_key_value_heads=1)
    width = library.config.head_dim
    angles = 10_000.0 ** (-torch.arange(0, width, 2) / width)
    with torch.no_grad():
        library.model.embed_tokens.weight.copy_(torch.ones(24))
        for layer in library.model.layers:
            layer.input_layernorm.weight.fill_(1)
            key = torch.randn(width) * 10
            layer.self_attn.k_proj.weight.copy_(key[:, None].repeat(1, 24) / 24)
            query = rotation(-2 * angles) @ key
            layer.self_attn.q_proj.weight.copy_(query[:, None].repeat(1, 24) / 24)
    table = explorer.wrap(library).weight_scores()
    assert table.offset.tolist() == [-2] * len(table)
    assert (table.positional > 0.9).all()


def test_a_llama_that_learnt_to_look_back_does_so_by_its_weights_and_in_sequences():
    heads = {"num_attention_heads": 2, "num_key_value_heads": 2, "head_dim": 16}
    library = tiny_model("llama", num_hidden_layers=1, hidden_size=32, **heads)
    optimizer = torch.optim.Adam(library.parameters(), 3e-3)
    for _ in range(300):
        ids = torch.randint(4, VOCABULARY, (64, 20))
        logits, before = library(input_ids=ids).logits[:, 3:], ids[:, :-3]
        loss = cross_entropy(logits.flatten(0, 1), before.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    rows = token_rows(torch.randint(4, VOCABULARY, (50, 20)).tolist())
    batch = EvaluationBatch(None, rows, rows.shifted(), "drawn", "next")
    table = weight_scores(explorer.wrap(library), batch)
    assert table.offset.tolist() == [-3, -3]
    assert table.positional.max() > 0.85
    assert (table.positional - table.positional_measured).abs().max() < 0.2


def test_the_rows_of_a_silenced_pass_are_those_of_its_parts_alone(monkeypatch):
    library = explorer.wrap(tiny_model("gpt2"))
    whole = [rows.weights for rows in LibraryCircuits(library).repeated_rows()]
    monkeypatch.setattr(library_circuits, "_TOGETHER", 3)
    parts = [rows.weights for rows in LibraryCircuits(library).repeated_rows()]
    for one, other in zip(whole, parts, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-6)


def test_a_family_whose_layers_are_no_sums_is_refused():
    with pytest.raises(ConfigError, match="gemma2"):
        LibraryCircuits(explorer.wrap(tiny_model("gemma2")))


def test_grouped_values_are_those_of_the_heads_that_share_them():
    circuits = LibraryCircuits(explorer.wrap(tiny_model("llama")))
    (first, *_) = circuits.direct_paths()
    heads, shared = first.outputs.size(1), first.outputs.size(1) // 2
    same = [
        [
            bool(torch.equal(first.outputs[:, one], first.outputs[:, other]))
            for other in range(heads)
        ]
        for one in range(heads)
    ]
    expected = np.equal.outer(np.arange(heads) // shared, np.arange(heads) // shared)
    assert np.array(same).tolist() == expected.tolist()
