"""The offsets a head attends to, in positions from the query, as an SVG file for a paper."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from explorer.components.figure_sheet import (
    MUTED,
    RULE,
    WIDTHS,
    Width,
    figure,
    text_at,
    turned_text,
)
from explorer.core.i18n import say

_BAR = "#3f7fca"
_LEFT = 64  # px, for the axis of shares
_RIGHT = 12
_HEIGHT = 160
_AXIS = 58  # px below the bars, for offsets and title
_FILLED = 0.7  # of the width of an offset, by its bar
_MARKS = (0.0, 0.25, 0.5, 0.75, 1.0)


@dataclass(frozen=True, slots=True)
class OffsetShare:
    """The share of a head's largest weights at an offset, and its chance level."""

    offset: int
    share: float
    chance: float


def offset_svg(
    shares: Sequence[OffsetShare], title: str, about: str, language: str, width: Width = "both"
) -> bytes:
    """The picture. about: what the bars and lines are, and the data they were measured on."""

    def draw(top: float) -> tuple[list[str], float]:
        return list(_bars(shares, top, WIDTHS[width] - _RIGHT, language)), top + _HEIGHT + _AXIS

    return figure(title, about, draw, language, WIDTHS[width])


def _signed(offset: int) -> str:
    return f"{offset:+d}".replace("-", "−") if offset else "0"


def _bars(shares: Sequence[OffsetShare], top: float, right: float, language: str) -> Iterator[str]:
    """A bar an offset, with a line across it at its chance level."""
    bottom = top + _HEIGHT
    pitch = (right - _LEFT) / max(len(shares), 1)
    for mark in _MARKS:
        y = bottom - mark * _HEIGHT
        yield f'<path d="M{_LEFT} {y:g}H{right:g}" stroke="{RULE}" fill="none"/>'
        yield text_at(_LEFT - 8, y + 4, f"{mark:g}", "end", MUTED)
    labels = 1 if pitch >= 24 else 2  # every second offset in one column
    for number, one in enumerate(shares):
        middle = _LEFT + (number + 0.5) * pitch
        left, wide = middle - _FILLED * pitch / 2, _FILLED * pitch
        high = one.share * _HEIGHT
        yield (
            f'<rect x="{left:.2f}" y="{bottom - high:.2f}" width="{wide:.2f}" '
            f'height="{high:.2f}" fill="{_BAR}"/>'
        )
        y = bottom - one.chance * _HEIGHT
        yield f'<path d="M{left:.2f} {y:.2f}h{wide:.2f}" stroke="{MUTED}" stroke-width="2"/>'
        if one.offset % labels == 0:
            yield text_at(middle, bottom + 18, _signed(one.offset), "middle", MUTED)
    yield text_at((_LEFT + right) / 2, bottom + 38, say("heads.offset_axis", language), "middle")
    yield turned_text(top + _HEIGHT / 2, say("heads.column_share", language))
