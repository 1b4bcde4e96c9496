"""The player at several window sizes, in large type and in both themes: nothing is cut."""

import re
from collections.abc import Callable
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from explorer.components.player.payload import View
from explorer.core.i18n import OWN_LANGUAGES, say
from explorer.core.trace import Trace
from tests.support.example_traces import example_trace, random_trace
from tests.support.page_checks import CLIPPED, OVERLAPPING, SIZES, settle, wait_until
from tests.support.sample import sampled

LAYOUT = """() => {
  const box = (name) => {
    const node = document.querySelector(name);
    const { left, top, width, height } = node.getBoundingClientRect();
    return [left, top, width, height].map((value) => Math.round(value));
  };
  return Object.fromEntries([".transport", ".map .clip", ".picture", ".legend", ".map", ".heads"]
    .map((name) => [name, box(name)]));
}"""


def wide_tokens_trace() -> Trace:
    """Strips of two lines, of which the target's second one fills up with the steps."""
    trace = random_trace(30, 26)
    names = [f"token{position:02}" for position in range(30)]
    return replace(
        trace,
        source_tokens=(*names[:25], "<eos>"),
        target_tokens=("<bos>", *names[1:]),
        predicted_tokens=(*names[1:], "<eos>"),
        digest="",
    )


@pytest.mark.parametrize("size", [(1440, 900), (1366, 630), (1024, 768)])
def test_a_step_moves_nothing_and_the_legend_stays_below_the_cells(
    show: Callable[..., Page], size: tuple[int, int]
) -> None:
    tab = show(wide_tokens_trace(), size=size)
    seen = []
    for name in ("first", "next", "last", "first"):
        tab.get_by_test_id(name).click()
        settle(tab)
        layout = tab.evaluate(LAYOUT)
        cells, legend = layout[".map .clip"], layout[".legend"]
        assert legend[1] >= cells[1] + cells[3]
        seen.append(layout)
    assert all(layout == seen[0] for layout in seen)


HEADS = {
    "2x4": example_trace(),
    "3x8": random_trace(26, 38, 3, 8),
    "6x12": random_trace(20, 20, 6, 12),
}
LEFT = [(1366, 525), (1440, 795), (1920, 975)]
"""What the app leaves of a window to the player, px."""


@pytest.mark.parametrize(("heads", "size"), sampled(product(HEADS, LEFT), 4))
def test_map_and_thumbnails_fill_the_height(
    show: Callable[..., Page], heads: str, size: tuple[int, int]
) -> None:
    tab = show(HEADS[heads], size=size)
    tab.wait_for_timeout(200)
    layout = tab.evaluate(LAYOUT)
    legend, column = layout[".legend"], layout[".heads"]
    foot = tab.locator(".foot").bounding_box()
    last = tab.locator(".thumbnail").last.bounding_box()
    assert foot is not None
    assert last is not None
    assert foot["y"] - (legend[1] + legend[3]) < 40
    assert last["y"] + last["height"] <= column[1] + column[3] + 1
    if heads != "6x12":
        assert foot["y"] - (last["y"] + last["height"]) < 120
    assert layout[".picture"][2] >= 26


def test_the_map_is_fitted_again_when_a_line_above_it_wraps(show: Callable[..., Page]) -> None:
    tab = show(wide_tokens_trace())
    tab.evaluate("document.querySelector('.strips').style.paddingBottom = '60px'")
    tab.wait_for_timeout(200)
    layout = tab.evaluate(LAYOUT)
    cells, legend = layout[".map .clip"], layout[".legend"]
    assert cells[1] + cells[3] <= legend[1] <= cells[1] + cells[3] + 24


@pytest.mark.parametrize("projector", [False, True])
@pytest.mark.parametrize(
    "trace", [example_trace(), wide_tokens_trace(), random_trace(8, 40)], ids=["5", "30", "40"]
)
def test_encoder_decoder_and_cross_have_one_size(
    show: Callable[..., Page], trace: Trace, projector: bool
) -> None:
    tab = show(trace)
    if projector:
        tab.keyboard.press("p")
    seen = []
    for site in ("encoder", "decoder", "cross"):
        tab.get_by_test_id(f"site-{site}").click()
        tab.wait_for_timeout(150)
        seen.append(tab.evaluate(LAYOUT))
    assert seen[0] == seen[1] == seen[2]


