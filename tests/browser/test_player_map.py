"""The large map: tooltips, zoom, masks and what is covered, also on the thumbnails."""

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Locator, Page, expect

from explorer.components.html_export import html_page
from explorer.components.player.payload import View
from explorer.core.mask_reasons import EDITED
from explorer.core.trace import Trace
from tests.support.example_traces import example_trace, random_trace
from tests.support.page_checks import settle
from tests.support.player_page import (
    cell_center,
    label,
    save,
)


@pytest.mark.parametrize("site", ["encoder", "decoder", "cross"])
def test_the_tooltip_has_weight_positions_and_reason(show: Callable[..., Page], site: str) -> None:
    trace = example_trace()
    tab = show(trace)
    tab.get_by_test_id(f"site-{site}").click()
    tab.get_by_test_id("head-1-2").click()
    tooltip = tab.get_by_test_id("tooltip")
    reasons = trace.mask_reason(site)
    for query, key in [(0, 0), (0, 5), (2, 3), (4, 1), (5, len(trace.keys(site)) - 1)]:
        tab.mouse.move(*cell_center(tab, trace, site, query, key))
        settle(tab)
        text = tooltip.inner_text()
        weight = trace.attention(site)[1, 2, query, key]
        shown = re.search(r"weight (\d\.\d{4})", text)
        assert shown is not None, text
        assert float(shown[1]) == pytest.approx(weight, abs=6e-5)
        assert ("masked: " + reasons[query, key] in text) == (reasons[query, key] != "")
        assert f"query “{label(trace.queries(site)[query])}” (position {query + 1})" in text
        assert f"key “{label(trace.keys(site)[key])}” (position {key + 1})" in text
        assert text.endswith("L1 H2")


PADDING = {"en": "A pad token is no text: it only fills", "zh": "pad 词元不是文本：只是"}


@pytest.mark.parametrize(
    ("site", "language"), [("encoder", "en"), ("decoder", "zh"), ("cross", "zh")]
)
def test_a_pad_token_says_what_it_is(show: Callable[..., Page], site: str, language: str) -> None:
    trace = example_trace()
    tab = show(trace, language)
    tab.get_by_test_id(f"site-{site}").click()
    tooltip = tab.get_by_test_id("tooltip")
    places = [tab.get_by_test_id("strip-source").get_by_text("pad").last]
    if site != "decoder":
        places.append(tab.locator(".key-label", has_text="pad").last)
    if site == "encoder":
        places.append(tab.locator(".query-label", has_text="pad").last)
    for place in places:
        place.hover()
        expect(tooltip).to_contain_text(PADDING[language])
        whole = "node => node.scrollWidth <= node.clientWidth"
        assert tooltip.locator(".meaning").evaluate(whole)
        tab.mouse.move(0, 0)
        expect(tooltip).to_be_hidden()
    if site != "decoder":
        tab.mouse.move(*cell_center(tab, trace, site, 1, len(trace.keys(site)) - 1))
        expect(tooltip).to_contain_text(PADDING[language])
    tab.get_by_test_id("legend-words").click()
    expect(tab.get_by_test_id("legend-words-words")).to_contain_text(PADDING[language])


def test_a_pad_token_that_begins_the_output_is_said_to(show: Callable[..., Page]) -> None:
    trace = example_trace()
    tab = show(replace(trace, target_tokens=("<pad>", *trace.target_tokens[1:]), digest=""))
    tab.get_by_test_id("strip-target").get_by_text("pad").hover()
    expect(tab.get_by_test_id("tooltip")).to_contain_text("this model begins its output with it")


def test_the_tooltip_of_a_pointer_at_rest_follows_the_head(show: Callable[..., Page]) -> None:
    trace = example_trace()
    tab = show(trace)
    tab.get_by_test_id("head-0-1").click()
    expect(tab.get_by_test_id("map-title")).to_contain_text("L0 H1")
    tab.mouse.move(*cell_center(tab, trace, "cross", 1, 2))
    expect(tab.get_by_test_id("tooltip")).to_contain_text("L0 H1")
    tab.keyboard.press("ArrowDown")
    expect(tab.get_by_test_id("tooltip")).to_contain_text("L0 H2")
    weight = trace.attention("cross")[0, 2, 1, 2]
    expect(tab.get_by_test_id("tooltip")).to_contain_text(f"weight {weight:.4f}")


