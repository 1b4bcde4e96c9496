"""The tree of a beam search as a chart for Plotly: a column a step, the largest sum at the top.

A column is as far from the one before as the labels between them need, so x counts pixels.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from itertools import groupby
from typing import Any

from explorer.core.files import one_line
from explorer.core.i18n import say
from explorer.core.number_format import percent
from explorer.core.text_width import text_width
from explorer.core.vocabulary import shown_label
from explorer.model.beam_tree import BeamNode, BeamTree, Fate

_LOOKS: Mapping[Fate, Mapping[str, Any]] = {
    Fate.KEPT: {"color": "#3f7fca", "symbol": "circle", "size": 11},
    Fate.ENDED: {"color": "#1f8f70", "symbol": "square", "size": 11},
    Fate.PRUNED: {"color": "#7d838c", "symbol": "circle-open", "size": 8},
}
"""Colours are readable on white and on a dark page; the symbols say the same."""

_GREEDY = "#c4517c"
_LEAST_COLUMN = 96  # px
_ROW = 40  # px
_MARGIN = {"l": 24, "r": 16, "t": 24, "b": 48}  # px
_START = 14  # px left of the place where the tree begins
_BEFORE = 5  # px by which a probability stands before its node,
_BESIDE = 0.1  # and of a row, by which it is above or below
_MARKER = 11  # px from a node to its token
_GAP = 12  # px between two labels
_LETTER, _WIDE_LETTER = 7.0, 13.0  # px of a letter and of a Chinese character
_LONGEST = 14  # characters of a token


@dataclass(frozen=True, slots=True)
class Place:
    """Of a node: pixels right of the place before the first step, and its row from the top."""

    x: float
    row: int


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
    rows = max(place.row for place in places.values()) + 1
    columns = sorted({place.x for place in places.values()})[1:]
    end = max(places[node.number].x + _token_width(node) for node in nodes)
    hidden = {"showgrid": False, "zeroline": False, "fixedrange": True, "showspikes": False}
    layout = {
        "height": rows * _ROW + _MARGIN["t"] + _MARGIN["b"],
        "least_width": math.ceil(_MARGIN["l"] + _START + end + _MARGIN["r"]),
        "margin": _MARGIN,
        "showlegend": True,
        "hovermode": "closest",
        "dragmode": False,
        "xaxis": {
            "title": {"text": say("beam.step", language), "standoff": 8},
            "range": [-_START, end],
            "tickvals": columns,
            "ticktext": [str(step) for step in range(1, len(columns) + 1)],
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
    rows: dict[int | None, int] = {None: 0}
    counted = defaultdict[int, int](int)
    for node in nodes:  # those of a step come in the order of their sums
        rows[node.number] = counted[node.step]
        counted[node.step] += 1
    columns = _columns(nodes, rows)
    ends = {node.number: Place(columns[node.step], rows[node.number]) for node in nodes}
    return {None: Place(0, 0)} | ends


def _columns(nodes: Sequence[BeamNode], rows: Mapping[int | None, int]) -> dict[int, float]:
    """By step, x of its column. A token has room before the next column and, where the edge to the
    node of its row there comes from below, before the probability of that node."""
    found, x = dict[int, float](), 0.0
    tokens: dict[int, float] = {}  # of the column before, by row
    for step, group in groupby(nodes, key=lambda node: node.step):
        here = tuple(group)
        numbers = {
            rows[node.number]: _number_width(node)
            for node in here
            if rows[node.parent] > rows[node.number]
        }
        needed = [width + numbers.get(row, 0) for row, width in tokens.items()]
        x += max([_LEAST_COLUMN, *needed])
        found[step] = x
        tokens = {rows[node.number]: _token_width(node) for node in here}
    return found


def _token_width(node: BeamNode) -> float:
    """Pixels from a node to the end of its token, and some more."""
    return _MARKER + text_width(_short(node.token), _LETTER, _WIDE_LETTER) + _GAP


def _number_width(node: BeamNode) -> float:
    """Pixels from the beginning of a probability to its node."""
    return text_width(_probability(node), _LETTER, _WIDE_LETTER) + _BEFORE


def _probability(node: BeamNode) -> str:
    """That of the token of a node after what stands before it."""
    return percent(math.exp(node.log_probability))


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
    x: list[float | None] = []
    y: list[int | None] = []
    for node in nodes:
        start, end = places[node.parent], places[node.number]
        x += [start.x, end.x, None]
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
        "x": [end.x - _BEFORE for end in ends],
        "y": [end.row + side * _BESIDE for end, side in zip(ends, sides, strict=True)],
        "text": [_probability(node) for node in nodes],
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
        "x": [places[node.number].x for node in nodes],
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
        "p": _probability(node),
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