SEEN_WHOLE = """() => {
  const column = document.querySelector(".aside");
  const box = column.getBoundingClientRect();
  const inside = (node) => {
    const { top, bottom } = node.getBoundingClientRect();
    return bottom > top && top >= box.top - 1 && bottom <= box.bottom + 1;
  };
  const rows = [...column.querySelectorAll(".candidates li")].filter((row) => row.offsetParent);
  const parts = [".sentence", ".changes"].map((name) => column.querySelector(name));
  return {
    rows: rows.length,
    all: [...rows, ...parts.filter((part) => part.offsetParent)].every(inside),
    above: parts[0].getBoundingClientRect().bottom <= rows[0].getBoundingClientRect().top,
    cut: column.scrollHeight - column.clientHeight,
  };
}"""


PROJECTED = product(OWN_LANGUAGES, [(1366, 505), (1366, 630), (1440, 650), (1440, 900)])


@pytest.mark.parametrize(("language", "size"), sampled(PROJECTED, 3))
def test_projector_mode_shows_everything_in_large_type(
    show: Callable[..., Page], language: str, size: tuple[int, int]
) -> None:
    """505 and 650 px are what the app leaves of 630 and 770."""
    tab = show(example_trace(), language, size=size)
    tab.keyboard.press("p")
    for head in ("head-0-0", "head-1-3"):  # one spreads its weight, one does not
        tab.get_by_test_id(head).click()
        tab.keyboard.press("Home")
        for _ in range(6):
            settle(tab)
            seen = tab.evaluate(SEEN_WHOLE)
            assert seen["rows"] >= (4 if size[1] < 600 else 5)  # the output takes one
            assert (seen["all"], seen["above"], seen["cut"]) == (True, True, 0)
            expect(tab.get_by_test_id("row-weights")).to_be_visible()
            tab.keyboard.press("ArrowRight")
    expect(tab.locator(".key-label")).to_have_count(8)
    for part in ("save", "output"):
        expect(tab.get_by_test_id(part)).to_be_in_viewport(ratio=1)
    expect(tab.locator(".foot")).to_be_hidden()
    assert tab.evaluate(CLIPPED) == []
    assert tab.evaluate(OVERLAPPING) == []
    cells = tab.locator(".map .clip").bounding_box()
    assert cells is not None
    assert cells["height"] > 0.37 * size[1]
    assert cells["width"] > (0.31 if size[1] < 600 else 0.33) * size[0]
    type_sizes = tab.locator(".player *").evaluate_all(
        "nodes => nodes.filter((node) => node.offsetParent && !node.closest('.weights') &&"
        " [...node.childNodes].some((child) => child.nodeType === 3 && child.data.trim()))"
        ".map((node) => [parseFloat(getComputedStyle(node).fontSize), node.className])"
    )
    assert [kind for kind in type_sizes if kind[0] < 18 and kind[1] != "icon"] == []


@pytest.mark.parametrize("language", OWN_LANGUAGES)
@pytest.mark.parametrize("width", [1024, 1366, 1920])
def test_the_tabs_keep_their_padding_on_a_projector(
    show: Callable[..., Page], language: str, width: int
) -> None:
    tab = show(example_trace(), language, size=(width, 768))
    tab.keyboard.press("p")
    expect(tab.get_by_test_id("player")).to_have_class(re.compile("projector"))
    settle(tab)
    tabs = [tab.get_by_test_id(f"site-{site}") for site in ("encoder", "decoder", "cross")]
    for one in tabs:
        expect(one).to_have_css("padding-inline", "8px")
    last, panel = tabs[-1].bounding_box(), tab.locator(".map-panel").bounding_box()
    assert last is not None
    assert panel is not None
    assert last["x"] + last["width"] <= panel["x"]


def test_candidates_can_be_read_on_a_narrow_projector(show: Callable[..., Page]) -> None:
    tab = show(wide_tokens_trace(), size=(1024, 660))
    tab.keyboard.press("p")
    cut = tab.locator(".candidate .name").evaluate_all(
        "nodes => nodes.filter((node) => node.offsetParent && node.scrollWidth > node.clientWidth)"
        ".map((node) => node.textContent)"
    )
    assert cut == []
    assert tab.locator(".others").evaluate(VALUE_BEFORE_NAME) is False


VALUE_BEFORE_NAME = """(row) => {
  const [name, value] = [...row.children].map((node) => node.getBoundingClientRect());
  return value.left < name.left;
}"""


def test_small_cells_print_fewer_digits(
    show: Callable[..., Page],
) -> None:
    tab = show(random_trace(12, 14), size=(1366, 570))
    tab.keyboard.press("p")
    expect(tab.get_by_test_id("row-weights")).to_be_visible()
    weights = "document.querySelector('[data-testid=row-weights]')"  # drawn anew, larger
    wait_until(tab, f"parseFloat(getComputedStyle({weights}).fontSize) >= 14")