def test_a_touch_shows_the_tooltip_until_the_next_touch(
    phone: Callable[..., Page], tmp_path: Path
) -> None:
    trace = example_trace()
    path = tmp_path / "page.html"
    path.write_text(html_page(trace), encoding="utf-8")
    tab = phone(offline=True)
    tab.goto(path.as_uri())
    tab.wait_for_selector(".plotted")
    tab.get_by_test_id("map").scroll_into_view_if_needed()
    tab.touchscreen.tap(*cell_center(tab, trace, "cross", 1, 2))
    expect(tab.get_by_test_id("step-count")).to_have_text("step 2/6")
    tooltip = tab.get_by_test_id("tooltip")
    expect(tooltip).to_contain_text("key “9” (position 3)")
    tab.get_by_test_id("map-title").tap()
    expect(tooltip).to_be_hidden()
    first, *others = tab.get_by_test_id("strip-source").get_by_text("pad").all()
    first.tap()  # a technical word, which opens
    expect(tab.get_by_test_id("term-words")).to_contain_text(PADDING["en"])
    expect(tooltip).to_be_hidden()
    tab.keyboard.press("Escape")
    assert others
    for pad in others:
        pad.tap()
        expect(tooltip).to_contain_text(PADDING["en"])
        box = tooltip.bounding_box()
        assert box is not None
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 390
    tab.get_by_test_id("map-title").tap()
    expect(tooltip).to_be_hidden()


def test_zoom_moves_the_printed_weights_and_is_kept_at_a_step(
    show: Callable[..., Page],
) -> None:
    trace = example_trace()
    tab = show(trace)
    start = cell_center(tab, trace, "cross", 1, 1)
    end = cell_center(tab, trace, "cross", 4, 4)
    tab.mouse.move(*start)
    tab.mouse.down()
    tab.mouse.move(*end, steps=4)
    tab.mouse.up()
    expect(tab.get_by_test_id("reset-zoom")).to_be_visible()
    zoomed = tab.locator("[data-testid=row-weights]").evaluate("node => node.style.transform")
    tab.get_by_test_id("head-0-0").click()
    tab.keyboard.press("ArrowLeft")
    settle(tab)
    assert tab.evaluate("document.querySelector('.plot').layout.xaxis.range[0]") > 0
    tab.mouse.move(start[0] + 200, start[1] + 100)
    tab.get_by_test_id("reset-zoom").click()
    expect(tab.get_by_test_id("reset-zoom")).to_be_hidden()
    assert zoomed != tab.locator(".weights").evaluate("node => node.style.transform")


def test_another_attention_is_whole_after_a_zoom(show: Callable[..., Page]) -> None:
    trace = example_trace()
    tab = show(trace)
    tab.mouse.move(*cell_center(tab, trace, "cross", 1, 1))
    tab.mouse.down()
    tab.mouse.move(*cell_center(tab, trace, "cross", 4, 4), steps=4)
    tab.mouse.up()
    whole = tab.get_by_test_id("reset-zoom")
    expect(whole).to_be_visible()
    tab.get_by_test_id("site-decoder").click()
    expect(whole).to_be_hidden()


def test_cells_not_yet_decoded_are_covered_on_map_and_thumbnails(show: Callable[..., Page]) -> None:
    trace = example_trace()
    other = dict(trace.arrays)
    cross = other["cross.attention"].copy()
    cross[..., 3:, :6] = cross[..., 3:, 5::-1]  # only rows after step 3 differ
    other["cross.attention"] = cross
    pictures = []
    for shown in (trace, replace(trace, arrays=other, digest="")):
        tab = show(shown, view=View(site="cross", layer=1, head=3, step=3))
        settle(tab)
        pictures.append([tab.locator(name).screenshot() for name in (".map", ".picture >> nth=7")])
    assert pictures[0] == pictures[1]


def test_mask_reasons_and_unmasked_zeros_look_different(
    show: Callable[..., Page],
) -> None:
    trace = example_trace()
    arrays = dict(trace.arrays)
    mask_codes = arrays["decoder.closed"].copy()
    weights = arrays["decoder.attention"].copy()
    mask_codes[4, 1], mask_codes[0, 5] = EDITED, 2
    weights[..., 4, :2] = 0
    weights[..., 4, 4] += 1 - weights[..., 4, :].sum(-1)
    arrays |= {"decoder.closed": mask_codes, "decoder.attention": weights}
    tab = show(replace(trace, arrays=arrays, digest=""), view=View(site="decoder"))
    expect(tab.get_by_test_id("reasons")).to_have_text("later positionpaddingedited")
    looks = set()
    for query, key in [(4, 0), (4, 1), (0, 2), (0, 5)]:
        x, y = cell_center(tab, trace, "decoder", query, key)
        tab.mouse.move(1, 1)
        settle(tab)
        clip = {"x": round(x) - 12, "y": round(y) - 12, "width": 24, "height": 24}
        looks.add(tab.screenshot(clip=clip))
    assert len(looks) == 4


