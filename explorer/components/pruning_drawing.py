"""Pruning curves as an SVG file for a paper."""

import math
from collections.abc import Callable, Iterator, Sequence

from explorer.components.figure_sheet import (
    MUTED,
    RULE,
    WIDTHS,
    Width,
    figure,
    text_at,
    text_width,
    ticks,
    turned_text,
)
from explorer.components.pruning_figure import Line, Unit, lines, order_name, panels
from explorer.core.i18n import say
from explorer.heads.pruning.pruning_report import PruningReport

_LEFT = 64  # px, for the axis of the losses
_NAME_GAP = 10  # px between the end of a line and its name
_RIGHT = 12  # px beside the longest name
_HEIGHTS = {"loss": 250, "bleu": 130}  # px of the panels
_AXIS = 58  # px below a panel, for ticks and title
_LABEL_PITCH = 24  # px that the number of heads below a tick needs

Place = Callable[[float, float], tuple[float, float]]
"""Heads left and a value → px."""


def pruning_drawing(
    report: PruningReport, about: str, language: str, width: Width = "both"
) -> bytes:
    """The picture. about: the data the curves were measured on."""
    names = (order_name(curve.order, language) for curve in report.curves)
    right = WIDTHS[width] - _RIGHT - _NAME_GAP - max(map(text_width, names), default=0)

    def draw(top: float) -> tuple[list[str], float]:
        parts: list[str] = []
        for unit in panels(report):
            parts += _panel(report, unit, top, right, language)
            top += _HEIGHTS[unit] + _AXIS
        return parts, top

    title = say("pruning.title", language, model=report.facts["model"])
    if not report.complete:
        title = say("pruning.unfinished", language, name=title)
    return figure(title, about, draw, language, WIDTHS[width])


def _panel(
    report: PruningReport, unit: Unit, top: float, right: float, language: str
) -> Iterator[str]:
    """The axes and lines of one unit, up to `right` px."""
    heads, height = int(report.facts["heads"]), _HEIGHTS[unit]
    shown = lines(report, unit)
    highest = [point.value for line in shown for point in line.points]
    highest += [high for line in shown for _, _, high in line.band]
    marks = ticks(max(highest, default=1.0))
    bottom = top + height

    def place(left: float, value: float) -> tuple[float, float]:
        """px of a number of heads left and a value."""
        x = _LEFT + (1 - left / heads) * (right - _LEFT)
        return round(x, 2), round(bottom - value / marks[-1] * height, 2)

    for mark in marks:
        _, y = place(heads, mark)
        yield f'<path d="M{_LEFT} {y}H{right:g}" stroke="{RULE}" fill="none"/>'
        yield text_at(_LEFT - 8, y + 4, f"{mark:.6g}", "end", MUTED)
    for left in report.points:
        x, _ = place(left, 0)
        yield f'<path d="M{x} {bottom}v5" stroke="{MUTED}" fill="none"/>'
    for left in _labelled(report.points, right - _LEFT):
        yield text_at(place(left, 0)[0], bottom + 18, str(left), "middle", MUTED)
    middle = say("pruning.heads_left", language, heads=heads)
    yield text_at((_LEFT + right) / 2, bottom + 38, middle, "middle")
    yield turned_text(top + height / 2, say(f"pruning.{unit}", language))
    for line in shown:
        yield from _band(line, place)
    for line in shown:
        path = [place(point.heads_left, point.value) for point in line.points]
        drawn = "L".join(f"{x} {y}" for x, y in path)
        yield f'<path d="M{drawn}" stroke="{line.colour}" stroke-width="2" fill="none"/>'
        x, y = path[-1]
        name = order_name(line.order, language)
        yield text_at(x + _NAME_GAP, y + 4 + line.shift, name, "start", line.colour)


def _labelled(points: Sequence[int], width: float) -> Sequence[int]:
    """Every n-th of the numbers of heads, with n large enough to separate their labels, and the
    last one."""
    every = math.ceil(_LABEL_PITCH * (len(points) - 1) / width) if len(points) > 1 else 1
    return points[::-1][::every]


def _band(line: Line, place: Place) -> Iterator[str]:
    lower = [place(left, low) for left, low, _ in line.band]
    upper = [place(left, high) for left, _, high in reversed(line.band)]
    if lower:
        corners = " ".join(f"{x},{y}" for x, y in (*lower, *upper))
        yield f'<polygon points="{corners}" fill="{line.colour}" fill-opacity="0.16"/>'
