"""One head as a Plotly figure that can be changed and combined with others."""

import math
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from explorer.components.map_layout import map_hover, map_layout, plain
from explorer.core.errors import TraceError
from explorer.core.interventions import removed_heads
from explorer.core.mask_reasons import REASONS, UNMASKED
from explorer.core.trace import Trace, check_trace
from explorer.core.vocabulary import shorten

if TYPE_CHECKING:
    import plotly.graph_objects as go

    from explorer.heads.reports.head_report import HeadReport

_RAMP = ["#ffffff", "#c3d6ec", "#7ba3d0", "#31629f", "#08264f"]
_GREY = "#c9ccd2"
_HAIRLINED = 40  # cells across or down, of at least some 12 px; with more, lines would hide weights
_REPLACED = {"zero": "zero", "mean": "its mean"}
_NAMES = "query", "key"


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
    cell, whole = map_hover(_NAMES, *tokens)
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
    return go.Figure([shown, reasons], map_layout(title, _NAMES, *tokens))


def _limit(asked: float | None, weights: NDArray[np.floating]) -> float:
    """The weight of the darkest colour. Raises `TraceError`."""
    if asked is None:
        return max(1.0, float(weights.max(initial=0)))
    if not (isinstance(asked, int | float) and 0 < asked < math.inf):
        raise TraceError("no_colour_limit", got=shorten(repr(asked)))
    return float(asked)


def _offsets(report: "HeadReport", site: str, layer: int, head: int) -> "go.Figure":
    import plotly.graph_objects as go

    from explorer.components.offset_figure import offset_chart, offset_shares

    chart = offset_chart(offset_shares(report, site, layer, head), "en")
    title = f"{site} attention, L{layer} H{head} of {report.facts['model']}: offsets"
    del chart["layout"]["height"], chart["layout"]["margin"]  # there is a title above
    return go.Figure(chart).update_layout(title={"text": plain(title)})
