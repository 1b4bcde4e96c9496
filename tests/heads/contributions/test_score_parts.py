from pathlib import Path

import numpy as np
import pytest
import torch

from explorer.core.errors import InterventionError, TraceError
from explorer.core.sites import Head
from explorer.core.vocabulary import BOS, EOS
from explorer.heads.contributions.score_parts import part_vectors, score_parts
from explorer.model.explorable import load
from explorer.model.hooks import recorded

CHECKPOINTS = Path(__file__).parents[3] / "checkpoints"
WIDTH = 4  # of each of the three heads of the small models
FIRST_LAYER = ("self_attention", "cross_attention", "feed_forward")


@pytest.mark.parametrize("site", ["encoder", "decoder", "cross"])
@pytest.mark.parametrize("layer", [0, 1])
def test_the_parts_sum_to_the_captured_score(normed_model, site, layer):
    trace = normed_model.trace("1 2 3", capture="full", target="3 2")
    for head, query, key in [(0, 2, 0), (2, 0, 2), (1, 1, 1)]:
        found = score_parts(normed_model, "1 2 3", site, layer, head, query, key, target="3 2")
        assert found.score == trace.scores(site)[layer, head, query, key]
        assert found.weight == trace.attention(site)[layer, head, query, key]
        assert found.query_token == trace.queries(site)[query]
        assert found.key_token == trace.keys(site)[key]
        np.testing.assert_allclose(found.parts.value.sum(), found.score, atol=1e-5)


@pytest.mark.parametrize("site", ["encoder", "decoder", "cross"])
def test_the_vectors_of_all_positions_sum_to_queries_and_keys(normed_model, site):
    trace = normed_model.trace("1 2 3", capture="full", target="3 2")
    found = part_vectors(normed_model, trace, Head(site, 1, 2))
    queries, keys = sum(found.queries.values()), sum(found.keys.values())
    np.testing.assert_allclose(queries, trace.query_vectors(site)[1, 2], atol=1e-5)
    np.testing.assert_allclose(keys, trace.key_vectors(site)[1, 2], atol=1e-5)
    scores = queries @ keys.T * found.scale
    np.testing.assert_allclose(scores, trace.scores(site)[1, 2], atol=1e-5)


@torch.no_grad()
@pytest.mark.parametrize("layer", [0, 1])
def test_each_part_is_that_of_its_vectors_by_hand(normed_model, layer):
    """One cell of the decoder; each source alone is carried through the LayerNorms above it."""
    head, query, key = 1, 2, 1
    found = score_parts(normed_model, "1 2", "decoder", layer, head, query, key, target="3 2")
    model = normed_model.transformer
    with recorded(model, "decoder.*") as values:
        ids = [normed_model.source_vocabulary.encode(text) for text in ("1 2", "3 2")]
        model(torch.tensor([[*ids[0], EOS]]), torch.tensor([[BOS, *ids[1]]]))

    def normed(path, vector, position):
        norm = model.get_submodule(path)
        read = values[f"{path}.input"][0, position].double()
        if not norm.pre:
            read = read + values[f"{path}.sublayer_output"][0, position]
        scale = (read.var(unbiased=False) + norm.eps).sqrt()
        return norm.weight * (vector - vector.mean()) / scale

    def side(start, position):
        token = values["decoder.embedding.scaled"][0, position].double()
        sources = {"token": token, "position": model.decoder.embedding.positions[position].double()}
        names = dict(zip(FIRST_LAYER, ("decoder.0", "cross.0", "feed_forward.0"), strict=True))
        for sublayer, name in names.items() if layer else ():
            path = f"decoder.layers.0.around_{sublayer}"
            sources[name] = values[f"{path}.sublayer_output"][0, position].double()
            if normed_model.transformer.config.norm != "pre":
                sources = {one: normed(path, vector, position) for one, vector in sources.items()}
        path = f"decoder.layers.{layer}.around_self_attention"
        if normed_model.transformer.config.norm == "pre":
            sources = {one: normed(path, vector, position) for one, vector in sources.items()}
        rows = slice(start + head * WIDTH, start + (head + 1) * WIDTH)
        projection = model.decoder.layers[layer].self_attention.query_key_value.weight[rows]
        return {name: projection.double() @ vector for name, vector in sources.items()}

    queries, keys = side(0, query), side(12, key)
    assert found.table.index.tolist() == [*queries, "bias"]
    assert found.table.columns.tolist() == [*keys, "bias"]
    for one, of_query in queries.items():
        for other, of_key in keys.items():
            expected = float(of_query @ of_key) / WIDTH**0.5
            np.testing.assert_allclose(found.table.at[one, other], expected, atol=1e-6)


def test_without_positions_their_parts_are_zero_and_without_scaling_all_are_larger(explorable):
    place = ("encoder", 0, 1, 2, 0)
    found = score_parts(explorable, "1 2 3", *place)
    bare = score_parts(explorable, "1 2 3", *place, without=["positions"])
    with_position = bare.parts[(bare.parts.query_part == "position")]
    assert (with_position.value == 0).all()
    np.testing.assert_allclose(bare.parts.value.sum(), bare.score, atol=1e-6)
    unscaled = score_parts(explorable, "1 2 3", *place, without=["scaling"])
    np.testing.assert_allclose(unscaled.table, found.table * 2, atol=1e-6)
    np.testing.assert_allclose(unscaled.parts.value.sum(), unscaled.score, atol=1e-6)


def test_a_masked_cell_has_a_score_but_no_weight(explorable):
    found = score_parts(explorable, "1 2 3", "decoder", 0, 0, 0, 1, target="3 2")
    assert found.weight == 0
    np.testing.assert_allclose(found.parts.value.sum(), found.score, atol=1e-6)


def test_the_sums_hold_for_a_shipped_translator():
    model = load(CHECKPOINTS / "english-french.safetensors")
    found = score_parts(model, "I do not like the black cat.", "cross", 2, 3, 4, 5)
    np.testing.assert_allclose(found.parts.value.sum(), found.score, atol=1e-4)
    assert found.table.shape == (3 + 7, 3 + 6)  # the embedding, the bias, and the sublayers below


def test_places_that_do_not_exist_are_refused_in_a_sentence(explorable):
    with pytest.raises(TraceError, match=r"no head cross\.2\.0.*2 layers of 3 heads"):
        score_parts(explorable, "1", "cross", 2, 0, 0, 0)
    with pytest.raises(TraceError, match=r"no “memory” attention"):
        score_parts(explorable, "1", "memory", 0, 0, 0, 0)
    with pytest.raises(InterventionError, match="Query 0, key 2 lies outside “cross”"):
        score_parts(explorable, "1", "cross", 0, 0, 0, 2)


def test_its_repr_is_short(explorable):
    found = score_parts(explorable, "1 2", "cross", 0, 1, 0, 2, target="1")
    assert repr(found).startswith("ScoreParts(cross.0.1, 0 '<bos>' → 2 '<eos>': ")
    assert repr(found).endswith(", 20 parts)")


@pytest.mark.parametrize("layer", [0, 1])
def test_the_parts_of_a_decoder_alone_sum_to_the_captured_score(continuing, layer):
    found = score_parts(continuing, "1 2 3", "decoder", layer, 2, query=3, key=1)
    np.testing.assert_allclose(found.parts.value.sum(), found.score, atol=1e-5)
    below = {"token", "position", "bias"}
    below |= {"decoder.0", "feed_forward.0"} if layer else set()
    assert set(found.parts.key_part) == below
