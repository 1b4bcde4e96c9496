"""Payload of a chart that the server specifies and the browser draws, on screen and for files."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from explorer.components.payload import PROJECT
from explorer.core.i18n import section

_SENTENCES = (
    *(f"{kind}{end}" for kind in ("png", "svg", "svg_column") for end in ("", "_title")),
    "no_plotly",
)


def chart_payload(
    chart: Mapping[str, Any],
    *,
    name: str,
    title: str,
    captions: Sequence[str],
    file_name: str,
    language: str,
    picks: bool = False,
) -> bytes:
    """chart: data and layout for Plotly, with a height and without the colours of a theme. name:
    for those who do not see it. title, captions: of the figure that is saved. file_name: without
    its ending. picks: whether a click on a point is reported, by the number in its `customdata`.
    The chart is at least as wide as `least_width` in its layout, and scrolls."""
    sentences = section("player", language)
    content = {
        "language": language,
        "strings": {key: sentences[key] for key in _SENTENCES},
        "project": PROJECT,
        "name": name,
        "title": title,
        "captions": list(captions),
        "file_name": file_name,
        "picks": picks,
        "chart": chart,
    }
    return json.dumps(content, ensure_ascii=False, allow_nan=False).encode()
