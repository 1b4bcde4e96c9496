"""Axes, labels and margins of a map in a Plotly figure: a row and a column each is a label."""

import math
import unicodedata
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.core.i18n import isolated

_LONGEST_LABEL = 24  # characters of a label on an axis
_HOVER_LINE = 60  # characters
_MOST_LABELS = 30  # of an axis
_LEAST_WIDTH = 420  # px of the map in a figure 700 px wide: as many labels stand upright there
_LETTER, _WIDE_LETTER, _LINE = 7, 12, 14  # px of a label
_TITLES = 84  # px for those of the figure and of the axis above the map
_BELOW = 40  # px
_LEAST_HEIGHT = 450  # px, Plotly's own in a notebook


def map_layout(
    title: str, names: tuple[str, str], rows: Sequence[str], columns: Sequence[str]
) -> dict[str, Any]:
    """Title, axes and margins: labels of columns stand upright where they would lie on one another.

    names: of both axes, that of the rows first.
    """
    labels = _labelled(columns)
    widest = max((_width(columns[at]) for at in labels), default=0)
    upright = (widest + _LETTER) * len(labels) > _LEAST_WIDTH
    heading = {"yref": "container", "y": 1, "yanchor": "top", "pad": {"t": _LINE}}
    return {
        "title": {"text": plain(title), **heading},
        "xaxis": _axis(names[1], columns) | {"side": "top", "tickangle": -90 if upright else 0},
        "yaxis": _axis(names[0], rows) | {"autorange": "reversed"},
        "plot_bgcolor": "white",
        **_room(len(_labelled(rows)), widest if upright else _LINE),
    }


def _room(rows: int, above: int) -> dict[str, object]:
    """Margins in which the labels of the columns, `above` px high, have room below the titles, and
    a height for `rows` labels if Plotly's own has none."""
    margin = {"t": _TITLES + above, "b": _BELOW}
    height = sum(margin.values()) + _LINE * rows
    return {"margin": margin} | ({"height": height} if height > _LEAST_HEIGHT else {})


def _width(token: str) -> int:
    """Approximate px of a label."""
    wide = (unicodedata.east_asian_width(letter) in "WF" for letter in _shortened(token))
    return sum(_WIDE_LETTER if is_wide else _LETTER for is_wide in wide)


def _labelled(tokens: Sequence[str]) -> range:
    """The positions of an axis that have a label: every n-th."""
    return range(0, len(tokens), max(1, math.ceil(len(tokens) / _MOST_LABELS)))


def _axis(name: str, tokens: Sequence[str]) -> dict[str, object]:
    return {
        "title": {"text": name},
        "tickvals": list(_labelled(tokens)),
        "ticktext": [plain(isolated(_shortened(tokens[at]))) for at in _labelled(tokens)],
        "showgrid": False,
        "zeroline": False,
    }


def map_hover(
    names: tuple[str, str], rows: Sequence[str], columns: Sequence[str]
) -> tuple[str, dict[str, NDArray[np.object_]]]:
    """Template of the hover text of a cell, and the data it needs. It shows the labels of the axes.
    If any is shortened or left out, it shows them whole, sent as data (row, column, 2)."""
    sides = (rows, columns)
    complete = all(len(_labelled(side)) == len(side) for side in sides)
    if complete and all(token == _shortened(token) for token in (*rows, *columns)):
        return f"{names[0]} %{{y}}, {names[1]} %{{x}}", {}
    whole = [np.array([_in_lines(token) for token in side], object) for side in sides]
    cells = np.stack(np.meshgrid(*whole, indexing="ij"), axis=-1)
    own = f"{names[0]} %{{customdata[0]}}<br>{names[1]} %{{customdata[1]}}"
    return own, {"customdata": cells}


def _shortened(token: str) -> str:
    return token if len(token) <= _LONGEST_LABEL else f"{token[:_LONGEST_LABEL]}…"


def _in_lines(token: str) -> str:
    """A whole token, broken if it is too long for one line."""
    starts = range(0, max(len(token), 1), _HOVER_LINE)
    return "<br>".join(plain(isolated(token[start : start + _HOVER_LINE])) for start in starts)


def plain(text: str) -> str:
    """`text` escaped for Plotly, which reads some HTML, and formulas between dollar signs."""
    escaped = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return escaped.replace("$", "&#36;")
