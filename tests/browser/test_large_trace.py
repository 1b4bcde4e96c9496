"""A large trace, sent head by head, in a real browser: as a page, and in the app."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, Route, expect

from explorer.components.html_export import html_page
from explorer.components.player.payload import View
from explorer.core.trace import Trace
from tests.support.example_traces import example_trace, long_trace, pieces_trace, random_trace
from tests.support.page_checks import settle
from tests.support.player_page import cell_center, go_to_first


@pytest.fixture
def pages(
    open_html: Callable[..., Page], monkeypatch: pytest.MonkeyPatch
) -> Callable[[Trace], tuple[Page, Page]]:
    """The same trace as a small one, whose weights are all in the payload, and as a large one."""

    def open_both(trace: Trace) -> tuple[Page, Page]:
        small = open_html(html_page(trace))
        monkeypatch.setattr("explorer.components.player.weights.MOST_WEIGHTS", 0)
        return small, open_html(html_page(trace))

    return open_both


def looks(tab: Page) -> tuple[str, list[str], list[str]]:
    """What a page shows of the selected head: the sentence, cells and links, the linked token."""
    settle(tab)
    canvases = "(map) => [...map.querySelectorAll(':scope > canvas')].map((one) => one.toDataURL())"
    return (
        tab.get_by_test_id("sentence").inner_text(),
        tab.get_by_test_id("map").evaluate(canvases),
        tab.get_by_test_id("strip-source").locator(".aligned").all_inner_texts(),
    )


def test_a_large_trace_looks_like_a_small_one(pages: Callable[[Trace], tuple[Page, Page]]) -> None:
    """Every head, the mean, both units and the links: from the same numbers."""
    tabs = pages(pieces_trace())
    for tab in tabs:
        go_to_first(tab)
        tab.get_by_test_id("alignment-prediction").click()
    for clicked in ("mean-0", "head-0-0", "next", "head-0-1", "unit-words", "head-0-0", "next"):
        for tab in tabs:
            tab.get_by_test_id(clicked).click()
            tab.mouse.move(0, 0)
        small, large = map(looks, tabs)
        assert small == large, clicked
    for tab in tabs:
        tab.get_by_test_id("site-decoder").click()
    assert looks(tabs[0]) == looks(tabs[1])


def test_the_tooltip_of_a_large_trace_is_exact(pages: Callable[[Trace], tuple[Page, Page]]) -> None:
    trace = example_trace()
    _, tab = pages(trace)
    tab.get_by_test_id("site-encoder").click()
    tab.get_by_test_id("head-1-2").click()
    expect(tab.get_by_test_id("map-title")).to_contain_text("L1 H2")
    for query, key in [(0, 0), (2, 3), (4, 1)]:
        tab.mouse.move(*cell_center(tab, trace, "encoder", query, key))
        settle(tab)
        shown = re.search(r"weight (\d\.\d{4})", tab.get_by_test_id("tooltip").inner_text())
        assert shown is not None
        weight = trace.attention("encoder")[1, 2, query, key]
        assert float(shown[1]) == pytest.approx(weight, abs=6e-5)
    tab.get_by_test_id("head-0-1").hover()
    expect(tab.get_by_test_id("tooltip")).to_contain_text("click to load")


def test_a_page_says_which_heads_it_holds(
    open_html: Callable[..., Page], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("explorer.components.player.weights.MOST_WEIGHTS", 0)
    facts = {"model_layers": {"decoder": 6}, "layer_numbers": {"decoder": [2, 5]}}
    trace = random_trace(40, 40)
    trace = Trace(
        *(trace.source_tokens, trace.target_tokens, trace.predicted_tokens, trace.text),
        trace.arrays,
        trace.candidate_tokens,
        facts=facts,
    )
    tab = open_html(html_page(trace, view=View(site="decoder", layer=1, head=3), largest=0))
    expect(tab.get_by_test_id("map-title")).to_have_text("Decoder · L5 H3")
    note = tab.get_by_test_id("heads-note")
    expect(note).to_contain_text("Layers L2, L5 of 6 were captured.")
    expect(note).to_contain_text("holds the weights of 1 of 24 heads")
    assert tab.locator(".thumbnail:not(.absent)").count() == 1
    before = looks(tab)
    tab.get_by_test_id("head-0-0").click()
    expect(tab.get_by_test_id("load-problem")).to_have_text(
        "The weights of this head are not in this page."
    )
    tab.mouse.move(0, 0)
    assert looks(tab)[0] == before[0]
    expect(tab.get_by_test_id("map-title")).to_have_text("Decoder · L5 H3")
    tab.get_by_test_id("head-1-3").click()
    expect(tab.get_by_test_id("load-problem")).to_have_count(0)


def test_a_strip_has_the_tokens_around_the_step_and_turns_to_the_others(
    open_html: Callable[..., Page],
) -> None:
    trace = long_trace(300, 1, 2)
    tab = open_html(html_page(trace))
    strip = tab.get_by_test_id("strip-target")
    chips, query = strip.locator(".chip"), strip.locator(".chip.query")
    earlier, later = tab.get_by_test_id("target-earlier"), tab.get_by_test_id("target-later")
    expect(query).to_have_attribute("data-position", "299")
    count = chips.count()
    assert count < 150
    expect(later).to_be_hidden()
    expect(earlier).to_have_text(f"‹ {301 - count}")
    earlier.click()
    expect(query).to_have_count(0)  # the step stays where it is
    shown = chips.nth(count - 40)
    position = int(shown.get_attribute("data-position") or 0)
    shown.click()
    expect(tab.get_by_test_id("step-count")).to_contain_text(f"{position + 1}/300")
    expect(query).to_have_attribute("data-position", str(position))
    go_to_first(tab)
    expect(query).to_have_attribute("data-position", "0")
    expect(earlier).to_be_hidden()
    for _ in range(count):
        tab.keyboard.press("ArrowRight")
    expect(query).to_have_attribute("data-position", str(count))


def test_the_app_sends_the_weights_of_the_head_that_is_chosen(
    new_tab: Callable[..., Page], complaints: list[str], address: str, tmp_path: Path
) -> None:
    trace = random_trace(160, 160, 4, 8)
    trace.save(tmp_path / "large.trace")
    requests: list[str] = []
    tab = new_tab()
    tab.on("request", lambda one: requests.append(one.url))

    def asked(name: str) -> list[str]:
        return [url.split(f"/{name}/")[1] for url in requests if f"/{name}/" in url]

    tab.goto(address)
    tab.get_by_test_id("step-count").wait_for(timeout=60_000)
    tab.get_by_role("button", name="Files").click()
    tab.locator("input[type=file]").set_input_files(tmp_path / "large.trace")
    expect(tab.get_by_test_id("step-count")).to_contain_text("/160")
    tab.keyboard.press("Escape")
    tab.wait_for_selector(".plotted")
    expect(tab.get_by_test_id("integrity")).to_have_text("✓ 3 checks")  # after the picture
    assert (len(asked("head")), asked("integrity")) == (1, [""])
    assert asked("pictures") == []  # of all of the text they came with the trace
    rows = tab.get_by_test_id("part-rows")
    rows.fill("41–52")
    rows.press("Enter")
    picture = tab.get_by_test_id("head-2-5").locator("canvas")
    expect(picture).to_have_js_property("height", 12)  # a pixel for each of its rows
    keys = trace.attention("cross").shape[-1]
    assert asked("pictures") == [f"pieces/cross/40-51.0-{keys - 1}"]
    tab.get_by_test_id("reset-zoom").click()
    tab.get_by_test_id("head-2-5").click()
    expect(tab.get_by_test_id("map-title")).to_have_text("Cross · L2 H5")
    step = int(tab.get_by_test_id("step-count").inner_text().split()[1].split("/")[0])
    largest = trace.attention("cross")[2, 5, step - 1].max()
    expect(tab.get_by_test_id("sentence")).to_contain_text(f"{largest:.2f}")
    assert asked("head")[1:] == ["pieces/cross/2/5"]

    gone = [404, 404]  # as when the server has dropped the trace

    def answer(route: Route) -> None:
        if gone:
            route.fulfill(status=gone.pop())
        else:
            route.continue_()

    tab.route("**/head/**", answer)
    tab.get_by_test_id("head-3-1").click()
    expect(tab.get_by_test_id("map-title")).to_have_text("Cross · L3 H1")
    assert not gone
    expect(tab).to_have_url(re.compile("layer=3&head=1"))
    tab.get_by_role("link", name="Heads").click()
    expect(tab.get_by_test_id("verdict")).to_contain_text("L3 H1")
    tab.wait_for_selector(".plotted")
    tab.get_by_test_id("head-1-2").click()
    expect(tab.get_by_test_id("verdict")).to_contain_text("L1 H2")
    expect(tab.get_by_test_id("integrity")).to_have_text("✓ 3 checks")
    assert all("404" in complaint for complaint in complaints)
    complaints.clear()  # of the two weights that the server had dropped
