"""Pruning curves as an SVG file for a paper: as wide as the other figures, on white, captioned."""

import math
from collections.abc import Callable, Iterator
from html import escape

from explorer import __version__
from explorer.components.pruning_figure import Line, Unit, lines, order_name, panels
from explorer.core.i18n import say
from explorer.heads.pruning_report import PruningReport

_FONT = (
    'Arial, "Helvetica Neue", "Noto Sans", "Noto Sans CJK SC", "PingFang SC", '
    '"Microsoft YaHei", sans-serif'
)
_WIDTH = 640  # px, with the type and margin of `shared/js/figureText.js`
_TYPE = 13
_LINE = 18
_MARGIN = 16
_LEFT = 64  # px, for the axis of the losses
_RIGHT = 112  # px, for the names of the lines
_HEIGHTS = {"loss": 250, "bleu": 130}  # px of the panels
_AXIS = 58  # px below a panel, for ticks and title
_INK, _MUTED, _RULE = "#10161f", "#55606e", "#d5dae1"
_TICKS = 5
_WIDE = 0x2E80
"""From here on characters are as wide as they are high."""


Place = Callable[[float, float], tuple[float, float]]
"""Heads left and a value → px."""


def pruning_drawing(report: PruningReport, about: str, language: str) -> bytes:
    """The picture. about: on what the curves were measured."""
    title = say("pruning.title", language, model=report.facts["model"])
    parts, top = [], float(_MARGIN)
    for number, text in enumerate((title, about)):
        written, top = _paragraph(text, top, heading=number == 0)
        parts += written
    top += _LINE
    for unit in panels(report):
        parts += _panel(report, unit, top, language)
        top += _HEIGHTS[unit] + _AXIS
    written, top = _paragraph(f"Attention explorer {__version__}", top + 4, _MUTED)
    parts += written
    height = math.ceil(top + _MARGIN / 2)
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{height}" '
        f'viewBox="0 0 {_WIDTH} {height}" font-family=\'{_FONT}\' font-size="{_TYPE}" '
        f'fill="{_INK}" lang="{language}">'
    )
    paper = '<rect width="100%" height="100%" fill="#ffffff"/>'
    return "\n".join([head, paper, *parts, "</svg>", ""]).encode()


def ticks(highest: float) -> list[float]:
    """About five round numbers from 0 to at least `highest`."""
    highest = max(highest, 1e-6)
    rough = highest / _TICKS
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * factor for factor in (1, 2, 5, 10) if power * factor >= rough * 0.999)
    return [step * number for number in range(math.ceil(highest / step * 0.999) + 1)]


def broken_lines(text: str, width: float) -> list[str]:
    """A text in lines of at most `width` px: broken between words, in Chinese between
    characters."""
    found = [""]
    for part in _parts(text):
        if text_width((found[-1] + part).rstrip()) <= width:
            found[-1] += part
        elif part.strip():
            found.append(part)
    return [line.strip() for line in found if line.strip()]


def text_width(text: str) -> float:
    """Roughly, in px: no font is at hand."""
    return sum(_TYPE if ord(letter) >= _WIDE else 0.54 * _TYPE for letter in text)


def _parts(text: str) -> Iterator[str]:
    """Words with the space before them, and single wide characters."""
    word = ""
    for letter in text:
        if letter == " " or ord(letter) >= _WIDE:
            if word:
                yield word
            word = ""
        if ord(letter) >= _WIDE:
            yield letter
        else:
            word += letter
    if word:
        yield word


def _paragraph(
    text: str, top: float, fill: str = _INK, heading: bool = False
) -> tuple[list[str], float]:
    """Lines of text from `top` on, and where they end."""
    looks = ' font-weight="600" font-size="15"' if heading else ""
    rows = broken_lines(text, (_WIDTH - 2 * _MARGIN) / (1.25 if heading else 1))
    written = [
        f'<text x="{_MARGIN}" y="{top + _TYPE + number * _LINE:g}" fill="{fill}"{looks}>'
        f"{escape(row)}</text>"
        for number, row in enumerate(rows)
    ]
    return written, top + len(rows) * _LINE + 2


def _panel(report: PruningReport, unit: Unit, top: float, language: str) -> Iterator[str]:
    """The axes and lines of one unit."""
    heads, height = int(report.facts["heads"]), _HEIGHTS[unit]
    shown = lines(report, unit)
    points = [point for line in shown for point in line.points]
    ends = (point.high if point.has_interval else point.value for point in points)
    highest = max(ends, default=1.0)
    marks = ticks(highest)
    right, bottom = _WIDTH - _RIGHT, top + height

    def place(left: float, value: float) -> tuple[float, float]:
        """px of so many heads left and a value."""
        x = _LEFT + (1 - left / heads) * (right - _LEFT)
        return round(x, 2), round(bottom - value / marks[-1] * height, 2)

    for mark in marks:
        _, y = place(heads, mark)
        yield f'<path d="M{_LEFT} {y}H{right}" stroke="{_RULE}" fill="none"/>'
        yield _text(_LEFT - 8, y + 4, f"{mark:.6g}", "end", _MUTED)
    for left in report.points:
        x, _ = place(left, 0)
        yield f'<path d="M{x} {bottom}v5" stroke="{_MUTED}" fill="none"/>'
        yield _text(x, bottom + 18, str(left), "middle", _MUTED)
    middle = say("pruning.heads_left", language, heads=heads)
    yield _text((_LEFT + right) / 2, bottom + 38, middle, "middle")
    y = top + height / 2
    turned = f'transform="translate({_MARGIN + 8} {y}) rotate(-90)"'
    label = escape(say(f"pruning.{unit}", language))
    yield f'<text {turned} text-anchor="middle">{label}</text>'
    for line in shown:
        yield from _band(line, place)
    for line in shown:
        path = [place(point.heads_left, point.value) for point in line.points]
        drawn = "L".join(f"{x} {y}" for x, y in path)
        yield f'<path d="M{drawn}" stroke="{line.colour}" stroke-width="2" fill="none"/>'
        x, y = path[-1]
        name = order_name(line.order, language)
        yield _text(x + 10, y + 4 + line.shift, name, "start", line.colour)


def _band(line: Line, place: Place) -> Iterator[str]:
    known = [point for point in line.points if point.has_interval]
    lower = [place(point.heads_left, point.low) for point in known]
    upper = [place(point.heads_left, point.high) for point in reversed(known)]
    if known:
        corners = " ".join(f"{x},{y}" for x, y in (*lower, *upper))
        yield f'<polygon points="{corners}" fill="{line.colour}" fill-opacity="0.16"/>'


def _text(x: float, y: float, text: str, anchor: str, fill: str = _INK) -> str:
    return f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}" fill="{fill}">{escape(text)}</text>'
