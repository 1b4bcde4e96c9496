"""The sheet of an SVG figure for a paper: on white, with title, caption and the name of the
project. Widths, type and margins are those of `figure/js/figureText.ts`."""

import math
from collections.abc import Callable, Iterator, Mapping
from html import escape
from types import MappingProxyType
from typing import Literal

from explorer.core.version import __version__

Width = Literal["both", "one"]

WIDTHS: Mapping[Width, int] = MappingProxyType({"both": 640, "one": 320})
"""Width of a figure in px: over both columns of a paper (16 cm), and in one of them."""

TYPE = 13
MARGIN = 16
INK, MUTED, RULE = "#10161f", "#55606e", "#d5dae1"

_FONT = (
    'Arial, "Helvetica Neue", "Noto Sans", "Noto Sans CJK SC", "PingFang SC", '
    '"Microsoft YaHei", sans-serif'
)
_LINE = 18
_TICKS = 5
_WIDE = 0x2E80
"""Code point from which characters are as wide as they are high."""

Draw = Callable[[float], tuple[list[str], float]]
"""Start of a drawing in px → its elements, and its end in px."""


def figure(title: str, caption: str, draw: Draw, language: str, width: int) -> bytes:
    """The figure as an SVG file. draw: the part between the caption and the project's name."""
    parts, top = paragraph(title, MARGIN, width, heading=True)
    written, top = paragraph(caption, top, width)
    drawn, top = draw(top + _LINE)
    project, top = paragraph(f"Attention explorer {__version__}", top + 4, width, MUTED)
    height = math.ceil(top + MARGIN / 2)
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" font-family=\'{_FONT}\' font-size="{TYPE}" '
        f'fill="{INK}" lang="{language}">'
    )
    paper = '<rect width="100%" height="100%" fill="#ffffff"/>'
    return "\n".join([head, paper, *parts, *written, *drawn, *project, "</svg>", ""]).encode()


def paragraph(
    text: str, top: float, width: float, fill: str = INK, heading: bool = False
) -> tuple[list[str], float]:
    """Lines of text from `top` on, and their end in px."""
    looks = ' font-weight="600" font-size="15"' if heading else ""
    rows = broken_lines(text, (width - 2 * MARGIN) / (1.25 if heading else 1))
    written = [
        f'<text x="{MARGIN}" y="{top + TYPE + number * _LINE:g}" fill="{fill}"{looks}>'
        f"{escape(row)}</text>"
        for number, row in enumerate(rows)
    ]
    return written, top + len(rows) * _LINE + 2


def text_at(
    x: float, y: float, text: str, anchor: Literal["start", "middle", "end"], fill: str = INK
) -> str:
    """One line of text."""
    return f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}" fill="{fill}">{escape(text)}</text>'


def turned_text(y: float, text: str) -> str:
    """The title of an axis at the left edge, read from below."""
    place = f'transform="translate({MARGIN + 8} {y:g}) rotate(-90)"'
    return f'<text {place} text-anchor="middle">{escape(text)}</text>'


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
    """Approximate width in px: no font is available."""
    return sum(TYPE if ord(letter) >= _WIDE else 0.54 * TYPE for letter in text)


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
