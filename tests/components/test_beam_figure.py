"""The tree of a beam search: which nodes are drawn, where, and how they are told apart."""

import plotly.graph_objects as go
import pytest

from explorer.components.beam_figure import beam_chart, shown_nodes
from explorer.model.beam_tree import BeamNode, BeamTree, Fate


def node(number, parent, step, own, total, fate, token="x") -> BeamNode:
    return BeamNode(number, parent, step, 5, token, own, total, fate, token)


KEPT, ENDED, PRUNED = Fate
NODES = (
    node(0, None, 4, -0.5, -0.5, KEPT, "▁a<b>$"),
    node(1, None, 4, -1.0, -1.0, KEPT),
    node(2, None, 4, -2.0, -2.0, PRUNED),
    node(3, None, 4, -3.0, -3.0, PRUNED),
    node(4, None, 4, -4.0, -4.0, PRUNED),
    node(5, 1, 5, -0.1, -1.1, ENDED, "<eos>"),
    node(6, 1, 5, -0.6, -1.6, PRUNED),
    node(7, 1, 5, -0.7, -1.7, PRUNED),
    node(8, 0, 5, -1.3, -1.8, PRUNED),
)
TREE = BeamTree(2, 0.0, NODES, (NODES[5],))


@pytest.fixture
def chart() -> dict:
    return beam_chart(TREE, "en")


def named(chart: dict, name: str) -> dict:
    return next(trace for trace in chart["data"] if trace.get("name") == name)


def test_of_the_pruned_nodes_the_most_probable_are_drawn_and_where_greedy_decoding_ends():
    assert [one.number for one in shown_nodes(TREE)] == [0, 1, 2, 3, 5, 6, 7, 8]
    assert TREE.greedy == (NODES[0], NODES[8])


def test_a_column_is_a_step_and_its_rows_are_in_the_order_of_the_sums(chart):
    kept, ended, pruned = (named(chart, name) for name in ("kept", "ended", "dropped"))
    assert (kept["x"], kept["y"], kept["customdata"]) == ([96, 96], [0, 1], [0, 1])
    assert (ended["y"], ended["customdata"]) == ([0], [5])
    columns = chart["layout"]["xaxis"]["tickvals"]
    assert columns == [96, ended["x"][0]]
    assert chart["layout"]["xaxis"]["ticktext"] == ["1", "2"]
    assert pruned["y"] == [2, 3, 1, 2, 3]
    assert len({one["marker"]["symbol"] for one in (kept, ended, pruned)}) == 3


def test_the_paths_of_greedy_decoding_and_of_the_best_output_are_marked(chart):
    greedy = named(chart, "greedy decoding")
    assert greedy["x"][:5] == [0, 96, None, 96, greedy["x"][4]]
    assert greedy["y"] == [0, 0, None, 0, 3, None]
    best = named(chart, "most probable output")
    assert best["y"] == [0, 1, None, 1, 0, None]


def test_each_node_has_its_probability_on_the_side_where_no_edge_comes_from(chart):
    texts = next(trace for trace in chart["data"] if trace["mode"] == "text")
    assert texts["text"][:2] == ["60.7\u00a0%", "36.8\u00a0%"]
    assert texts["textposition"][4] == "top left"  # its edge rises
    assert texts["textposition"][0] == "bottom left"


def test_a_long_token_has_room_before_the_probability_beside_it_and_at_the_end_of_the_chart():
    """The edge to the node beside it comes from below, so its probability is as high as the
    token."""
    long = "▁" + 10 * "m"
    nodes = (
        node(0, None, 1, -0.5, -0.5, ENDED, long),
        node(1, None, 1, -1.0, -1.0, KEPT),
        node(2, 1, 2, -0.1, -1.1, ENDED, "▁" + 20 * "w"),
    )
    beside = beam_chart(BeamTree(2, 0.0, nodes, nodes[:1]), "en")["layout"]["xaxis"]
    first, second = beside["tickvals"]
    assert second - first > 7 * len(long) + 7 * len("90.5 %")
    assert beside["range"][1] - second > 7 * len("_wwwwwwwwwwwww…")
    below = (nodes[1], nodes[0], nodes[2])  # then the edge is level, and its probability below
    level = beam_chart(BeamTree(2, 0.0, below, nodes[:1]), "en")["layout"]["xaxis"]["tickvals"]
    assert first == level[0] < level[1] < second


def test_a_byte_is_written_as_in_the_other_views():
    byte = (node(0, None, 1, -0.5, -0.5, ENDED, "<0xC9>"),)
    points = named(beam_chart(BeamTree(1, 0.0, byte, byte), "en"), "ended")
    assert points["text"] == ["‹C9›"]
    assert "“‹C9›”" in points["hovertext"][0]


def test_a_token_is_no_markup(chart):
    assert named(chart, "kept")["text"][0] == "_a&lt;b&gt;&#36;"
    assert named(chart, "ended")["text"] == ["eos"]
    assert "<b>" not in named(chart, "kept")["hovertext"][0]


def test_plotly_knows_all_settings_and_a_long_tree_is_wide(chart):
    layout = dict(chart["layout"])
    start, end = layout["xaxis"]["range"]
    assert layout.pop("least_width") == end - start + 24 + 16
    go.Figure(chart["data"], layout)  # raises on an unknown one
    assert beam_chart(TREE, "zh")["data"][0]["name"] == "贪心解码"
