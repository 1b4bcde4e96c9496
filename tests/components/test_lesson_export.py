import re

import pytest

from explorer.components.exported_page import LARGEST_PAGE
from explorer.components.lesson.payload import ShownCard, ShownLesson
from explorer.components.lesson_export import LessonText, lesson_page
from explorer.core.errors import TraceError
from tests.support.example_traces import example_trace, random_trace
from tests.support.small_page import SMALL_PAGE

HOSTILE = "</script><img src=x onerror=alert(1)><!--"


def lesson(*cards: ShownCard, title: str = "Mine") -> ShownLesson:
    return ShownLesson("mine", title, cards, card=0, visit=0)


def without_plotly(html: str) -> str:
    start = html.index("<!--\nplotly.js")  # the licence
    return html[:start] + html[html.index("</script>", start) :]


def test_a_page_has_each_text_once_with_its_cards_and_needs_no_network():
    look = {"site": "cross", "layer": 1, "head": 2, "step": 1}
    cards = [ShownCard(text=f"card {number}", look=look) for number in range(3)]
    texts = [
        LessonText(example_trace(), (0, 2)),
        LessonText(example_trace(("1", "2", "3"), padding=0), (1,)),
    ]
    html = lesson_page(lesson(*cards), texts)
    assert re.findall(r'data-cards="([^"]*)"', html) == ["0 2", "1"]
    assert len(re.findall(r"<script[^>]* data-payload", html)) == 2
    assert html.count('id="plotly"') == 1
    assert "default-src 'none'" in html
    assert "http" not in without_plotly(html).replace("http-equiv", "")
    assert not re.search(r"<(?:script|img|iframe)[^>]*\ssrc=", without_plotly(html))
    assert len(html.encode()) <= SMALL_PAGE


def test_texts_of_a_lesson_never_become_markup():
    html = lesson_page(lesson(ShownCard(text=HOSTILE, question=HOSTILE), title=HOSTILE), [])
    assert "<img" not in without_plotly(html)
    assert "<!--" not in without_plotly(html)
    assert "&lt;img src=x" in html  # in the title of the page


def test_large_texts_share_the_space_of_the_page(monkeypatch):
    monkeypatch.setattr("explorer.components.player.weights.MOST_WEIGHTS", 0)
    trace = random_trace(6, 7)
    look = {"site": trace.sites[0], "layer": 0, "head": 0}
    cards = [ShownCard(look=look), ShownCard(look={**look, "layer": 1})]
    html = lesson_page(lesson(*cards), [LessonText(trace, (0, 1))])
    found = re.findall(r'data-resource="head/pieces/([^"]*)"', html)
    assert found[:2] == [f"{trace.sites[0]}/0/0", f"{trace.sites[0]}/1/0"]
    assert len(html.encode()) <= LARGEST_PAGE


def test_an_unknown_language_is_refused():
    with pytest.raises(TraceError, match="language"):
        lesson_page(lesson(ShownCard()), [], "fr")
