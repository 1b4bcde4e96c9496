"""Similarities against hand values and an independent loop over Kullback–Leibler divergences."""

import doctest
from itertools import groupby, pairwise, permutations
from pathlib import Path

import numpy as np
import pytest

import explorer
from explorer.core.errors import TraceError
from explorer.core.trace import Trace
from explorer.heads.comparison import attention_comparison as comparison
from explorer.heads.comparison.attention_comparison import compare

ROOT = Path(__file__).parents[3]
CHECKPOINTS = ROOT / "checkpoints"


def a_trace(seed=0, layers=2, heads=3, tokens="abcd", **sites):
    """Random weights of a decoder without mask, or those given."""
    size = (layers, heads, len(tokens), len(tokens))
    weights = np.random.default_rng(seed).dirichlet(np.full(len(tokens), 0.5), size=size[:3])
    return Trace.from_arrays(list(tokens), list(tokens), **(sites or {"decoder": weights}))


def divergence(one, other):
    """JSD in bits as the mean of two Kullback–Leibler divergences, one number after the other."""
    total = 0.0
    for p, q in zip(one.tolist(), other.tolist(), strict=True):
        for x in (p, q):
            total += 0.5 * x * np.log2(2 * x / (p + q)) if x else 0.0
    return total


def test_difference_is_a_minus_b():
    a, b = a_trace(0), a_trace(1)
    difference = compare(a, b).difference("decoder")
    np.testing.assert_array_equal(difference, a.attention("decoder") - b.attention("decoder"))
    assert difference.shape == (2, 3, 4, 4)
    np.testing.assert_array_equal(difference, -compare(b, a).difference("decoder"))


def test_similarity_of_hand_made_heads():
    """Rows that are equal, that share no key, and that share half of their weight."""
    rows = np.array([[[1.0, 0, 0, 0]], [[0, 1.0, 0, 0]], [[0.5, 0.5, 0, 0]]])
    weights = np.repeat(rows, 4, axis=1)[None]  # three heads, each with four equal rows
    similarity = compare(*[a_trace(cross=weights)] * 2).similarity.to_numpy()
    half = 1 - (2 - 0.75 * np.log2(3) - 0.5)  # H(¾, ¼) less the mean of 0 and 1 bit
    np.testing.assert_allclose(similarity, [[1, 0, half], [0, 1, half], [half, half, 1]])
    assert similarity[0, 0] == 1
    assert similarity[0, 1] == 0


def test_similarity_is_that_of_a_loop_over_rows():
    a, b = a_trace(0), a_trace(1, layers=1, heads=5)
    table = compare(a, b).similarity
    assert table.shape == (6, 5)
    for (site, layer, head), row in table.iterrows():
        for (other_site, other_layer, other_head), value in row.items():
            one = a.attention(site)[layer, head].astype(float)
            other = b.attention(other_site)[other_layer, other_head].astype(float)
            expected = 1 - np.mean([divergence(*rows) for rows in zip(one, other, strict=True)])
            np.testing.assert_allclose(value, expected, atol=1e-6)


def test_similarity_is_symmetric_and_blind_to_the_order_of_keys(explorable):
    a = explorable.trace("1 2 3", target="3 1")
    b = explorable.trace("1 2 3", target="3 1", ablate=[("encoder", 0, 1)])
    table = compare(a, b).similarity
    np.testing.assert_allclose(table, compare(b, a).similarity.T, atol=1e-12)
    assert table.min(axis=None) >= 0
    assert table.max(axis=None) <= 1
    one, other = a_trace(0), a_trace(1)
    order = [2, 0, 3, 1]
    mixed = [a_trace(decoder=trace.attention("decoder")[..., order]) for trace in (one, other)]
    expected = compare(one, other).similarity
    np.testing.assert_allclose(compare(*mixed).similarity, expected, atol=1e-6)


def test_heads_of_different_sites_have_none(explorable):
    trace = explorable.trace("1 2 3", target="3 1")
    table = compare(trace, trace).similarity
    assert table.index.names == table.columns.names == ["site", "layer", "head"]
    assert np.isnan(table.loc["encoder", "cross"]).all(axis=None)
    assert (np.diag(table) == 1).all()
    assert table.at[("cross", 1, 2), ("cross", 1, 2)] == 1


