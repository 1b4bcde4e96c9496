from dataclasses import replace

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


@pytest.mark.parametrize("place", [("cross", 9, 0), ("cross", 0, -1), ("nowhere", 0, 0)])
def test_a_head_that_is_not_there_is_said_in_one_sentence(place):
    with pytest.raises(ExplorerError):
        explorer.figure(example_trace(), *place)


def test_a_figure_of_what_is_no_trace_is_refused():
    with pytest.raises(ExplorerError, match="A trace was expected"):
        explorer.figure(np.ones((2, 2)), "cross", 0, 0)


@pytest.mark.parametrize(("tokens", "gap"), [(5, 1), (41, 0)])
def test_neighbours_of_one_weight_are_seen_as_two_unless_there_are_many(tokens, gap):
    weights = np.full((1, 1, tokens, tokens), 1 / tokens, np.float32)
    trace = Trace.from_arrays(map(str, range(tokens)), encoder=weights)
    drawn = explorer.figure(trace, "encoder", 0, 0)
    assert {(one.xgap, one.ygap) for one in drawn.data} == {(gap, gap)}