def test_every_head_has_a_thumbnail_and_its_gold_weight(show: Callable[..., Page]) -> None:
    trace = example_trace()
    tab = show(trace)
    gold, cross = trace.gold, trace.attention("cross")
    assert gold is not None
    rows = gold.any(-1)
    for layer in range(2):
        for head in range(4):
            score = (cross[layer, head] * gold).sum(-1)[rows].mean()
            shown = tab.locator(f"[data-testid=head-{layer}-{head}] .score").inner_text()
            assert float(shown) == pytest.approx(score, abs=0.0051)
    tab.get_by_test_id("head-0-1").click()
    expect(tab.get_by_test_id("map-title")).to_have_text("Cross · L0 H1")
    tab.get_by_test_id("head-0-1").press("ArrowDown")
    expect(tab.get_by_test_id("map-title")).to_have_text("Cross · L0 H2")


def test_a_removed_head_is_crossed_out_and_not_shown_first(show: Callable[..., Page]) -> None:
    trace = example_trace()
    best = (trace.attention("cross")[:, :, :5] * trace.gold[:5]).sum((2, 3))
    layer, head = np.unravel_index(best.argmax(), best.shape)
    facts = {"interventions": [f"ablate cross.{layer}.{head}"]}
    tab = show(replace(trace, facts=facts, digest=""))
    title, note = tab.get_by_test_id("map-title"), tab.get_by_test_id("removed-note")
    expect(title).not_to_contain_text(f"L{layer} H{head}")
    expect(note).to_be_hidden()
    expect(tab.locator(".thumbnail .crossed")).to_have_count(1)
    tab.get_by_test_id(f"head-{layer}-{head}").click()
    expect(note).to_have_text("This head is removed: its output is zero.")
    expect(tab.get_by_test_id("sentence")).to_contain_text("it is removed, its output is zero")
    download = save(tab, "svg")
    assert "crispEdges" not in download.path().read_text(encoding="utf-8")  # no cells
    tab.get_by_test_id("site-decoder").click()
    expect(tab.locator(".thumbnail .crossed")).to_have_count(0)


BORDERS = """canvas => {
  const { width, height } = canvas;
  const { data } = canvas.getContext("2d").getImageData(0, 0, width, height);
  const paper = getComputedStyle(document.querySelector(".player")).backgroundColor;
  const colours = Array.from({ length: width }, (_, column) =>
    `rgb(${[...data.slice(4 * column, 4 * column + 3)].join(", ")})`);
  return [colours.filter((colour) => colour === paper).length, colours.length]; }"""


@pytest.mark.parametrize("dark", [False, True])
def test_two_neighbours_of_one_weight_are_two_cells(show: Callable[..., Page], dark: bool) -> None:
    equal = np.full((1, 1, 4, 4), 0.25, dtype=np.float32)
    trace = Trace.from_arrays("abcd", "efgh", cross=equal)
    tab = show(trace, dark=dark)
    for drawing in (tab.locator("[data-testid=map] .pattern .hairlines"), hairlines_of_file(tab)):
        lines = re.findall(r"M[^M]*([vh])", drawing.get_attribute("d") or "")
        assert sorted(lines) == ["h"] * 3 + ["v"] * 3
    borders, pixels = tab.get_by_test_id("head-0-0").locator("canvas").evaluate(BORDERS)
    assert borders == 3
    assert pixels > 4 * 12


def hairlines_of_file(tab: Page) -> Locator:
    """The lines between cells in the saved figure, put on the page."""
    source = save(tab, "svg").path().read_text(encoding="utf-8")
    tab.evaluate("svg => document.body.insertAdjacentHTML('beforeend', svg)", source)
    return tab.locator("body > svg .hairlines")


def test_small_cells_have_no_hairlines(show: Callable[..., Page]) -> None:
    tab = show(random_trace(120, 120, layers=1, heads=1))
    expect(tab.locator("[data-testid=map] .pattern")).to_be_attached()
    settle(tab)
    expect(tab.locator(".hairlines")).to_have_count(0)