def test_padding_queries_are_left_out(explorable):
    bare = [
        explorable.trace("1 2 3", target="2", ablate=done) for done in ([], [("encoder", 0, 0)])
    ]
    padded = [
        explorable.trace("1 2 3", target="2", ablate=done, pad_to=8)
        for done in ([], [("encoder", 0, 0)])
    ]
    expected = compare(*bare).similarity
    np.testing.assert_allclose(compare(*padded).similarity, expected, atol=1e-5)
    assert expected.loc["encoder", "encoder"].notna().all(axis=None)


def test_a_sink_counts_as_one_more_key():
    """Half of the weight to no key in one, none in the other: as with one key more."""
    weights = np.zeros((1, 1, 2, 2))
    weights[..., 0] = 1
    plain = a_trace(tokens="ab", cross=weights)
    halved = Trace(
        plain.source_tokens,
        plain.target_tokens,
        (),
        "",
        dict(plain.arrays)
        | {
            "cross.attention": np.float32(weights / 2),
            "cross.sink": np.full((1, 1, 2), 0.5, np.float32),
        },
    )
    expected = 1 - (2 - 0.75 * np.log2(3) - 0.5)
    np.testing.assert_allclose(compare(plain, halved).similarity, [[expected]])


def test_blocks_of_heads_change_nothing(monkeypatch):
    a, b = a_trace(0), a_trace(1)
    whole = compare(a, b).similarity
    monkeypatch.setattr("explorer.heads.comparison.attention_comparison._MOST_CELLS", 40)
    np.testing.assert_array_equal(compare(a, b).similarity, whole)


def test_heads_are_matched_one_to_one_the_most_similar_first():
    """`b` has the heads of `a` in another order, one of them twice."""
    a = a_trace(0)
    heads = a.attention("decoder").reshape(6, 4, 4)
    b = a_trace(decoder=heads[[5, 1, 3, 3, 2, 0, 4, 2]].reshape(4, 2, 4, 4))
    found = compare(a, b).matched()
    assert found.columns.tolist() == [
        "site",
        "layer",
        "head",
        "other_layer",
        "other_head",
        "similarity",
    ]
    places = [2 * layer + head for layer, head in found[["other_layer", "other_head"]].to_numpy()]
    assert places == [5, 1, 4, 2, 6, 0]
    assert (found.similarity == 1).all()
    fewer = compare(b, a).matched()
    assert len(fewer) == 6
    assert not fewer.duplicated(["other_layer", "other_head"]).any()


def test_a_trace_is_matched_to_itself_also_where_heads_are_alike(explorable):
    trace = explorable.trace("1", target="1")  # the first row of the decoder has one key
    found = compare(trace, trace).matched()
    assert (found.layer == found.other_layer).all()
    assert (found["head"] == found.other_head).all()
    assert len(found) == 15


def test_other_numbers_of_heads_are_compared_but_not_subtracted():
    a, b = a_trace(0), a_trace(1, layers=1, heads=5)
    with pytest.raises(TraceError) as error:
        compare(a, b).difference("decoder")
    assert str(error.value) == (
        "In “decoder” one trace has 3 heads in the layers 0, 1, the other 5 in 0, so that they "
        "cannot be subtracted; similarity compares such heads."
    )
    assert len(compare(a, b).matched()) == 5


def test_other_layers_are_not_subtracted(explorable):
    options = {"target": "3 1", "sites": ["cross"]}
    one, other = (explorable.trace("1 2", layers=[layer], **options) for layer in (0, 1))
    with pytest.raises(TraceError, match="in the layers 0, the other 3 in 1,"):
        compare(one, other).difference("cross")
    table = compare(one, other).similarity
    assert table.columns.tolist() == [("cross", 1, head) for head in range(3)]


def test_the_first_token_that_differs_is_named(explorable):
    a = explorable.trace("1 2 3", target="3 1")
    with pytest.raises(TraceError, match=r"source tokens: at position 1, .* “2” and “3”; give"):
        compare(a, explorable.trace("1 3 3", target="3 1"))
    with pytest.raises(TraceError, match=r"target tokens: at position 2, .* “1” and “–”; force"):
        compare(a, explorable.trace("1 2 3", target="3"))


