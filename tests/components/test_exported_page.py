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
    page,
    trace_elements,
    with_parts_in_files,
)
from explorer.components.player.payload import Offer, View
from explorer.components.trace_questions import TRACE_QUESTIONS, Place
from explorer.core.errors import TraceError, TraceSizeError
from explorer.core.trace import Trace
from explorer.core.verbs import OMISSIONS
from tests.support.asked_models import AskedExplorable


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


def test_a_page_of_a_static_site_has_no_code_in_it_and_names_the_files_that_pages_share():
    alone, linked = made(), made(static_site="../")
    assert len(alone) > 800_000
    assert len(linked) < 5_000
    assert {"script-src 'unsafe-inline'", "style-src 'unsafe-inline'"} < policy_of(alone)
    assert {"script-src 'self'", "style-src 'self' 'unsafe-inline'"} < policy_of(linked)
    named = re.findall(r'(?:src|href)="(\.\./[^"?]*)\?\w+"', linked)
    assert named == ["../player.css", "../plotly.min.js", "../exported_lesson.js"]
    assert "This page has not started" in linked
    assert "This page has not started" not in alone


def test_a_page_of_a_static_site_leads_back_to_its_first_page_in_its_language():
    assert back_link(None, "en") == ""
    link = back_link("../", "zh", "A & B")
    assert 'href="../index.html#last=1&amp;lang=zh"' in link
    assert "<h1>A &amp; B</h1>" in link


def test_what_is_large_of_the_answers_is_in_files_that_pages_share():
    random = np.random.default_rng(0)
    large = data_element('data-resource="path/cross/0"', random.bytes(20_000), compress=True)
    small = data_element('data-resource="vectors/cross/0/1"', random.bytes(200), compress=True)
    payload = data_element("data-payload", random.bytes(20_000), compress=True)
    html, files = with_parts_in_files("\n".join([payload, large, small, large]))
    ((name, script),) = files.items()
    text = re.search(">([^<]*)<", large)[1]
    assert script.decode() == f'document.currentScript.textContent = "{text}";\n'
    element = (
        f'<script src="{name}" data-resource="path/cross/0" data-encoding="gzip" defer></script>'
    )
    assert html == "\n".join([payload, element, small, element])
    assert with_parts_in_files(small)[1] == {}


def test_the_policy_lets_no_form_be_sent_and_no_base_be_set():
    for static_site in (None, "../"):
        policy = policy_of(made(static_site=static_site))
        assert {"default-src 'none'", "base-uri 'none'", "form-action 'none'"} < policy


def test_an_unknown_language_is_refused():
    assert checked_language("zh") == "zh"
    for wrong in ("fr", 3):
        with pytest.raises(TraceError, match="language"):
            checked_language(wrong)


def elements(
    trace: Trace, views: list[View], model: AskedExplorable | None, space: int = 10**6
) -> tuple[Offer, list[str]]:
    """What the payload of a page is told to offer, and the names of the answers in the page."""
    offers: list[Offer] = []
    payload, *found = trace_elements(
        trace, views, model, lambda offer: offers.append(offer) or "payload", space
    )
    assert payload == "payload"
    assert len("\n".join(["payload", *found])) <= max(space, 0) or len(found) == 1
    return offers[-1], [re.search('data-resource="([^"]*)"', one)[1] for one in found]


@pytest.fixture
def trace(explorable) -> Trace:
    return explorable.trace("1 2 3")


@pytest.fixture
def model(explorable) -> AskedExplorable:
    return AskedExplorable(explorable, "1 2 3")


def test_a_page_has_the_vectors_of_the_layer_and_all_predictions(trace, model, explorable):
    view = View(site="cross", layer=1, head=2, cell=(0, 0))
    offered, names = elements(trace, [view], model)
    assert offered == Offer(names=("vectors", "path", "without"))
    vectors = {f"vectors/cross/1/{head}" for head in range(3)}
    without = {f"without/cross/1/2/{part}" for part in OMISSIONS}
    assert set(names) == vectors | without | {"path/cross/0", "path/cross/1"}
    assert names[:2] == ["vectors/cross/1/2", "path/cross/1"]
    data = re.search(
        'vectors/cross/1/2" data-encoding="gzip">([^<]*)<',
        "".join(trace_elements(trace, [view], model, lambda _: "", 10**6)),
    )[1]
    answer = gzip.decompress(base64.b64decode(data))
    assert answer == TRACE_QUESTIONS["vectors"].answer(
        trace, model, Place(site="cross", layer=1, head=2)
    )


def test_what_each_view_needs_first_comes_before_the_rest(trace, model):
    """With space for two answers, both views have one."""
    views = [View(site="cross", layer=layer, head=1, cell=(0, 0)) for layer in (0, 1)]
    _, every = elements(trace, views, model)
    first = ["vectors/cross/0/1", "vectors/cross/1/1"]
    assert every[:2] == first
    assert len(set(every)) == len(every)
    made = trace_elements(trace, views, model, lambda _: "payload", 10**6)
    space = sum(len(one) + 1 for one in made[:3])
    assert elements(trace, views, model, space)[1] == first


def test_a_page_looks_inside_where_a_view_does(trace, model):
    views = [
        View(site="encoder", layer=0, head=0),
        View(site="cross", layer=1, head=1, cell=(0, 0)),
    ]
    _, names = elements(trace, views, model)
    assert not any("encoder" in name for name in names)


def test_an_answer_that_does_not_fit_leaves_space_for_others(trace, model):
    view = View(site="cross", layer=1, head=2)
    made = trace_elements(trace, [view], model, lambda _: "payload", 10**6)
    path = next(len(one) for one in made if "path/cross/1" in one)
    space = sum(len(one) + 1 for one in made if "path" not in one) + path // 2
    offered, names = elements(trace, [view], model, space)
    assert names == [f"vectors/cross/1/{head}" for head in (2, 0, 1)]
    assert "path" in offered.names  # the page says that it does not hold it


def test_a_page_is_made_though_nothing_can_be_captured(trace, model, monkeypatch):
    def refuse(*_):
        raise TraceSizeError("layer_too_large", needed="9", limit="1", count=1)

    monkeypatch.setattr(model, "layer", refuse)
    assert elements(trace, [View(cell=(0, 0))], model) == (Offer(), [])
    monkeypatch.setattr("explorer.components.player.weights.MOST_WEIGHTS", 0)
    offered, names = elements(trace, [View(cell=(0, 0))], model)
    assert offered == Offer(names=("head",))
    assert len(names) == 5 * 4  # layers of all sites, three heads and their mean


def test_a_large_trace_without_its_model_has_heads_alone(trace, monkeypatch):
    monkeypatch.setattr("explorer.components.player.weights.MOST_WEIGHTS", 0)
    offered, names = elements(trace, [View(site="decoder", layer=1, head=2)], None, 0)
    assert offered == Offer(names=("head",))
    assert names == ["head/pieces/decoder/1/2"]  # there in any case
