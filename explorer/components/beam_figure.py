"""The tree of a beam search as a chart for Plotly: a column a step, the largest sum at the top."""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from explorer.core.files import one_line
from explorer.core.i18n import say
from explorer.core.number_format import percent
from explorer.core.vocabulary import shown_label
from explorer.model.beam_tree import BeamNode, BeamTree, Fate

_LOOKS: Mapping[Fate, Mapping[str, Any]] = {
    Fate.KEPT: {"color": "#3f7fca", "symbol": "circle", "size": 11},
    Fate.ENDED: {"color": "#1f8f70", "symbol": "square", "size": 11},
    Fate.PRUNED: {"color": "#7d838c", "symbol": "circle-open", "size": 8},
}
"""Colours are readable on white and on a dark page; the symbols say the same."""

_GREEDY = "#c4517c"
_COLUMN = 96  # px, so that a token and a probability have room
_ROW = 40  # px
_MARGIN = {"l": 24, "r": 64, "t": 24, "b": 48}  # px; labels reach into the right one
_BEFORE = 0.05  # of a column, by which a probability stands before its node,
_BESIDE = 0.1  # and of a row, by which it is above or below
_LONGEST = 14  # characters of a token


@dataclass(frozen=True, slots=True)
class Place:
    """Of a node: its column, 0 = before the first step, and its row from the top."""

    column: int
    row: int


_START = Place(0, 0)


def shown_nodes(tree: BeamTree) -> list[BeamNode]:
    """The nodes that are drawn: of the pruned ones the `width` most probable of each step, and that
    at which greedy decoding leaves the tree."""
    greedy, pruned, found = set(tree.greedy), defaultdict[int, int](int), []
    for node in tree.nodes:
        pruned[node.step] += node.fate == Fate.PRUNED
        if node.fate != Fate.PRUNED or node in greedy or pruned[node.step] <= tree.width:
            found.append(node)
    return found


def beam_chart(tree: BeamTree, language: str) -> dict[str, Any]:
    """Data and layout for Plotly. The number of a node is the `customdata` of its point."""
    nodes = shown_nodes(tree)
    places = _places(nodes)
    columns = max(place.column for place in places.values())
    rows = max(place.row for place in places.values()) + 1
    hidden = {"showgrid": False, "zeroline": False, "fixedrange": True, "showspikes": False}
    layout = {
        "height": rows * _ROW + _MARGIN["t"] + _MARGIN["b"],
        "least_width": columns * _COLUMN + _MARGIN["l"] + _MARGIN["r"],
        "margin": _MARGIN,
        "showlegend": True,
        "hovermode": "closest",
        "dragmode": False,
        "xaxis": {
            "title": {"text": say("beam.step", language), "standoff": 8},
            "range": [-0.15, columns + 0.35],
            "tickvals": list(range(1, columns + 1)),
            **hidden,
        },
        "yaxis": {"range": [rows - 0.5, -0.6], "visible": False, **hidden},
    }
    best = set(tree.path(tree.best))
    kept = [node for node in nodes if node.fate != Fate.PRUNED]
    pruned = [node for node in nodes if node.fate == Fate.PRUNED]
    blue, grey = _LOOKS[Fate.KEPT]["color"], _LOOKS[Fate.PRUNED]["color"]
    data = [
        _edges(tree.greedy, places, _line(_GREEDY, 9), say("beam.greedy", language), opacity=0.35),
        _edges(pruned, places, _line(grey, 1, "dot")),
        _edges([node for node in kept if node not in best], places, _line(blue, 1.3)),
        _edges(
            [node for node in kept if node in best],
            places,
            _line(blue, 3.5),
            say("beam.best", language),
        ),
        _probabilities(nodes, places),
    ]
    for fate in Fate:
        own = [node for node in nodes if node.fate == fate]
        if own:
            data.append(_points(own, places, fate, language))
    return {"data": data, "layout": layout}


def _places(nodes: Sequence[BeamNode]) -> dict[int | None, Place]:
    """The place of each node by its number; None stands for no token yet."""
    places: dict[int | None, Place] = {None: _START}
    rows = defaultdict[int, int](int)
    for node in nodes:  # those of a step come in the order of their sums
        places[node.number] = Place(node.step - nodes[0].step + 1, rows[node.step])
        rows[node.step] += 1
    return places


def _line(colour: str, width: float, dash: str = "solid") -> dict[str, Any]:
    return {"color": colour, "width": width, "dash": dash}


def _edges(
    nodes: Iterable[BeamNode],
    places: Mapping[int | None, Place],
    line: Mapping[str, Any],
    name: str = "",
    opacity: float = 1.0,
) -> dict[str, Any]:
    """A line from the parent to each node; in the legend if it has a name."""
    x: list[int | None] = []
    y: list[int | None] = []
    for node in nodes:
        start, end = places[node.parent], places[node.number]
        x += [start.column, end.column, None]
        y += [start.row, end.row, None]
    looks = {"mode": "lines", "line": line, "opacity": opacity, "hoverinfo": "skip"}
    return {"type": "scatter", "x": x, "y": y, "name": name, "showlegend": bool(name), **looks}


def _probabilities(nodes: Sequence[BeamNode], places: Mapping[int | None, Place]) -> dict[str, Any]:
    """Where the edge to each node ends, on the side where it is not, the probability of its token
    after its parent."""
    ends = [places[node.number] for node in nodes]
    sides = [
        -1 if places[node.parent].row > end.row else 1
        for node, end in zip(nodes, ends, strict=True)
    ]
    return {
        "type": "scatter",
        "x": [end.column - _BEFORE for end in ends],
        "y": [end.row + side * _BESIDE for end, side in zip(ends, sides, strict=True)],
        "text": [percent(math.exp(node.log_probability)) for node in nodes],
        "mode": "text",
        "textposition": ["bottom left" if side > 0 else "top left" for side in sides],
        "hoverinfo": "skip",
        "showlegend": False,
    }


def _points(
    nodes: Sequence[BeamNode], places: Mapping[int | None, Place], fate: Fate, language: str
) -> dict[str, Any]:
    return {
        "type": "scatter",
        "x": [places[node.number].column for node in nodes],
        "y": [places[node.number].row for node in nodes],
        "name": say(f"beam.{fate}", language),
        "text": [_plain(_short(node.token)) for node in nodes],
        "textposition": "top right",
        "mode": "markers+text",
        "marker": _LOOKS[fate],
        "customdata": [node.number for node in nodes],
        "hovertext": [_about(node, language) for node in nodes],
        "hoverinfo": "text",
        "cliponaxis": False,
    }


def _about(node: BeamNode, language: str) -> str:
    """What the pointer shows of a node."""
    facts = {
        "token": one_line(shown_label(node.token)),
        "p": percent(math.exp(node.log_probability)),
        "sum": f"{node.sum:.3f}",
        "fate": say(f"beam.{node.fate}", language),
    }
    return f"{_plain(one_line(node.text))}<br>{_plain(say('beam.about_node', language, **facts))}"


def _short(token: str) -> str:
    shown = one_line(shown_label(token)).replace("▁", "_")  # the mark is a bar in fonts of charts
    return shown if len(shown) <= _LONGEST else f"{shown[:_LONGEST]}…"


def _plain(text: str) -> str:
    """A text as Plotly shows it letter by letter: it reads some HTML, and formulas between
    dollars."""
    return escape(text, quote=False).replace("$", "&#36;")
