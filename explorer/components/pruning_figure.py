"""Pruning curves as a chart for Plotly."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, Literal

from explorer.core.i18n import in_a_row, say
from explorer.core.number_format import fixed_number
from explorer.heads.pruning.pruning_report import PruningPoint, PruningReport

COLOURS: Mapping[str, str] = MappingProxyType(
    {
        "importance": "#3f7fca",
        "confidence": "#9566bf",
        "contribution": "#1f8f70",
        "greedy": "#c4517c",
        "random": "#7d838c",
    }
)
"""Colour by order of removal; readable on white and on a dark page."""

Unit = Literal["loss", "bleu"]

_BAND = 0.16  # opacity
_PITCH = 16  # px between the names of two lines
_EDGE = 0.02  # of the numbers of heads, left free beside the first and the last one
_ALONE = 350  # px, the height of the losses
_HEIGHTS = {"loss": 296, "bleu": 120}  # px, above each other
_GAP = 36  # px between the two, for the ticks of the upper one
_MARGIN = {"l": 64, "r": 112, "t": 12, "b": 48}  # px; the names of the lines are on the right


@dataclass(frozen=True, slots=True)
class Line:
    """One order of removal in one panel.

    complete: whether it continues to a model without heads.
    shift: px by which its name is below its end, since complete lines all end at one point.
    """

    order: str
    points: Sequence[PruningPoint]
    complete: bool
    shift: int = 0

    @property
    def colour(self) -> str:
        return COLOURS[self.order]

    @property
    def band(self) -> list[tuple[int, float, float]]:
        """Heads left, lower and upper end. For random orders: the smallest and the largest value.
        For the others: the value with all heads plus the ends of the change from it, none below
        0."""
        if self.order == "random":
            return [(one.heads_left, one.low, one.high) for one in self.points if one.has_interval]
        whole = self.points[0].value
        return [
            (one.heads_left, max(0.0, whole + one.change_low), max(0.0, whole + one.change_high))
            for one in self.points
            if one.has_change
        ]


def lines(report: PruningReport, unit: Unit) -> list[Line]:
    """The lines of a panel that have a point. Names of lines that end at one point are in the order
    of the lines, from top to bottom."""
    wanted = report.points if unit == "loss" else report.bleu_points
    found = []
    for curve in report.curves:
        points = curve.losses if unit == "loss" else curve.bleu
        if points:
            found.append(Line(curve.order, points, len(points) == len(wanted)))
    complete = sorted((line for line in found if line.complete), key=_height, reverse=True)
    first = 0 if unit == "loss" else 1 - len(complete)  # BLEU ends at the bottom
    shifts = {line.order: (first + place) * _PITCH for place, line in enumerate(complete)}
    return [replace(one, shift=shifts.get(one.order, 0)) for one in found]


def panels(report: PruningReport) -> list[Unit]:
    """The losses and, below them, BLEU if it is measured."""
    return ["loss", "bleu"] if report.bleu_points else ["loss"]


def chart_height(report: PruningReport) -> int:
    """Height of the chart in px."""
    inner = _HEIGHTS["loss"] + _GAP + _HEIGHTS["bleu"] if report.bleu_points else _ALONE
    return inner + _MARGIN["t"] + _MARGIN["b"]


def pruning_chart(report: PruningReport, language: str) -> dict[str, Any]:
    """Data and layout for Plotly: heads left from all to none, intervals as bands."""
    data: list[dict[str, Any]] = []
    annotations: list[dict[str, Any]] = []
    inner = chart_height(report) - _MARGIN["t"] - _MARGIN["b"]
    layout: dict[str, Any] = {
        "height": chart_height(report),
        "margin": _MARGIN,
        "showlegend": False,
        "hovermode": "x unified",
        "dragmode": False,
        "annotations": annotations,
    }
    middle = (_HEIGHTS["bleu"] + _GAP) / inner if report.bleu_points else 0.0
    domains = {"loss": [middle, 1.0], "bleu": [0.0, _HEIGHTS["bleu"] / inner]}
    for number, unit in enumerate(panels(report)):
        end = "" if number == 0 else str(number + 1)
        shown = lines(report, unit)
        for line in shown:
            data += _traces(line, end, unit, language)
            annotations.append(_name(line, end, language))
        layout[f"xaxis{end}"] = _heads_axis(report, end, language, unit == panels(report)[-1])
        layout[f"yaxis{end}"] = {
            "title": {"text": say(f"pruning.{unit}", language)},
            "domain": domains[unit],
            "rangemode": "tozero",
            "fixedrange": True,
        }
        if not shown:  # Plotly draws no axes without a trace, and would guess at a range
            data.append(_no_line(end))
            layout[f"yaxis{end}"] |= {"range": [0, 1], "showticklabels": False}
    return {"data": data, "layout": layout}


def order_name(order: str, language: str) -> str:
    return say(f"pruning.order_{order}", language)


def removal_orders(report: PruningReport, language: str) -> Iterator[tuple[str, str]]:
    """The name of each known order, and its heads, the first removed first."""
    for curve in report.curves:
        heads = []
        for name in curve.removed:
            site, layer, head = name.split(".")
            heads.append(f"{say(f'player.site_{site}', language)} L{layer} H{head}")
        if heads:
            yield order_name(curve.order, language), say("heads.comma", language).join(heads)


def about(report: PruningReport, batch: str, language: str) -> str:
    """The data the curves were measured on, and the meaning of their bands. batch: its name as on a
    page."""
    count = report.facts["sentences"]
    sentences = [say("pruning.about", language, batch=batch, sentences=count)]
    if any(line.order != "random" and line.band for line in lines(report, "loss")):
        sentences.append(say("pruning.about_bands", language))
    if report.curve("random").losses:
        sentences.append(say("pruning.about_random", language, draws=report.facts["draws"]))
    if report.facts["targets"] == "greedy":
        sentences.append(say("pruning.about_own_output", language))
    return in_a_row(sentences, language)


def _height(line: Line) -> float:
    """The mean value of a line."""
    return sum(point.value for point in line.points) / len(line.points)


def _traces(line: Line, end: str, unit: Unit, language: str) -> Iterator[dict[str, Any]]:
    """The band and the line. A legend names those of the losses, which have the colours of all."""
    around = [(left, low) for left, low, _ in line.band]
    around += [(left, high) for left, _, high in reversed(line.band)]
    axes = {"xaxis": f"x{end}", "yaxis": f"y{end}"}
    red, green, blue = (int(line.colour[place : place + 2], 16) for place in (1, 3, 5))
    yield {
        "type": "scatter",
        "x": [left for left, _ in around],
        "y": [end for _, end in around],
        "fill": "toself",
        "fillcolor": f"rgba({red}, {green}, {blue}, {_BAND})",
        "mode": "none",
        "hoverinfo": "skip",
        "showlegend": False,
        **axes,
    }
    digits = ".3f" if unit == "loss" else ".1f"
    yield {
        "type": "scatter",
        "name": order_name(line.order, language),
        "x": [point.heads_left for point in line.points],
        "y": [point.value for point in line.points],
        "customdata": [[words] for words in _hover_words(line, unit)],
        "mode": "lines+markers",
        "line": {"color": line.colour, "width": 2},
        "marker": {"size": 5},
        "hovertemplate": f"%{{y:{digits}}}%{{customdata[0]}}",
        "showlegend": unit == "loss",
        **axes,
    }


def _hover_words(line: Line, unit: Unit) -> Iterator[str]:
    """Text after the value of each point: the change from all heads, or the range of the draws."""
    decimals, whole = 3 if unit == "loss" else 1, line.points[0].value
    for point in line.points:
        words = ""
        if point.has_change and point is not line.points[0]:
            change, *ends = (
                fixed_number(value, decimals, signed=True)
                for value in (point.value - whole, point.change_low, point.change_high)
            )
            words = f" ({change} [{', '.join(ends)}])"
        elif line.order == "random" and point.has_interval:
            ends = [fixed_number(value, decimals) for value in (point.low, point.high)]
            words = f" [{', '.join(ends)}]"
        yield words


def _no_line(end: str) -> dict[str, Any]:
    """A trace without a point, for a panel that has no line yet."""
    axes = {"xaxis": f"x{end}", "yaxis": f"y{end}"}
    hidden = {"hoverinfo": "skip", "showlegend": False}
    return {"type": "scatter", "x": [None], "y": [None], **hidden, **axes}


def _name(line: Line, end: str, language: str) -> dict[str, Any]:
    """The name of a line, behind its last point."""
    last = line.points[-1]
    return {
        "text": order_name(line.order, language),
        "font": {"color": line.colour},
        "x": last.heads_left,
        "y": last.value,
        "xref": f"x{end}",
        "yref": f"y{end}",
        "xanchor": "left",
        "xshift": 10,
        "yshift": -line.shift,
        "showarrow": False,
    }


def _heads_axis(report: PruningReport, end: str, language: str, titled: bool) -> dict[str, Any]:
    heads = report.facts["heads"]
    title = say("pruning.heads_left", language, heads=heads) if titled else ""
    return {
        "title": {"text": title, "standoff": 8},
        "range": [heads * (1 + _EDGE), -heads * _EDGE],
        "tickvals": list(report.points),
        "anchor": f"y{end}",
        "fixedrange": True,
        "showgrid": False,
        "zeroline": False,
    }
