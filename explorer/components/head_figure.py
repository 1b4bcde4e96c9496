"""One head as a Plotly figure that can be changed and combined with others."""

import math
import unicodedata
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from explorer.core.errors import TraceError
from explorer.core.i18n import isolated
from explorer.core.interventions import removed_heads
from explorer.core.mask_reasons import REASONS, UNMASKED
from explorer.core.trace import Trace, check_trace
from explorer.core.vocabulary import shorten

if TYPE_CHECKING:
    import plotly.graph_objects as go

    from explorer.heads.reports.head_report import HeadReport

_RAMP = ["#ffffff", "#c3d6ec", "#7ba3d0", "#31629f", "#08264f"]
_GREY = "#c9ccd2"
_LONGEST_LABEL = 24  # characters of a token on an axis
_HOVER_LINE = 60  # characters
_HAIRLINED = 40  # cells across or down, of at least some 12 px; with more, lines would hide weights
_MOST_LABELS = 30  # of an axis
_LEAST_WIDTH = 420  # px of the map in a figure 700 px wide: as many labels stand upright there
_LETTER, _WIDE_LETTER, _LINE = 7, 12, 14  # px of a label
_TITLES = 84  # px for those of the figure and of the axis above the map
_BELOW = 40  # px
_LEAST_HEIGHT = 450  # px, Plotly's own in a notebook
_REPLACED = {"zero": "zero", "mean": "its mean"}


def figure(
    trace: "Trace | HeadReport",
    site: str,
    layer: int,
    head: int,
    *,
    colour_limit: float | None = None,
) -> "go.Figure":
    """The weights of one head as a heatmap: queries down, keys across, masked cells in grey. Of the
    report that `measure` returns: the offsets that the head attends to, as bars.

    colour_limit: the weight from which a cell has the darkest colour, above 0; None = 1, or the
        largest weight if that is more. Without effect on a report.

    The axes are positions with their tokens as labels, because a token may occur twice. Of many
    tokens every n-th has a label, and long ones are shortened; the pointer shows each in full.
    Raises `TraceError` on a site or head that the trace or the report does not have.
    """
    import plotly.graph_objects as go

    from explorer.heads.reports.head_report import HeadReport  # late, as is plotly

    if isinstance(trace, HeadReport):
        return _offsets(trace, site, layer, head)
    check_trace(trace)
    weights = trace.table(site, layer, head).to_numpy()
    codes = trace.closed(site, layer, head)
    masked = codes != UNMASKED
    queries, keys = weights.shape
    tokens = trace.queries(site), trace.keys(site)
    cell, whole = _hover(*tokens)
    gap = 1 if max(queries, keys) <= _HAIRLINED else 0  # two neighbours of one weight are two cells
    labels = {"x": list(range(keys)), "y": list(range(queries)), "hoverongaps": False, **whole}
    labels |= {"xgap": gap, "ygap": gap}
    shown = go.Heatmap(
        z=np.where(masked, np.nan, weights),
        zmin=0,
        zmax=_limit(colour_limit, weights),
        colorscale=_RAMP,
        colorbar={"title": {"text": "weight"}},
        name="weight",
        hovertemplate=f"{cell}: %{{z:.4f}}<extra></extra>",
        **labels,
    )
    reasons = go.Heatmap(
        z=np.where(masked, 1.0, np.nan),
        text=np.array(REASONS)[codes],
        colorscale=[_GREY, _GREY],
        showscale=False,
        name="masked",
        hovertemplate=f"{cell}: masked, %{{text}}<extra></extra>",
        **labels,
    )
    model = trace.facts.get("model")
    removed = removed_heads(trace.facts, site, *trace.attention(site).shape[:2])
    how = removed.get((layer, head))
    title = f"{site} attention, L{layer} H{head}" + (f" of {model}" if model else "")
    title += f"; this head is removed, its output is {_REPLACED[how]}" if how else ""
    return go.Figure([shown, reasons], _layout(title, *tokens))


