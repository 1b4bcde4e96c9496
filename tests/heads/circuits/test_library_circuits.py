"""Scores of the weights alone of models of the library: exported ones, and a GPT-2 in slices."""

import numpy as np
import pytest
import torch

import explorer
from explorer.core.errors import ConfigError
from explorer.heads.circuits.library_circuits import LibraryCircuits
from explorer.heads.circuits.weight_scores import weight_scores
from explorer.heads.metrics.evaluation_batches import given_sentences
from tests.support.huggingface_families import tiny_model

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
    if fixture == "explorable":  # exported as OPT, queries are scaled before they are captured
        assert found.offset.equals(expected.offset)
        assert found.positional.to_numpy() == pytest.approx(
            expected.positional.to_numpy(), nan_ok=True
        )


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


@pytest.mark.parametrize("family", ["llama", "bert"])
def test_what_a_family_does_not_have_is_missing(family):
    table = explorer.wrap(tiny_model(family)).weight_scores()
    assert table.copying.isna().all() == (family == "bert")  # whose head is no linear map
    assert table.positional.isna().all() == (family == "llama")  # positions are rotary


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
