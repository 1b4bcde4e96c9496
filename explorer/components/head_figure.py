"""One head as a Plotly figure, to be changed and combined with others."""

from typing import TYPE_CHECKING

import numpy as np

from explorer.core.interventions import removed_heads
from explorer.core.mask_reasons import REASONS, UNMASKED
from explorer.core.trace import Trace, check_trace

if TYPE_CHECKING:
    import plotly.graph_objects as go

_RAMP = ["#ffffff", "#c3d6ec", "#7ba3d0", "#31629f", "#08264f"]
_GREY = "#c9ccd2"
_REPLACED = {"zero": "zero", "mean": "its mean"}


def figure(trace: Trace, site: str, layer: int, head: int) -> "go.Figure":
    """The weights of one head as a heatmap: queries down, keys across, masked cells in grey.

    The axes are positions with their tokens as labels, because a token may occur twice. Raises
    `TraceError` on a site or head that the trace does not have.
    """
    import plotly.graph_objects as go

    check_trace(trace)
    weights = trace.table(site, layer, head).to_numpy()
    codes = trace.closed(site, layer, head)
    masked = codes != UNMASKED
    queries, keys = weights.shape
    labels = {"x": list(range(keys)), "y": list(range(queries)), "hoverongaps": False}
    shown = go.Heatmap(
        z=np.where(masked, np.nan, weights),
        zmin=0,
        zmax=max(1.0, float(weights.max(initial=0))),
        colorscale=_RAMP,
        colorbar={"title": {"text": "weight"}},
        name="weight",
        hovertemplate="query %{y}, key %{x}: %{z:.4f}<extra></extra>",
        **labels,
    )
    reasons = go.Heatmap(
        z=np.where(masked, 1.0, np.nan),
        text=np.array(REASONS)[codes],
        colorscale=[_GREY, _GREY],
        showscale=False,
        name="masked",
        hovertemplate="query %{y}, key %{x}: masked, %{text}<extra></extra>",
        **labels,
    )
    model = trace.facts.get("model")
    removed = removed_heads(trace.facts, site, *trace.attention(site).shape[:2])
    how = removed.get((layer, head))
    title = f"{site} attention, L{layer} H{head}" + (f" of {model}" if model else "")
    title += f"; this head is removed, its output is {_REPLACED[how]}" if how else ""
    return go.Figure(
        [shown, reasons],
        {
            "title": {"text": _plain(title)},
            "xaxis": _axis("key", trace.keys(site)) | {"side": "top"},
            "yaxis": _axis("query", trace.queries(site)) | {"autorange": "reversed"},
            "plot_bgcolor": "white",
        },
    )


def _axis(name: str, tokens: tuple[str, ...]) -> dict[str, object]:
    return {
        "title": {"text": name},
        "tickvals": list(range(len(tokens))),
        "ticktext": [_plain(token) for token in tokens],
        "showgrid": False,
        "zeroline": False,
    }


def _plain(text: str) -> str:
    """`text` for Plotly, which reads a part of HTML, and formulas between dollar signs."""
    escaped = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return escaped.replace("$", "&#36;")
