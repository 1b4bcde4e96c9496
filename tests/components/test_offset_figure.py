"""Where a head looks: what is drawn where in the chart."""

import math

import plotly.graph_objects as go
import pytest

import explorer
from explorer.components.offset_figure import OffsetShare, offset_chart, offset_shares
from explorer.core import folders
from explorer.heads.reports.head_report import HeadReport

SHARES = [
    OffsetShare(offset, 0.7 if offset == -1 else 0.02, 0.1)
    if offset <= 0
    else OffsetShare(offset, math.nan, math.nan)
    for offset in range(-8, 9)
]


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_bar_has_the_share_of_its_offset_and_a_line_its_chance_level(language: str) -> None:
    chart = offset_chart(SHARES, language)
    bars, chance = chart["data"]
    assert bars["x"] == chance["x"] == list(range(-8, 1))  # no query reaches later positions
    assert dict(zip(bars["x"], bars["y"], strict=True))[-1] == 0.7
    assert chance["y"] == [0.1] * 9
    assert chance["marker"]["size"] < 8  # px, a bar in one column of a paper
    for place, line in zip(bars["x"], chart["layout"]["shapes"], strict=True):
        assert (line["x0"] + line["x1"]) / 2 == place
        assert line["x1"] - line["x0"] == pytest.approx(bars["width"])
        assert line["y0"] == line["y1"] == 0.1
    assert bars["name"] == {"en": "share", "zh": "比例"}[language]
    go.Figure(chart)  # raises on what Plotly does not know


def test_an_offset_has_its_sign_and_all_are_in_the_range() -> None:
    axis = offset_chart(SHARES, "en")["layout"]["xaxis"]
    labels = dict(zip(axis["tickvals"], axis["ticktext"], strict=True))
    assert [labels[place] for place in (-8, 0, 8)] == ["−8", "0", "+8"]
    assert axis["range"] == [-8.5, 8.5]


def test_the_offsets_of_a_head_in_a_report_are_a_figure() -> None:
    report = HeadReport.load(folders.shipped_reports() / "reverse.json")
    shares = {one.offset: one for one in offset_shares(report, "decoder", 0, 3)}
    assert list(shares) == list(range(-8, 9))
    assert shares[0].share > 0.7 > 0.3 > shares[0].chance
    assert all(math.isnan(shares[offset].share) for offset in range(1, 9))  # later positions
    drawn = explorer.figure(report, "decoder", 0, 3)
    assert drawn.data[0].y[-1] == shares[0].share
    assert drawn.layout.title.text == "decoder attention, L0 H3 of reverse: offsets"
    with pytest.raises(explorer.ExplorerError, match="no head L9 H3"):
        explorer.figure(report, "decoder", 9, 3)
