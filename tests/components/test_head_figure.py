from dataclasses import replace
from html import escape

import numpy as np
import pytest

import explorer
from explorer.core.errors import ExplorerError
from explorer.core.trace import Trace
from tests.support.example_traces import example_trace


def test_a_head_is_a_heatmap_of_its_weights_with_masked_cells_apart():
    trace = example_trace()
    drawn = explorer.figure(trace, "cross", 1, 3)
    weights, masked = drawn.data
    shown = trace.mask("cross")
    assert np.array_equal(np.isfinite(weights.z), shown)
    assert np.array_equal(weights.z[shown], trace.attention("cross")[1, 3][shown])
    assert np.array_equal(np.isfinite(masked.z), ~shown)
    assert set(masked.text[~shown]) == {"padding"}
    assert drawn.layout.title.text == "cross attention, L1 H3"


def test_the_title_of_a_removed_head_says_so():
    facts = {"interventions": ["ablate cross.1.3 mean"]}
    drawn = explorer.figure(replace(example_trace(), facts=facts, digest=""), "cross", 1, 3)
    assert drawn.layout.title.text.endswith("this head is removed, its output is its mean")


def test_tokens_are_labels_at_positions_and_no_markup():
    drawn = explorer.figure(example_trace(("a", "a", "<b>&$", "4", "5")), "cross", 0, 0)
    assert drawn.layout.xaxis.ticktext[:3] == ("a", "a", "&lt;b&gt;&amp;&#36;")
    assert drawn.layout.xaxis.tickvals == tuple(range(8))
    assert drawn.layout.yaxis.ticktext[0] == "&lt;bos&gt;"
    assert drawn.layout.yaxis.autorange == "reversed"


def test_a_long_token_is_short_on_the_axes_and_whole_under_the_pointer():
    """Plotly gives labels the room that they want, and the map what is left."""
    long = "<" + "x" * 299
    drawn = explorer.figure(example_trace((long, "a", "b")), "cross", 0, 0)
    for axis in (drawn.layout.xaxis, drawn.layout.yaxis):
        assert "&lt;" + "x" * 23 + "…" in axis.ticktext
        assert max(map(len, axis.ticktext)) < 32
    weights, masked = drawn.data
    queries, keys = weights.z.shape
    assert weights.customdata.shape == masked.customdata.shape == (queries, keys, 2)
    for query, key in np.ndindex(queries, keys):
        fed, seen = weights.customdata[query, key]
        assert (seen.replace("<br>", "") == "&lt;" + "x" * 299) == (key == 0)
        assert (fed.replace("<br>", "") == "&lt;" + "x" * 299) == (query == 3)
    assert weights.hovertemplate.startswith("query %{customdata[0]}<br>key %{customdata[1]}")
    short = explorer.figure(example_trace(("x" * 24, "a", "b")), "cross", 0, 0)
    assert short.data[0].customdata is None
    assert short.data[0].hovertemplate == "query %{y}, key %{x}: %{z:.4f}<extra></extra>"


def long_trace(count: int) -> Trace:
    tokens = [f"token{number}" for number in range(count)]
    weights = np.full((1, 1, count, count), 1 / count, np.float32)
    return Trace.from_arrays(tokens, encoder=weights)


@pytest.mark.parametrize(("count", "every"), [(30, 1), (31, 2), (60, 2), (100, 4), (300, 10)])
def test_of_many_tokens_every_nth_has_a_label_and_the_pointer_shows_each(count, every):
    drawn = explorer.figure(long_trace(count), "encoder", 0, 0)
    for axis in (drawn.layout.xaxis, drawn.layout.yaxis):
        assert axis.tickvals == tuple(range(0, count, every))
        assert axis.ticktext == tuple(f"token{at}" for at in range(0, count, every))
    weights = drawn.data[0]
    if every == 1:
        assert weights.customdata is None
        return
    assert list(weights.customdata[1, count - 1]) == ["token1", f"token{count - 1}"]
    assert weights.hovertemplate.startswith("query %{customdata[0]}<br>key %{customdata[1]}")


def test_the_limit_of_the_colours_is_1_or_the_largest_weight_or_chosen():
    trace = example_trace()
    scores = Trace.from_arrays(["a"], encoder=np.full((1, 1, 1, 1), 1.5, np.float32))
    assert explorer.figure(trace, "cross", 0, 0).data[0].zmax == 1
    assert explorer.figure(scores, "encoder", 0, 0).data[0].zmax == 1.5
    assert explorer.figure(trace, "cross", 0, 0, colour_limit=0.3).data[0].zmax == 0.3