def test_the_sentence_is_visible_beside_forced_tokens(show: Callable[..., Page]) -> None:
    forced, original = ((2, "1"), (4, "3")), ("4", "9", "1", "3", "7", "<eos>")
    view = View(step=4, what_if=True, forced=forced, original=original)
    tab = show(example_trace(), view=view, size=(1366, 505))
    note = tab.get_by_test_id("candidates-note")
    expect(note).to_have_text(say("player.what_if"))
    for head in ("head-0-0", "head-1-3"):
        tab.get_by_test_id(head).click()
        settle(tab)
        seen = tab.evaluate(SEEN_WHOLE)
        assert seen["rows"] >= 3
        assert (seen["all"], seen["above"], seen["cut"]) == (True, True, 0)
    tab.keyboard.press("p")
    expect(tab.get_by_test_id("sentence")).to_be_in_viewport(ratio=0.99)
    expect(tab.locator(".change-chip").first).to_be_in_viewport(ratio=0.99)


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("trace", [example_trace(), random_trace(64, 64, 6, 8)], ids=["5", "64"])
def test_nothing_overflows(show: Callable[..., Page], language: str, trace: Trace) -> None:
    tab = show(trace, language)
    for width, height in SIZES:
        tab.set_viewport_size({"width": width, "height": height})
        tab.wait_for_timeout(150)
        page_width, page_height = tab.evaluate(
            "[document.documentElement.scrollWidth, document.documentElement.scrollHeight]"
        )
        assert page_width <= width
        if width >= 1366:
            assert page_height <= height
        assert tab.evaluate(CLIPPED) == [], (width, height)
        tab.evaluate("scrollTo(0, document.documentElement.scrollHeight)")  # ends what is sticky
        assert tab.evaluate(OVERLAPPING) == [], (width, height)
        map_box = tab.get_by_test_id("map").bounding_box()
        assert map_box is not None
        assert min(map_box["width"], map_box["height"]) > 180


@pytest.mark.parametrize("dark", [False, True])
def test_text_can_be_read_in_both_themes(show: Callable[..., Page], dark: bool) -> None:
    ahead = View(site="cross", step=2, ahead=True)  # faint special tokens
    tab = show(example_trace(), view=ahead, dark=dark)
    assert tab.evaluate(CONTRAST) == []
    tab.keyboard.press("Home")
    tab.keyboard.press("ArrowRight")
    settle(tab)
    assert tab.evaluate(CONTRAST) == []
    tab.get_by_test_id("site-encoder").click()
    settle(tab)
    assert tab.evaluate(CONTRAST) == []


CONTRAST = """() => {
  const pen = Object.assign(document.createElement("canvas"), { width: 1, height: 1 })
    .getContext("2d", { willReadFrequently: true });
  const parse = (colour) => {
    pen.clearRect(0, 0, 1, 1);
    pen.fillStyle = colour;
    pen.fillRect(0, 0, 1, 1);
    return [...pen.getImageData(0, 0, 1, 1).data];
  };
  const light = (rgb) => rgb.slice(0, 3).map((value) => value / 255)
    .map((part) => (part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4))
    .reduce((sum, part, at) => sum + part * [0.2126, 0.7152, 0.0722][at], 0);
  const ground = (node) => {
    for (let at = node; at; at = at.parentElement) {
      const colour = parse(getComputedStyle(at).backgroundColor);
      if (colour[3] > 250) return colour;
    }
    return [255, 255, 255, 255];
  };
  const names = ".chip, .chip *, button:not([aria-disabled]), .strip-label, .hint, .count, " +
    ".axis-title, .axis-label, .axis-label *, .head-name, .score, .sentence, " +
    ".integrity li, .keys, .marks span, .reason-key, .value, .rank, .note, h2, " +
    ".cover-text, .mini-axes";
  return [...document.querySelectorAll(names)].filter((node) => node.offsetParent).map((node) => {
    const [ink, paper] = [parse(getComputedStyle(node).color), ground(node)];
    let opacity = 1;
    for (let at = node; at; at = at.parentElement) opacity *= getComputedStyle(at).opacity;
    const seen = ink.map((part, at) => part * opacity + paper[at] * (1 - opacity));
    const [one, other] = [seen, paper].map(light);
    return [(Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05), node.className];
  }).filter(([ratio]) => ratio < 4.5);
}"""


