"""Where a head looks: what is drawn where in the chart."""

import math

import plotly.graph_objects as go
import pytest

from explorer.components.offset_figure import OffsetShare, offset_chart

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
    assert bars["name"] == {"en": "share", "zh": "比例"}[language]
    go.Figure(chart)  # raises on what Plotly does not know


def test_an_offset_has_its_sign_and_all_are_in_the_range() -> None:
    axis = offset_chart(SHARES, "en")["layout"]["xaxis"]
    labels = dict(zip(axis["tickvals"], axis["ticktext"], strict=True))
    assert [labels[place] for place in (-8, 0, 8)] == ["−8", "0", "+8"]
    assert axis["range"] == [-8.5, 8.5]
