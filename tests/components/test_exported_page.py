import base64
import gzip
import re

import pytest

from explorer.components.exported_page import checked_language, data_element, inside_elements, page
from explorer.components.player.payload import View
from explorer.core.errors import TraceError
from tests.support.example_traces import example_trace


def made(**changes: object) -> str:
    parts = {"styles": "", "body": "<main></main>", "data": [], "script": "", "with_plotly": False}
    return page("en", "title", **{**parts, **changes})


def test_data_is_found_by_its_attribute_as_it_was_given():
    plain = data_element('id="x"', b"</script>\xff")
    assert plain.startswith('<script type="text/plain" id="x">')
    assert base64.b64decode(plain.split(">")[1].split("<")[0]) == b"</script>\xff"
    small = data_element("data-y", b"a" * 999, compress=True)
    assert ' data-encoding="gzip">' in small
    assert gzip.decompress(base64.b64decode(small.split(">")[1].split("<")[0])) == b"a" * 999


def test_nothing_ends_the_script_of_a_page_or_its_title():
    html = made(script='say("</script><!--")')
    assert html.count("</script>") == 1
    assert "<!--" not in html
    title = page("zh", "<b>&", styles="", body="", data=[], script="", with_plotly=False)
    assert "<title>&lt;b&gt;&amp;</title>" in title
    assert '<html lang="zh-Hans">' in title
    assert "default-src 'none'" in html


def test_the_policy_lets_no_form_be_sent_and_no_base_be_set():
    html = made()
    (policy,) = re.findall('Content-Security-Policy" content="([^"]*)"', html)
    assert {"default-src 'none'", "base-uri 'none'", "form-action 'none'"} <= set(
        policy.split("; ")
    )


def test_an_unknown_language_is_refused():
    assert checked_language("zh") == "zh"
    for wrong in ("fr", 3):
        with pytest.raises(TraceError, match="language"):
            checked_language(wrong)


def test_what_each_view_needs_first_comes_before_the_rest(monkeypatch):
    """With space for two elements, both views have one."""

    def parts(trace, capture, site, layer, head, *, opened):
        return iter([(f"{site}/{layer}/{head}", b"x"), (f"{site}/{layer}", b"y")])

    monkeypatch.setattr("explorer.components.exported_page.page_parts", parts)
    views = [View(site="cross", layer=0, head=1, cell=(0, 0)), View(site="cross", layer=1, head=0)]
    every = inside_elements(example_trace(), views, None, 10_000)
    assert len(every) == 4
    space = len(every[0]) + len(every[1]) + 2
    assert inside_elements(example_trace(), views, None, space) == every[:2]
    assert 'data-inside="cross/0/1"' in every[0]
    assert 'data-inside="cross/1/0"' in every[1]