@pytest.mark.parametrize("limit", [0, -0.3, float("nan"), float("inf"), "0.3"])
def test_what_is_no_limit_of_colours_is_refused(limit):
    with pytest.raises(ExplorerError, match="A colour limit is a weight above 0"):
        explorer.figure(example_trace(), "cross", 0, 0, colour_limit=limit)


@pytest.mark.parametrize("place", [("cross", 9, 0), ("cross", 0, -1), ("nowhere", 0, 0)])
def test_a_head_that_is_not_there_is_said_in_one_sentence(place):
    with pytest.raises(ExplorerError):
        explorer.figure(example_trace(), *place)


def test_a_figure_of_anything_else_is_refused():
    with pytest.raises(ExplorerError, match=r"made of a trace, a head report.* type ndarray"):
        explorer.figure(np.ones((2, 2)), "cross", 0, 0)
    with pytest.raises(ExplorerError, match="type dict"):
        explorer.figure({"importance": 3})


@pytest.mark.parametrize(("tokens", "gap"), [(5, 1), (41, 0)])
def test_neighbours_of_one_weight_are_seen_as_two_unless_there_are_many(tokens, gap):
    weights = np.full((1, 1, tokens, tokens), 1 / tokens, np.float32)
    trace = Trace.from_arrays(map(str, range(tokens)), encoder=weights)
    drawn = explorer.figure(trace, "encoder", 0, 0)
    assert {(one.xgap, one.ygap) for one in drawn.data} == {(gap, gap)}


def cell_of(shape: tuple[int, int], layer: int, head: int, query: int, key: int) -> tuple[int, int]:
    """Row and column of a cell among all heads: a line lies between two of them."""
    return layer * (shape[0] + 1) + query, head * (shape[1] + 1) + key


@pytest.mark.parametrize("site", ["encoder", "decoder", "cross"])
def test_all_heads_are_maps_side_by_side(site):
    trace = example_trace()
    drawn = explorer.figure(trace, site)
    weights, masked = drawn.data
    attention, shown = trace.attention(site), trace.mask(site)
    size = shown.shape
    for place in np.ndindex(attention.shape):
        row, column = cell_of(size, *place)
        assert np.isfinite(weights.z[row, column]) == shown[place[2:]]
        assert np.isfinite(masked.z[row, column]) != shown[place[2:]]
        if shown[place[2:]]:
            assert weights.z[row, column] == attention[place]
    unmasked = 2 * 4 * shown.sum()
    assert np.isfinite(weights.z).sum() == unmasked == len(drawn.table)
    assert np.isfinite(masked.z).sum() == 2 * 4 * (~shown).sum()
    row, column = cell_of(size, 1, 2, 3, 0)
    query, key = escape(trace.queries(site)[3]), escape(trace.keys(site)[0])
    assert weights.y[row] == f"L1, query 3 {query}"
    assert weights.x[column] == f"H2, key 0 {key}"
    assert len(set(weights.x)) == len(weights.x)  # categories
    axes = drawn.layout.yaxis, drawn.layout.xaxis
    assert [axis.title.text for axis in axes] == ["layer", "head"]
    assert [axis.ticktext for axis in axes] == [("L0", "L1"), ("H0", "H1", "H2", "H3")]
    for axis in axes:
        ticks = zip(axis.tickvals, axis.ticktext, strict=True)
        assert all(place.startswith(f"{label}, ") for place, label in ticks)


def test_the_heads_of_a_layer_and_the_tables_behind():
    trace = example_trace()
    drawn = explorer.figure(trace, layer=1)  # of "cross", the last of its sites
    assert drawn.layout.yaxis.ticktext == ("L1",)
    for row in drawn.table.sample(20, random_state=1).itertuples():
        assert row.layer == 1
        assert row.weight == trace.attention("cross")[1, row.head, row.query, row.key]
        assert row.query_token == trace.target_tokens[row.query]
        assert row.key_token == trace.source_tokens[row.key]
    table = explorer.figure(trace, "cross", 1, 3).table
    np.testing.assert_array_equal(
        table, np.where(trace.mask("cross"), trace.attention("cross")[1, 3], np.nan)
    )
    assert table.columns[5] == "5 <eos>"
    with pytest.raises(ExplorerError):
        explorer.figure(trace, "cross", 2)
