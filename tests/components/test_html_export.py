import re

from explorer.components.html_export import html_page
from tests.support.example_traces import example_trace


def without_plotly(html: str) -> str:
    """The page without the Plotly it embeds."""
    start = html.index('<script type="text/plain" id="plotly">')
    return html[:start] + html[html.index("</script>", start) :]


def test_the_page_needs_no_network():
    html = html_page(example_trace())
    assert "http" not in without_plotly(html).replace("http-equiv", "")
    assert not re.search(r"<(?:script|img|iframe)[^>]*\ssrc=", without_plotly(html))
    assert "default-src 'none'" in html


def test_the_page_takes_at_most_two_megabytes_and_keeps_the_licence_of_plotly():
    html = html_page(example_trace())
    assert len(html.encode()) < 2_000_000
    assert "Copyright 2012-2026, Plotly, Inc." in html


def test_tokens_stay_inside_the_data_of_the_page():
    hostile = ("</script>", "<!--", "<script>", "</title><b>", "\u2028")
    html = html_page(example_trace(hostile))
    assert html.count("</script>") == 3
    assert "<b>" not in without_plotly(html)
    assert "<!--" not in html


def test_the_page_has_the_language_asked_for():
    assert '<html lang="zh-Hans">' in html_page(example_trace(), "zh")
    assert '<html lang="en">' in html_page(example_trace(), "en")
    assert "<title>7 3 9 1 4" in html_page(example_trace())