def test_heads_without_space_for_their_names_have_them_above(show: Callable[..., Page]) -> None:
    tab = show(random_trace(20, 20, 2, 4), size=(960, 460))
    names = tab.get_by_test_id("column-names").locator(".head-name")
    expect(names).to_have_text([f"H{head}" for head in range(4)])
    for head, name in enumerate(names.all()):
        above = name.bounding_box()
        picture = tab.get_by_test_id(f"head-0-{head}").bounding_box()
        assert above is not None
        assert picture is not None
        assert abs(above["x"] + above["width"] / 2 - picture["x"] - picture["width"] / 2) < 2
        assert above["y"] + above["height"] <= picture["y"] + 1
    tab = show(example_trace())
    expect(tab.get_by_test_id("column-names")).to_have_count(0)


@pytest.mark.parametrize("projector", [False, True])
def test_a_rank_of_many_digits_leaves_the_token_readable(
    show: Callable[..., Page], projector: bool
) -> None:
    trace = example_trace()
    ranks = np.where(trace.arrays["steps.chosen"], 1234, trace.arrays["steps.rank"])
    arrays = {**trace.arrays, "steps.rank": ranks}
    tab = show(replace(trace, arrays=arrays, digest=""), view=View(step=2), size=(1024, 700))
    if projector:
        tab.keyboard.press("p")
    rank = tab.locator(".candidate.chosen .rank")
    expect(rank).to_have_text("1234")
    name = tab.locator(".candidate.chosen .name").bounding_box()
    end = rank.evaluate(
        """(node) => { const range = document.createRange(); range.selectNodeContents(node);
          return range.getBoundingClientRect().right; }"""
    )
    assert name is not None
    assert end <= name["x"]


def test_a_long_output_is_read_to_its_end_beside_the_map(show: Callable[..., Page]) -> None:
    trace = replace(
        wide_tokens_trace(), text=" ".join(["a long sentence of words"] * 20), digest=""
    )
    tab = show(trace, size=(1024, 660))
    tab.keyboard.press("End")
    output = tab.get_by_test_id("output")
    expect(output).to_be_in_viewport(ratio=1)
    assert output.evaluate("node => node.scrollHeight > node.clientHeight")
    assert output.evaluate("node => getComputedStyle(node).overflowY") == "auto"
    name = tab.locator(".output-name")
    expect(name).to_have_attribute("data-more", "▼")
    output.evaluate("node => { node.scrollTop = node.scrollHeight; }")
    assert output.evaluate("node => node.scrollTop") > 0
    expect(name).to_have_attribute("data-more", "▲")
    assert tab.evaluate("document.documentElement.scrollHeight - innerHeight") <= 0


def test_a_strip_says_that_it_has_more_lines(show: Callable[..., Page]) -> None:
    tab = show(random_trace(90, 12), view=View(step=1, ahead=True), size=(1024, 768))
    label = tab.locator(".strip:has([data-testid=strip-target]) .strip-label")
    expect(label).to_have_attribute("data-more", "▼")
    tab.keyboard.press("End")
    expect(label).to_have_attribute("data-more", re.compile("^▲"))
    short = tab.locator(".strip:has([data-testid=strip-source]) .strip-label")
    assert short.get_attribute("data-more") is None


def test_the_column_most_looked_at_has_its_label(show: Callable[..., Page]) -> None:
    trace = wide_tokens_trace()
    tab = show(trace, view=View(site="cross", layer=0, head=0, step=1), size=(1024, 660))
    tab.keyboard.press("p")
    for step in range(4):
        looked = trace.keys("cross")[int(trace.attention("cross")[0, 0, step].argmax())]
        settle(tab)
        assert looked.strip("<>") in tab.locator(".key-label").all_inner_texts()
        tab.keyboard.press("ArrowRight")


def test_the_projector_button_says_whether_it_is_on(show: Callable[..., Page]) -> None:
    tab = show(example_trace())
    button = tab.get_by_test_id("projector")
    expect(button).to_have_attribute("aria-pressed", "false")
    button.click()
    expect(button).to_have_attribute("aria-pressed", "true")


def test_the_bar_of_a_candidate_lies_below_its_name(show: Callable[..., Page]) -> None:
    tab = show(example_trace(), size=(1024, 660))
    tab.keyboard.press("p")
    settle(tab)
    row = tab.locator("[data-testid=candidates] .candidate").first
    name, bar = row.locator(".name").bounding_box(), row.locator(".track").bounding_box()
    assert name is not None
    assert bar is not None
    assert name["y"] + name["height"] <= bar["y"] + 1