def _layout(title: str, queries: tuple[str, ...], keys: tuple[str, ...]) -> dict[str, object]:
    """Title, axes and margins: labels of keys stand upright where they would lie on one another."""
    labels = _labelled(keys)
    widest = max((_width(keys[at]) for at in labels), default=0)
    upright = (widest + _LETTER) * len(labels) > _LEAST_WIDTH
    heading = {"yref": "container", "y": 1, "yanchor": "top", "pad": {"t": _LINE}}
    return {
        "title": {"text": _plain(title), **heading},
        "xaxis": _axis("key", keys) | {"side": "top", "tickangle": -90 if upright else 0},
        "yaxis": _axis("query", queries) | {"autorange": "reversed"},
        "plot_bgcolor": "white",
        **_room(len(_labelled(queries)), widest if upright else _LINE),
    }


def _limit(asked: float | None, weights: NDArray[np.floating]) -> float:
    """The weight of the darkest colour. Raises `TraceError`."""
    if asked is None:
        return max(1.0, float(weights.max(initial=0)))
    if not (isinstance(asked, int | float) and 0 < asked < math.inf):
        raise TraceError("no_colour_limit", got=shorten(repr(asked)))
    return float(asked)


def _room(rows: int, above: int) -> dict[str, object]:
    """Margins in which the labels of the keys, `above` px high, have room below the titles, and a
    height for `rows` labels of queries if Plotly's own has none."""
    margin = {"t": _TITLES + above, "b": _BELOW}
    height = sum(margin.values()) + _LINE * rows
    return {"margin": margin} | ({"height": height} if height > _LEAST_HEIGHT else {})


def _width(token: str) -> int:
    """Approximate px of a label."""
    wide = (unicodedata.east_asian_width(letter) in "WF" for letter in _shortened(token))
    return sum(_WIDE_LETTER if is_wide else _LETTER for is_wide in wide)


def _labelled(tokens: tuple[str, ...]) -> range:
    """The positions of an axis that have a label: every n-th."""
    return range(0, len(tokens), max(1, math.ceil(len(tokens) / _MOST_LABELS)))


def _offsets(report: "HeadReport", site: str, layer: int, head: int) -> "go.Figure":
    import plotly.graph_objects as go

    from explorer.components.offset_figure import offset_chart, offset_shares

    chart = offset_chart(offset_shares(report, site, layer, head), "en")
    title = f"{site} attention, L{layer} H{head} of {report.facts['model']}: offsets"
    del chart["layout"]["height"], chart["layout"]["margin"]  # there is a title above
    return go.Figure(chart).update_layout(title={"text": _plain(title)})


def _axis(name: str, tokens: tuple[str, ...]) -> dict[str, object]:
    return {
        "title": {"text": name},
        "tickvals": list(_labelled(tokens)),
        "ticktext": [_plain(isolated(_shortened(tokens[at]))) for at in _labelled(tokens)],
        "showgrid": False,
        "zeroline": False,
    }


def _hover(
    queries: tuple[str, ...], keys: tuple[str, ...]
) -> tuple[str, dict[str, NDArray[np.object_]]]:
    """Template of the hover text of a cell, and the data it needs. It shows the labels of the axes.
    If any is shortened or left out, it shows the whole tokens, sent as data (query, key, 2)."""
    sides = (queries, keys)
    complete = all(len(_labelled(side)) == len(side) for side in sides)
    if complete and all(token == _shortened(token) for token in (*queries, *keys)):
        return "query %{y}, key %{x}", {}
    whole = [np.array([_in_lines(token) for token in side], object) for side in sides]
    cells = np.stack(np.meshgrid(*whole, indexing="ij"), axis=-1)
    return "query %{customdata[0]}<br>key %{customdata[1]}", {"customdata": cells}


def _shortened(token: str) -> str:
    return token if len(token) <= _LONGEST_LABEL else f"{token[:_LONGEST_LABEL]}…"


def _in_lines(token: str) -> str:
    """A whole token, broken if it is too long for one line."""
    starts = range(0, max(len(token), 1), _HOVER_LINE)
    return "<br>".join(_plain(isolated(token[start : start + _HOVER_LINE])) for start in starts)


def _plain(text: str) -> str:
    """`text` escaped for Plotly, which reads some HTML, and formulas between dollar signs."""
    escaped = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return escaped.replace("$", "&#36;")