def test_by_position_tokens_may_differ_but_not_their_numbers(explorable):
    one, other = explorable.trace("1 2 3", target="3 1"), explorable.trace("3 2 2", target="2 2")
    compared = compare(one, other, by="position")
    expected = one.attention("cross") - other.attention("cross")
    np.testing.assert_array_equal(compared.difference("cross"), expected)
    with pytest.raises(TraceError, match="source tokens, but one has 4 and the other 3; give"):
        compare(one, explorable.trace("1 2", target="3 1"), by="position")
    with pytest.raises(TraceError, match="target tokens, but one has 3 and the other 2; decode"):
        compare(one, explorable.trace("3 2 2", target="2"), by="position")
    with pytest.raises(TraceError, match="not by “word”"):
        compare(one, other, by="word")


def test_what_cannot_be_compared_is_refused(explorable):
    with pytest.raises(TraceError, match="of the type str"):
        compare("1 2 3", "1 2 3")
    one, other = (explorable.trace("1", target="1", sites=[site]) for site in ("cross", "decoder"))
    with pytest.raises(TraceError, match="one has cross, the other decoder"):
        compare(one, other)
    with pytest.raises(TraceError, match="no “decoder” attention"):
        compare(one, explorable.trace("1", target="1")).difference("decoder")


def test_two_checkpoints_of_one_task_are_compared():
    late, early = (
        explorer.load(CHECKPOINTS / f"{name}.safetensors") for name in ("reverse", "reverse-early")
    )
    trace = late.trace("7 3 9 1 4")
    compared = explorer.compare(trace, early.trace("7 3 9 1 4", target=trace.text))
    assert compared.difference("cross").shape == (2, 4, 6, 6)
    assert compared.similarity.shape == (24, 24)
    assert len(compared.matched()) == 24
    assert repr(compared) == "AttentionComparison('7 3 9 1 4 <eos>': reverse and reverse-early)"


def test_heads_of_a_site_that_is_not_there_have_no_order():
    compared = compare(a_trace(0), a_trace(1))
    for site in ("cross", None):
        with pytest.raises(TraceError, match="attention"):
            compared.clustered(site)


def test_the_example_of_help_runs(monkeypatch):
    monkeypatch.chdir(ROOT)
    done = doctest.testmod(comparison, extraglobs={"explorer": explorer})
    assert (done.failed, done.attempted) == (0, 4)


def test_like_heads_are_neighbours_in_clustered_order():
    """Three kinds of heads, mixed in both traces: in the order found each kind stands together, at
    the same end in both."""
    kinds = np.eye(4)[[0, 1, 2]] * 0.97 + 0.01  # of a kind: its rows look at one key
    rng = np.random.default_rng(3)

    def mixed(order):
        noise = rng.dirichlet(np.ones(4), size=(len(order), 4)) * 0.02
        weights = 0.98 * np.repeat(kinds[list(order)][:, None], 4, axis=1) + noise
        weights /= weights.sum(-1, keepdims=True)
        return a_trace(decoder=weights.reshape(2, -1, 4, 4))

    own, other = (0, 1, 2, 1, 0, 2), (2, 0, 2, 1, 1, 0, 0, 2)
    rows, columns = compare(mixed(own), mixed(other)).clustered("decoder")
    assert sorted(rows) == list(range(6))
    assert sorted(columns) == list(range(8))
    found = [
        [kind for kind, _ in groupby(heads)]
        for heads in ([own[head] for head in rows], [other[head] for head in columns])
    ]
    assert found[0] == found[1]
    assert len(found[0]) == 3


def test_clustered_order_has_the_least_distance_between_neighbours():
    """Of the order of the heads of one trace compared with itself, against every other order."""
    trace = a_trace(4, layers=1, heads=4)
    compared = compare(trace, a_trace(4, layers=1, heads=4))
    distances = 1 - compared.similarity.to_numpy()
    rows, columns = compared.clustered("decoder")
    assert rows == columns  # each head stands beside its equal

    def length(order):
        return sum(distances[one, other] for one, other in pairwise(order))

    best = min(length(order) for order in permutations(range(4)))
    assert length(rows) <= best * 1.2  # the order keeps to the tree


def test_a_site_without_counted_rows_is_clustered_all_the_same():
    weights = np.ones((1, 3, 1, 1))
    trace = a_trace(tokens="a", decoder=weights)
    rows, columns = compare(trace, trace).clustered("decoder")
    assert sorted(rows) == sorted(columns) == [0, 1, 2]
