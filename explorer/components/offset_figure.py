"""The offsets a head attends to, in positions from the query, as a chart for Plotly."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from explorer.core.errors import TraceError
from explorer.core.i18n import say
from explorer.heads.reports.head_report import HeadReport

_BAR = "#3f7fca"
_CHANCE = "#7d838c"
_WIDTH = 0.7  # of a bar, and of the line across it
_HEIGHT = 210
_MARGIN = {"l": 52, "r": 12, "t": 8, "b": 48}  # px


@dataclass(frozen=True, slots=True)
class OffsetShare:
    """The share of a head's largest weights at an offset, and its chance level. Not a number where
    no query reaches the offset."""

    offset: int
    share: float
    chance: float


def offset_shares(report: HeadReport, site: str, layer: int, head: int) -> list[OffsetShare]:
    """Those of one head. Raises `TraceError` if the report does not have it."""
    found = report.offsets
    own = found[(found.site == site) & (found.layer == layer) & (found["head"] == head)]
    if own.empty:
        raise TraceError("not_in_report", site=site, head=f"L{layer} H{head}")
    return [OffsetShare(*row) for row in own[["offset", "share", "chance"]].itertuples(index=False)]


def offset_chart(shares: Sequence[OffsetShare], language: str) -> dict[str, Any]:
    """Data and layout for Plotly: a bar an offset, with a line across it at its chance level."""
    reached = [one for one in shares if one.share == one.share and one.chance == one.chance]
    places = [one.offset for one in reached]
    bars = {
        "type": "bar",
        "name": say("heads.column_share", language),
        "x": places,
        "y": [one.share for one in reached],
        "width": _WIDTH,
        "marker": {"color": _BAR},
        "hovertemplate": "%{y:.2f}",
    }
    chance = {
        "type": "scatter",
        "name": say("heads.column_chance", language),
        "x": places,
        "y": [one.chance for one in reached],
        "mode": "markers",
        "marker": {"symbol": "line-ew", "size": 4, "line": {"color": _CHANCE, "width": 1}},
        "hovertemplate": "%{y:.2f}",
    }
    offsets = [one.offset for one in shares]
    layout = {
        "height": _HEIGHT,
        "margin": _MARGIN,
        "showlegend": False,
        "hovermode": "x unified",
        "dragmode": False,
        "shapes": [_line_across(one) for one in reached],
        "xaxis": {
            "title": {"text": say("heads.offset_axis", language), "standoff": 8},
            "range": [min(offsets, default=0) - 0.5, max(offsets, default=0) + 0.5],
            "tickformat": "+d",
            "tickvals": offsets,
            "ticktext": [_signed(one) for one in offsets],
            "fixedrange": True,
            "showgrid": False,
            "zeroline": False,
        },
        "yaxis": {
            "title": {"text": say("heads.column_share", language)},
            "range": [0, 1],
            "dtick": 0.25,
            "fixedrange": True,
        },
    }
    return {"data": [bars, chance], "layout": layout}


def _line_across(one: OffsetShare) -> dict[str, Any]:
    """The line at the chance level, as wide as the bar, however wide the chart is."""
    sides = {"x0": one.offset - _WIDTH / 2, "x1": one.offset + _WIDTH / 2}
    line = {"color": _CHANCE, "width": 2}
    return {"type": "line", **sides, "y0": one.chance, "y1": one.chance, "line": line}


def _signed(offset: int) -> str:
    return f"{offset:+d}".replace("-", "−") if offset else "0"
