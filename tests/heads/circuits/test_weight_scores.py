"""Scores from the weights alone: built heads, whose answer is known, and slow ways to the same."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import Tensor

from explorer.core.sites import Head
from explorer.core.vocabulary import BOS, EOS, SPECIALS
from explorer.heads.circuits.copying import copying_by_weights, copying_in_sentences
from explorer.heads.circuits.direct_path import own_direct_paths
from explorer.heads.circuits.preferred_offset import (
    RepeatedRows,
    own_repeated_rows,
    preferred_offsets,
)
from explorer.heads.circuits.silenced import captured_alone
from explorer.heads.circuits.weight_scores import weight_scores
from explorer.heads.measure import measure
from explorer.heads.metrics.evaluation_batches import given_sentences
from explorer.model.explorable import ExplorableModel
from explorer.model.hooks import capture, edit, path
from explorer.model.transformer import Transformer

TEXTS = ["1 2 3", "3 甲 1 2", "<b> 2"]
WIDE = {"d_model": 24, "heads": 1, "d_ff": 8}


@pytest.fixture
def one_head(explorable: ExplorableModel, make_model) -> ExplorableModel:
    """One head as wide as the model, and embeddings that are orthogonal to each other."""
    config = replace(explorable.transformer.config, norm="pre", **WIDE)
    model = make_model(config)
    with torch.no_grad():
        for weights in (
            model.encoder.embedding.tokens.weight,
            model.decoder.embedding.tokens.weight,
            model.logits.weight,
        ):
            weights.copy_(torch.eye(config.d_model)[: len(weights)])
        for norm in (model.encoder.norm, model.decoder.norm):
            norm.weight.fill_(1.0)
            norm.bias.zero_()
    return ExplorableModel(replace(explorable.checkpoint, model=model), "one")


@pytest.mark.parametrize(("sign", "score"), [(1.0, 1.0), (-1.0, 0.0)])
def test_a_head_that_gives_out_what_it_reads_copies_and_one_that_gives_the_opposite_suppresses(
    one_head, sign, score
):
    model, width = one_head.transformer, WIDE["d_model"]
    attention = model.decoder.layers[1].cross_attention
    with torch.no_grad():
        attention.key_value.weight[width:].copy_(torch.eye(width))
        attention.output.weight.copy_(sign * torch.eye(width))
    found = copying_by_weights(list(own_direct_paths(one_head)))[Head("cross", 1, 0)]
    assert found.of_examples.ravel().tolist() == [score] * 5


@pytest.mark.parametrize("offset", [-2, -1, 1])
def test_a_head_whose_queries_are_positions_turned_by_an_offset_prefers_it(
    explorable, make_model, offset
):
    """With post-norm, the first head reads the embedding itself."""
    model = make_model(replace(explorable.transformer.config, norm="post", **WIDE))
    width = model.config.d_model
    frequency = torch.exp(torch.arange(0, width, 2) * (-math.log(10_000.0) / width))
    turned = torch.zeros(width, width)  # sin and cos of p · f → those of (p + offset) · f
    for number, angle in enumerate((offset * frequency).tolist()):
        sine, cosine = 2 * number, 2 * number + 1
        turned[sine, sine], turned[sine, cosine] = math.cos(angle), math.sin(angle)
        turned[cosine, sine], turned[cosine, cosine] = -math.sin(angle), math.cos(angle)
    attention = model.encoder.layers[0].self_attention
    with torch.no_grad():
        model.encoder.embedding.tokens.weight.zero_()
        attention.query_key_value.weight[:width].copy_(turned)
        attention.query_key_value.weight[width : 2 * width].copy_(torch.eye(width))
        attention.query_key_value.bias.zero_()
    found = preferred_offsets(own_repeated_rows(model))[Head("encoder", 0, 0)]
    assert found.offset == offset
    assert found.share.mean[0] == 1.0
    assert found.share.count[0, 0] == model.config.max_length - abs(offset)  # with such a key


def test_the_best_offset_of_random_weights_is_as_common_as_by_chance():
    """The weights are the same in all rows, as those of positions are."""
    length, heads = 24, 300
    unmasked = np.tril(np.ones((8, length, length), bool))
    drawn = np.random.default_rng(1).random((1, heads, length, length)) * unmasked[:1]
    weights = np.repeat(drawn, len(unmasked), 0).astype(np.float32)
    found = preferred_offsets([RepeatedRows("decoder", 0, weights, unmasked)]).values()
    ends = [np.percentile(one.by_chance, [2.5, 97.5]) for one in found]
    shares = [float(one.share.mean[0]) for one in found]
    inside = [low <= share <= high for share, (low, high) in zip(shares, ends, strict=True)]
    assert np.mean(inside) == pytest.approx(0.95, abs=0.04)
    assert np.mean(shares) == pytest.approx(np.mean([one.by_chance for one in found]), rel=0.03)


def test_a_shuffled_query_looks_at_one_of_its_own_keys():
    """Of two keys, two offsets have 1 in all, the better one at least half."""
    cells = np.tri(12, dtype=bool) & ~np.tri(12, k=-2, dtype=bool)  # the query and the one before
    weights = np.where(np.eye(12, dtype=bool), 1.0, 0.0)[None, None].astype(np.float32)
    (found,) = preferred_offsets([RepeatedRows("decoder", 0, weights, cells[None])]).values()
    assert (found.offset, found.share.mean[0]) == (0, 1.0)
    assert ((found.by_chance >= 0.5) & (found.by_chance <= 1.0)).all()
    assert found.by_chance.mean() == pytest.approx(0.62, abs=0.03)  # the larger of 11 coins' sides


def logits_of_vector(model: Transformer, site: str, layer: int, vector: Tensor) -> Tensor:
    """What `vector` (D,), added by an attention, adds to the logits at a fixed scale of each
    LayerNorm after it."""
    norms = [model.decoder.norm]
    if model.config.norm == "post":
        names = ("self_attention", "cross_attention", "feed_forward")
        first = 3 * layer + names.index("cross_attention" if site == "cross" else "self_attention")
        every = [getattr(one, f"around_{name}") for one in model.decoder.layers for name in names]
        norms = every[first:]
    for norm in norms:
        vector = (vector - vector.mean()) * norm.weight
    return model.logits.weight @ vector


def rank(logits: Tensor, own: int) -> float:
    """The share of the other content tokens whose logit is below that of `own`."""
    others = [number for number in range(len(SPECIALS), len(logits)) if number != own]
    return float(np.mean([float(logits[number] < logits[own]) for number in others]))


@torch.no_grad()
def test_copying_is_that_of_passes_with_one_token_and_one_head(normed_model):
    model = normed_model.transformer
    found = copying_by_weights(list(own_direct_paths(normed_model)))
    assert set(found) == {head for head in model.config.all_heads if head.site != "encoder"}
    for head, score in found.items():
        point = path(head.site, head.layer, "head_output")
        only = torch.zeros(1, model.config.heads, 1, 1)
        only[:, head.head] = 1.0
        added = []
        for token in range(len(SPECIALS), 8):
            source, target = torch.tensor([[EOS]]), torch.tensor([[token]])
            if head.site == "cross":
                source, target = target, torch.tensor([[BOS]])
            projection = path(head.site, head.layer, "output")
            silent = {
                "*.sublayer_output": torch.zeros_like,
                "*.position_vectors": torch.zeros_like,
                point: lambda value, only=only: value * only,
            }
            with edit(model, silent), capture(model, point) as values:
                model(source, target)
            mixed = values[point].transpose(1, 2).flatten(2)[0, 0]
            added.append(model.get_submodule(projection)(mixed))
        mean = torch.stack(added).mean(0)
        expected = [
            rank(logits_of_vector(model, head.site, head.layer, one - mean), len(SPECIALS) + number)
            for number, one in enumerate(added)
        ]
        assert score.of_examples.ravel() == pytest.approx(expected), head


@torch.no_grad()
def test_copying_in_sentences_is_that_of_each_query_by_itself(normed_model):
    model, batch = normed_model.transformer, given_sentences(normed_model, TEXTS)
    found = copying_in_sentences(normed_model, list(own_direct_paths(normed_model)), batch)
    for head, score in found.items():
        outputs, looked_at = [], []
        for row in range(len(batch)):
            one = batch.chosen(torch.tensor([row]))
            point = [path(head.site, head.layer, name) for name in ("pattern", "head_output")]
            with capture(model, *point) as values:
                model(one.source.ids, one.queries.ids)
            keys = one.source if head.site == "cross" else one.queries
            for query in range(one.queries.ids.size(1)):
                key = int(values[point[0]][0, head.head, query].argmax())
                outputs.append(values[point[1]][0, head.head, query])
                looked_at.append(int(keys.ids[0, key]))
        width = model.config.head_width
        matrix = model.get_submodule(path(head.site, head.layer, "output")).weight
        matrix = matrix[:, head.head * width : (head.head + 1) * width]
        mean = torch.stack(outputs).mean(0)
        expected = [
            rank(logits_of_vector(model, head.site, head.layer, matrix @ (one - mean)), token)
            for one, token in zip(outputs, looked_at, strict=True)
            if token >= len(SPECIALS)
        ]
        assert len(score.total) == len(expected)
        if expected:
            assert score.mean[0] == pytest.approx(np.mean(expected), abs=1e-6), head


def test_the_table_has_a_row_for_each_head_and_what_it_does_in_sentences(normed_model):
    batch = given_sentences(normed_model, TEXTS)
    table = weight_scores(normed_model, batch)
    heads = [Head(*row) for row in table[["site", "layer", "head"]].itertuples(index=False)]
    assert heads == list(normed_model.transformer.config.all_heads)
    writes = table.site != "encoder"
    assert table.copying.notna().tolist() == writes.tolist()
    assert (table.copying_chance.dropna() == 0.5).all()
    assert table.offset.notna().tolist() == (table.site != "cross").tolist()
    own = table[table.site != "cross"]
    for name in ("positional", "positional_chance"):
        level, low, high = (own[f"{name}{end}"] for end in ("", "_low", "_high"))
        assert ((low <= level) & (level <= high)).all()
    measured = measure(normed_model, batch).offsets
    for row in own.itertuples():
        same = measured[
            (measured.site == row.site)
            & (measured.layer == row.layer)
            & (measured["head"] == row.head)
            & (measured.offset == row.offset)
        ]
        assert row.positional_measured == pytest.approx(same.share.item(), nan_ok=True)
    assert weight_scores(normed_model).columns.tolist() == table.columns.tolist()[:-2]


def test_the_weights_of_the_shipped_reverse_say_that_cross_attention_copies(reverse_model):
    table = weight_scores(reverse_model)
    assert (table[table.site == "cross"].copying > 0.99).all()
    assert (table[table.site == "decoder"].copying < 0.6).all()


def test_vocabularies_that_share_few_tokens_have_no_score_of_copying(explorable):
    other = replace(explorable.checkpoint.target_vocabulary, symbols=("1", "2", "x", "y", "z"))
    model = ExplorableModel(replace(explorable.checkpoint, target_vocabulary=other), "two")
    table = weight_scores(model)
    assert table[table.site == "cross"].copying.isna().all()
    assert table[table.site == "decoder"].copying.notna().all()


def test_a_decoder_alone_reads_what_it_writes(continuing):
    table = weight_scores(continuing, given_sentences(continuing, TEXTS))
    assert set(table.site) == {"decoder"}
    assert table[["copying", "copying_measured", "positional"]].notna().all(axis=None)


@torch.no_grad()
def test_a_head_of_a_silenced_model_reads_the_embedding_of_its_keys_alone(one_head):
    model, keys = one_head.transformer, torch.tensor([[3, 4], [5, 3]])
    layer = model.decoder.layers[1]
    read = layer.around_self_attention(model.decoder.embedding(keys), torch.zeros_like)
    normed = torch.nn.functional.layer_norm(
        model.decoder.embedding(keys),
        (model.config.d_model,),
        layer.around_self_attention.weight,
        layer.around_self_attention.bias,
        model.config.norm_eps,
    )
    assert torch.equal(read, model.decoder.embedding(keys))  # with pre-norm nothing is added
    expected = layer.self_attention.query_key_value(normed)[..., -model.config.d_model :]
    _, values = captured_alone(model, "decoder", keys, "values")
    assert values[:, 0] == pytest.approx(expected, abs=1e-5)
