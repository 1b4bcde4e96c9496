"""What the browser is sent of a chart."""

import json

from explorer.components.chart_payload import chart_payload
from explorer.core.i18n import section


def test_a_chart_is_sent_with_the_texts_of_its_figure_and_the_words_of_its_buttons() -> None:
    chart = {"data": [{"type": "bar", "y": [1]}], "layout": {"height": 100}}
    payload = chart_payload(
        chart, name="a chart", title="<b>", captions=["On 9."], file_name="x", language="zh"
    )
    content = json.loads(payload)
    assert content["chart"] == chart
    assert [content["title"], content["captions"], content["file_name"]] == ["<b>", ["On 9."], "x"]
    assert content["picks"] is False
    assert content["strings"]["svg_column"] == section("player", "zh")["svg_column"]
