"""Where a head looks, as an SVG file."""

import itertools
import xml.etree.ElementTree as ElementTree

import pytest

from explorer.components.figure_sheet import text_width
from explorer.components.offset_figure import OffsetShare, offset_svg

SHARES = [OffsetShare(offset, 0.7 if offset == -1 else 0.02, 0.1) for offset in range(-8, 9)]
SVG = "{http://www.w3.org/2000/svg}"


@pytest.mark.parametrize(("width", "pixels"), [("both", 640), ("one", 320)])
def test_bars_and_lines_are_as_high_as_the_shares(width, pixels) -> None:
    root = ElementTree.fromstring(offset_svg(SHARES, "x · L0 H1", "On 9.", "en", width))
    bars = [bar for bar in root.iter(f"{SVG}rect") if bar.get("height") != "100%"]
    assert [float(bar.get("height", "")) / 160 for bar in bars] == pytest.approx(
        [one.share for one in SHARES]
    )
    bottom = float(bars[0].get("y", "")) + float(bars[0].get("height", ""))
    levels = [path.get("d", "") for path in root.iter(f"{SVG}path") if path.get("stroke-width")]
    heights = [bottom - float(level.split()[1].split("h")[0]) for level in levels]
    assert heights == pytest.approx([one.chance * 160 for one in SHARES])
    assert float(bars[-1].get("x", "")) + float(bars[-1].get("width", "")) <= pixels
    axis = [text for text in root.iter(f"{SVG}text") if text.get("text-anchor") == "middle"]
    labels = [(float(one.get("x", "")), one.text or "") for one in axis if not one.get("transform")]
    offsets = labels[:-1]  # the last one is the title
    assert "−8" in dict(map(reversed, offsets))
    for (left, one), (right, other) in itertools.pairwise(offsets):
        assert left + text_width(one) / 2 < right - text_width(other) / 2


@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_text_is_escaped_and_in_the_language(language: str) -> None:
    drawing = offset_svg(SHARES, "<b>", "a & b", language)
    texts = [text.text for text in ElementTree.fromstring(drawing).iter(f"{SVG}text")]
    assert texts[:2] == ["<b>", "a & b"]
    assert {"en": "share", "zh": "比例"}[language] in texts
