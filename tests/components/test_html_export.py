import base64
import gzip
import re

import numpy as np
import pytest

import explorer
from explorer.components.bundle import PLOTLY
from explorer.components.html_export import html_page
from explorer.components.player.payload import View
from explorer.components.player.weights import MEAN, head_payload
from explorer.core import folders
from explorer.core.errors import TraceError
from explorer.core.i18n import LANGUAGES
from tests.support.asked_models import AskedExplorable
from tests.support.example_traces import example_trace, pieces_trace, random_trace
from tests.support.payloads import unpack_payload
from tests.support.small_page import SMALL_PAGE

CHECKPOINTS = folders.PACKAGE.parent / "checkpoints"


def without_plotly(html: str) -> str:
    """The page without the Plotly it embeds."""
    start = html.index("<!--\nplotly.js")  # the licence
    return html[:start] + html[html.index("</script>", start) :]


def test_the_page_needs_no_network():
    html = html_page(example_trace())
    assert "http" not in without_plotly(html).replace("http-equiv", "")
    assert not re.search(r"<(?:script|img|iframe)[^>]*\ssrc=", without_plotly(html))
    assert "default-src 'none'" in html


def test_the_page_holds_plotly_with_a_licence_that_can_be_read():
    html = html_page(example_trace())
    (packed,) = re.findall(r'id="plotly" data-encoding="gzip">([^<]+)<', html)
    assert gzip.decompress(base64.b64decode(packed)) == PLOTLY.read_bytes()
    assert "Copyright 2012-2026, Plotly, Inc." in html


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_page_of_a_small_trace_with_the_inside_of_its_layer_is_small(language):
    model, text = explorer.load(CHECKPOINTS / "reverse.safetensors"), "7 3 9 1 4"
    asked = AskedExplorable(model, text)
    html = html_page(model.trace(text), language, View(cell=(1, 1)), model=asked)
    assert html.count(" data-resource=") > 4
    assert len(html.encode()) <= SMALL_PAGE


def test_tokens_stay_inside_the_data_of_the_page():
    hostile = ("</script>", "<!--", "<script>", "</title><b>", "\u2028")
    html = html_page(example_trace(hostile))
    assert html.count("</script>") == 3
    assert "<b>" not in without_plotly(html)
    assert "<!--" not in without_plotly(html)


def test_the_page_has_the_language_asked_for():
    assert '<html lang="zh-Hans">' in html_page(example_trace(), "zh")
    assert '<html lang="en">' in html_page(example_trace(), "en")
    page = html_page(example_trace())
    assert "<title>7 3 9 1 4 →" in page
    assert '<h1 class="unseen">7 3 9 1 4 →' in page


def large_page(monkeypatch, trace, view=None, space=10_000):
    """A page of `trace` with `space` for more than its first head, its heads, and the first."""
    monkeypatch.setattr("explorer.components.player.weights.MOST_WEIGHTS", 0)
    one = html_page(trace, view=view, largest=0)  # the head that it opens with is there in any case
    size = len(one.encode()) + space
    html = html_page(trace, view=view, largest=size)
    assert len(html.encode()) <= size
    return (
        html,
        re.findall(r'data-resource="head/(\w[^"]+)"', html),
        re.findall(r'data-resource="head/(\w[^"]+)"', one),
    )


def test_a_page_of_a_large_trace_has_the_nearest_heads_as_far_as_they_fit(monkeypatch):
    trace, view = random_trace(24, 24), View(site="decoder", layer=1, head=2)
    html, names, first = large_page(monkeypatch, trace, view)
    assert first == ["pieces/decoder/1/2"]
    assert names[:4] == [f"pieces/decoder/1/{head}" for head in (2, 0, 1, 3)]
    assert names[4] == "pieces/decoder/1/mean"
    assert 5 <= len(names) < 30
    for name, data in re.findall(
        r'data-resource="head/([^"]+)" data-encoding="gzip">([^<]+)<', html
    ):
        _, site, layer, head = name.split("/")
        number = MEAN if head == "mean" else int(head)
        sent = gzip.decompress(base64.b64decode(data))
        assert sent == head_payload(trace, "pieces", site, int(layer), number)
    found = re.search(r'id="payload" data-encoding="gzip">([^<]+)<', html)
    header, _ = unpack_payload(gzip.decompress(base64.b64decode(found[1])))
    assert header["resources"] == {"address": "", "names": ["head"], "methods": []}


def test_a_page_has_each_head_in_pieces_and_in_words(monkeypatch):
    _, names, first = large_page(monkeypatch, pieces_trace(), space=10**6)
    assert len(first) == 2
    pieces, words = (
        {name.removeprefix(unit) for name in names if name.startswith(unit)}
        for unit in ("pieces", "words")
    )
    assert pieces == words
    assert len(pieces) == 2 * (2 + 1)  # two sites: two heads and their mean


def test_a_page_of_twelve_layers_of_twelve_heads_takes_at_most_ten_megabytes():
    html = html_page(random_trace(128, 128, 12, 12))  # noise, which hardly compresses
    assert 9_500_000 < len(html.encode()) <= 10_000_000


@pytest.mark.parametrize("language", ["xx", "", None, 3, ["en"], np.ones(2)])
def test_an_unknown_language_is_refused(language, tmp_path):
    with pytest.raises(TraceError, match="choose one of en, zh"):
        example_trace().to_html(tmp_path / "x.html", language)
    assert not (tmp_path / "x.html").exists()
