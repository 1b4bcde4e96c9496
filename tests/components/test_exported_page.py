import base64
import gzip
import re

import numpy as np
import pytest

from explorer.components.exported_page import (
    back_link,
    checked_language,
    data_element,
    inline,
    inside_elements,
    page,
    with_parts_in_files,
)
from explorer.components.player.payload import View
from explorer.core.errors import TraceError
from tests.support.example_traces import example_trace


def made(title: str = "title", language: str = "en", **changes: object) -> str:
    parts = {"component": "player", "body": "<main></main>", "data": [], "run": "exported_lesson"}
    return page(language, title, **{**parts, **changes})


def policy_of(html: str) -> set[str]:
    (policy,) = re.findall('Content-Security-Policy" content="([^"]*)"', html)
    return set(policy.split("; "))


def test_data_is_found_by_its_attribute_as_it_was_given():
    plain = data_element('id="x"', b"</script>\xff")
    assert plain.startswith('<script type="text/plain" id="x">')
    assert base64.b64decode(plain.split(">")[1].split("<")[0]) == b"</script>\xff"
    small = data_element("data-y", b"a" * 999, compress=True)
    assert ' data-encoding="gzip">' in small
    assert gzip.decompress(base64.b64decode(small.split(">")[1].split("<")[0])) == b"a" * 999


def test_nothing_ends_the_script_of_a_page_or_its_title():
    assert inline('say("</script></SCRIPT><!--")') == ('say("\\x3C/script>\\x3C/SCRIPT>\\x3C!--")')
    html = made("<b>&", "zh", with_plotly=False)
    assert html.count("</script>") == 1
    assert "<title>&lt;b&gt;&amp;</title>" in html
    assert '<html lang="zh-Hans">' in html
    assert "default-src 'none'" in html


def test_a_page_of_a_site_has_no_code_in_it_and_names_the_files_that_pages_share():
    alone, linked = made(), made(site="../")
    assert len(alone) > 800_000
    assert len(linked) < 5_000
    assert {"script-src 'unsafe-inline'", "style-src 'unsafe-inline'"} < policy_of(alone)
    assert {"script-src 'self'", "style-src 'self' 'unsafe-inline'"} < policy_of(linked)
    named = re.findall(r'(?:src|href)="(\.\./[^"?]*)\?\w+"', linked)
    assert named == ["../player.css", "../exported_lesson.js", "../plotly.min.js"]
    assert "This page has not started" in linked
    assert "This page has not started" not in alone


def test_a_page_of_a_site_leads_back_to_its_first_page_in_its_language():
    assert back_link(None, "en") == ""
    link = back_link("../", "zh", "A & B")
    assert 'href="../index.html#last=1&amp;lang=zh"' in link
    assert "<h1>A &amp; B</h1>" in link


def test_what_is_large_of_the_inside_of_heads_is_in_files_that_pages_share():
    random = np.random.default_rng(0)
    large = data_element('data-inside="cross/0"', random.bytes(20_000), compress=True)
    small = data_element('data-inside="cross/0/1"', random.bytes(200), compress=True)
    payload = data_element("data-payload", random.bytes(20_000), compress=True)
    html, files = with_parts_in_files("\n".join([payload, large, small, large]))
    ((name, script),) = files.items()
    text = re.search(">([^<]*)<", large)[1]
    assert script.decode() == f'document.currentScript.textContent = "{text}";\n'
    element = f'<script src="{name}" data-inside="cross/0" data-encoding="gzip" defer></script>'
    assert html == "\n".join([payload, element, small, element])
    assert with_parts_in_files(small)[1] == {}


def test_the_policy_lets_no_form_be_sent_and_no_base_be_set():
    for site in (None, "../"):
        policy = policy_of(made(site=site))
        assert {"default-src 'none'", "base-uri 'none'", "form-action 'none'"} < policy


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
