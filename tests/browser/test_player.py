import base64
import csv
import io
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Browser, ConsoleMessage, Error, Page, expect

from explorer.components.html_export import html_page
from explorer.components.player.payload import View, player_payload
from explorer.core.mask_reasons import EDITED
from explorer.core.trace import Trace
from tests.support.example_traces import example_trace, random_trace
from tests.support.page_checks import CLIPPED, OVERLAPPING, SIZES, settle
from tests.support.player_page import (
    EMBEDDED,
    bytes_of,
    entry_script,
    shadow_page,
    with_script,
)

HOSTILE = (
    "<b>x</b>",
    "<script>document.title='owned'</script>",
    "<img src=x onerror=alert(1)>",
    "A" * 10_000,
    "\u200b\u200d",
    "مرحبا",
    "$a$ &amp; {b}",
    "👩‍👩‍👧",
)


PLAYERS = """<script type="module">
{script}
{embedded}
let cleanup = null;
window.explorerPlotly = embeddedPlotly();
window.show = (text) => {{
  cleanup?.();
  window.reported = [];
  const data = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  cleanup = entry({{ data, parentElement: document.getElementById("player"),
    setStateValue: (name, selection) => reported.push(selection), setTriggerValue: () => {{}} }});
}};
</script>
"""


@pytest.fixture(scope="module")
def player_tab(chromium: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    """One tab for many players, offline: reading Plotly takes longer than most tests."""
    path = tmp_path_factory.mktemp("player") / "page.html"
    script = PLAYERS.format(script=entry_script("player"), embedded=EMBEDDED)
    html = with_script(html_page(example_trace()), script)
    path.write_text(html, encoding="utf-8")
    context = chromium.new_context(reduced_motion="reduce", offline=True, accept_downloads=True)
    tab = context.new_page()
    tab.goto(path.as_uri())
    yield tab
    context.close()


@pytest.fixture
def show(player_tab: Page) -> Iterator[Callable[..., Page]]:
    """Show a trace in a new player; the test fails on any console error or exception."""
    complaints: list[str] = []

    def note(message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            complaints.append(message.text)

    def fault(error: Error) -> None:
        complaints.append(str(error))

    player_tab.on("console", note)
    player_tab.on("pageerror", fault)

    def mount(
        trace: Trace,
        language: str = "en",
        view: View | None = None,
        size: tuple[int, int] = (1440, 900),
        *,
        dark: bool = False,
    ) -> Page:
        player_tab.set_viewport_size({"width": size[0], "height": size[1]})
        player_tab.emulate_media(color_scheme="dark" if dark else "light")
        player_tab.mouse.move(0, 0)
        data = player_payload(trace, language=language, view=view)
        player_tab.evaluate("(text) => show(text)", base64.b64encode(data).decode())
        player_tab.wait_for_selector(".plotted")
        return player_tab

    yield mount
    player_tab.remove_listener("console", note)
    player_tab.remove_listener("pageerror", fault)
    assert not complaints


def label(token: str) -> str:
    return token.strip("<>") if token in ("<bos>", "<eos>", "<pad>") else token


def go_to_first(tab: Page) -> None:
    tab.get_by_role("button", name="First", exact=True).click()


def cell_center(tab: Page, trace: Trace, site: str, query: int, key: int) -> tuple[float, float]:
    """Where the middle of a cell of the large map is on the page."""
    box = tab.locator(".map .clip").bounding_box()
    assert box is not None
    rows, columns = len(trace.queries(site)), len(trace.keys(site))
    x = box["x"] + box["width"] * (key + 0.5) / columns
    return x, box["y"] + box["height"] * (query + 0.5) / rows


def test_every_step_shows_the_numbers_of_the_trace(open_html: Callable[..., Page]) -> None:
    trace = example_trace()
    tab = open_html(html_page(trace))
    tab.get_by_test_id("head-0-2").click()
    go_to_first(tab)
    steps = trace.steps()
    for row, token in enumerate(trace.target_tokens):
        expect(tab.get_by_test_id("step-count")).to_have_text(f"step {row + 1}/6")
        settle(tab)
        printed = tab.locator("[data-testid=row-weights] span").all_inner_texts()
        weights = trace.attention("cross")[0, 2, row]
        for text, weight, is_open in zip(printed, weights, trace.mask("cross")[row], strict=True):
            if not is_open:
                assert text == ""
            elif text == "·":
                assert weight < 0.0051
            else:
                assert float(text) == pytest.approx(weight, abs=0.0051)
        candidates = steps[steps["step"] == row + 1]
        names = tab.locator("[data-testid=candidates] .name").all_inner_texts()
        assert names == [label(name) for name in candidates["token"]]
        values = tab.locator("[data-testid=candidates] .value").all_inner_texts()
        for text, probability in zip(values, candidates["probability"], strict=True):
            shown = float(text.strip("<> %"))
            assert shown == pytest.approx(100 * probability, abs=0.051)
        sentence = tab.get_by_test_id("sentence").inner_text()
        best = int(weights.argmax())
        assert f"asked by “{label(token)}”" in sentence
        assert f"“{label(trace.source_tokens[best])}” (position {best})" in sentence
        assert f"{weights[best]:.2f}" in sentence
        assert f"predicts “{label(trace.predicted_tokens[row])}”" in sentence
        expect(tab.locator("[data-testid=strip-target] .query")).to_have_text(label(token))
        tab.keyboard.press("ArrowRight")


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
        assert f"query “{label(trace.queries(site)[query])}” (position {query})" in text
        assert f"key “{label(trace.keys(site)[key])}” (position {key})" in text
        assert text.endswith("L1 H2")


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


def test_tokens_not_yet_decoded_are_not_on_the_page(show: Callable[..., Page]) -> None:
    source = ("alpha", "beta", "gamma", "delta")
    trace = example_trace(source, padding=0)
    for site in ("decoder", "cross"):
        tab = show(trace, view=View(site=site))
        expect(tab.get_by_role("checkbox", name="Show ahead")).to_be_checked()
        go_to_first(tab)
        expect(tab.get_by_role("checkbox", name="Show ahead")).not_to_be_checked()
        tab.keyboard.press("ArrowRight")
        expect(tab.get_by_test_id("step-count")).to_have_text("step 2/5")
        settle(tab)
        strip = tab.get_by_test_id("strip-target").inner_text().split()
        assert strip == ["bos", "delta", "gamma", "·", "·", "·"]
        places = ".query-label, .predicted-label" + (", .key-label" if site == "decoder" else "")
        shown = " ".join(tab.locator(places).all_inner_texts())
        assert "beta" not in shown
        assert "alpha" not in shown
        assert "gamma" in shown
        tab.mouse.move(*cell_center(tab, trace, site, 3, 1))
        settle(tab)
        expect(tab.get_by_test_id("tooltip")).to_be_hidden()
        expect(tab.get_by_test_id("not-yet")).to_be_visible()
        tab.get_by_role("checkbox", name="Show ahead").check()
        expect(tab.get_by_test_id("strip-target")).to_contain_text("alpha")


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


def test_keys_step_except_in_text_boxes(show: Callable[..., Page]) -> None:
    tab = show(example_trace())
    count = tab.get_by_test_id("step-count")
    for key, step in [
        ("Home", 1),
        ("ArrowRight", 2),
        ("ArrowRight", 3),
        ("ArrowLeft", 2),
        ("End", 6),
    ]:
        tab.keyboard.press(key)
        expect(count).to_have_text(f"step {step}/6")
    tab.keyboard.press("p")
    expect(tab.get_by_test_id("player")).to_have_class(re.compile("projector"))
    sizes = tab.locator(".axis-label, .chip, button:not(.thumbnail), .sentence").evaluate_all(
        "nodes => nodes.map((node) => parseFloat(getComputedStyle(node).fontSize))"
    )
    assert min(sizes) >= 18
    tab.evaluate("document.body.append(document.createElement('input'))")
    tab.locator("body > input").focus()
    for key in ("Home", "p", " "):
        tab.keyboard.press(key)
    settle(tab)
    tab.evaluate("document.querySelector('body > input').remove()")
    expect(count).to_have_text("step 6/6")
    tab.get_by_test_id("site-decoder").focus()
    tab.keyboard.press("Space")
    expect(tab.get_by_test_id("site-decoder")).to_have_attribute("aria-checked", "true")
    expect(tab.get_by_test_id("play")).to_have_attribute("aria-pressed", "false")


@pytest.mark.parametrize(
    "control", ["first", "last", "next", "head-0-1", "site-cross", "ahead", "projector", "csv"]
)
def test_after_a_click_the_keys_step_and_play(show: Callable[..., Page], control: str) -> None:
    tab = show(example_trace(), view=View(site="cross", step=2))
    count, play = tab.get_by_test_id("step-count"), tab.get_by_test_id("play")
    tab.get_by_test_id(control).click()
    settle(tab)
    title = tab.get_by_test_id("map-title").inner_text()
    tab.keyboard.press("Home")
    tab.keyboard.press("ArrowRight")
    expect(count).to_have_text("step 2/6")
    tab.keyboard.press("Space")
    expect(play).to_have_attribute("aria-pressed", "true")
    expect(count).to_have_text("step 3/6")
    tab.keyboard.press("Space")
    expect(play).to_have_attribute("aria-pressed", "false")
    expect(tab.get_by_test_id("map-title")).to_have_text(title)
    expect(tab.get_by_test_id("ahead")).not_to_be_checked()


def test_space_plays_on_a_focused_transport_button_and_enter_presses_it(
    show: Callable[..., Page],
) -> None:
    tab = show(example_trace(), view=View(site="cross", step=4))
    count, play = tab.get_by_test_id("step-count"), tab.get_by_test_id("play")
    tab.get_by_test_id("first").focus()
    tab.keyboard.press("Enter")
    expect(count).to_have_text("step 1/6")
    tab.keyboard.press("ArrowRight")
    tab.keyboard.press("Space")
    expect(play).to_have_attribute("aria-pressed", "true")
    expect(count).to_have_text("step 3/6")
    tab.get_by_test_id("step").focus()
    tab.keyboard.press("Space")
    expect(play).to_have_attribute("aria-pressed", "false")
    tab.get_by_test_id("ahead").focus()
    tab.keyboard.press("Space")  # reached by the Tab key, it is used by keys
    expect(tab.get_by_test_id("ahead")).to_be_checked()


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


def test_a_radio_group_is_one_tab_stop_and_arrow_keys_move_inside(
    show: Callable[..., Page],
) -> None:
    tab = show(example_trace(), view=View(site="cross", step=3))
    for name, chosen in [("Attention", "Cross"), ("Colour scale", "linear")]:
        radios = tab.get_by_role("radiogroup", name=name).get_by_role("radio")
        stops = radios.evaluate_all("all => all.filter((one) => one.tabIndex === 0)")
        assert len(stops) == 1
        expect(radios.and_(tab.get_by_role("radio", name=chosen))).to_have_attribute(
            "tabindex", "0"
        )
    tab.get_by_test_id("site-cross").focus()
    for key, site in [("ArrowLeft", "decoder"), ("ArrowUp", "encoder"), ("ArrowLeft", "cross")]:
        tab.keyboard.press(key)
        chosen = tab.get_by_test_id(f"site-{site}")
        expect(chosen).to_have_attribute("aria-checked", "true")
        expect(chosen).to_be_focused()
    tab.get_by_test_id("candidates-percent").focus()
    tab.keyboard.press("ArrowRight")
    expect(tab.get_by_test_id("candidates-log")).to_have_attribute("aria-checked", "true")
    expect(tab.get_by_test_id("step-count")).to_have_text("step 3/6")


SEEN_WHOLE = """() => {
  const column = document.querySelector(".aside");
  const box = column.getBoundingClientRect();
  const inside = (node) => {
    const { top, bottom } = node.getBoundingClientRect();
    return bottom > top && top >= box.top - 1 && bottom <= box.bottom + 1;
  };
  const rows = [...column.querySelectorAll(".candidates li")].filter((row) => row.offsetParent);
  const parts = [".sentence", ".forced"].map((name) => column.querySelector(name));
  return {
    rows: rows.length,
    all: [...rows, ...parts.filter((part) => part.offsetParent)].every(inside),
    above: parts[0].getBoundingClientRect().bottom <= rows[0].getBoundingClientRect().top,
    cut: column.scrollHeight - column.clientHeight,
  };
}"""


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("size", [(1366, 505), (1366, 630), (1440, 650), (1440, 900)])
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
            assert seen["rows"] >= 5
            assert (seen["all"], seen["above"], seen["cut"]) == (True, True, 0)
            expect(tab.get_by_test_id("row-weights")).to_be_visible()
            tab.keyboard.press("ArrowRight")
    expect(tab.locator(".key-label")).to_have_count(8)
    for name in ("csv", "png", "svg"):
        expect(tab.get_by_test_id(name)).to_be_hidden()
    expect(tab.locator(".foot")).to_be_hidden()
    assert tab.evaluate(CLIPPED) == []
    assert tab.evaluate(OVERLAPPING) == []
    cells = tab.locator(".map .clip").bounding_box()
    assert cells is not None
    assert cells["height"] > 0.45 * size[1]
    assert cells["width"] > 0.33 * size[0]
    type_sizes = tab.locator(".player *").evaluate_all(
        "nodes => nodes.filter((node) => node.offsetParent && !node.closest('.weights') &&"
        " [...node.childNodes].some((child) => child.nodeType === 3 && child.data.trim()))"
        ".map((node) => [parseFloat(getComputedStyle(node).fontSize), node.className])"
    )
    assert [kind for kind in type_sizes if kind[0] < 18 and kind[1] != "icon"] == []


def test_small_cells_print_fewer_digits(
    show: Callable[..., Page],
) -> None:
    tab = show(random_trace(12, 14), size=(1366, 505))
    tab.keyboard.press("p")
    weights = tab.get_by_test_id("row-weights")
    expect(weights).to_be_visible()
    assert weights.evaluate("node => parseFloat(getComputedStyle(node).fontSize)") >= 14


def test_the_sentence_is_visible_beside_forced_tokens(show: Callable[..., Page]) -> None:
    forced, original = ((2, "1"), (4, "3")), ("4", "9", "1", "3", "7", "<eos>")
    view = View(step=4, what_if=True, forced=forced, original=original)
    tab = show(example_trace(), view=view, size=(1366, 505))
    expect(tab.get_by_test_id("candidates-note")).to_have_text("Click a row: what if?")
    for head in ("head-0-0", "head-1-3"):
        tab.get_by_test_id(head).click()
        settle(tab)
        seen = tab.evaluate(SEEN_WHOLE)
        assert seen["rows"] >= 3
        assert (seen["all"], seen["above"], seen["cut"]) == (True, True, 0)
    tab.keyboard.press("p")
    expect(tab.get_by_test_id("sentence")).to_be_in_viewport(ratio=0.99)
    expect(tab.locator(".forced-chip").first).to_be_in_viewport(ratio=0.99)


def test_a_given_target_does_not_count_as_forced(show: Callable[..., Page]) -> None:
    trace = example_trace()
    steps = {
        "steps.forced": trace.arrays["steps.chosen"],
        "steps.rank": trace.arrays["steps.rank"],
    }
    rank = steps["steps.rank"].copy()
    rank[:2] = rank[1::-1]  # at step 1 the target takes what the model puts second
    arrays = dict(trace.arrays) | steps | {"steps.rank": rank}
    given = replace(trace, arrays=arrays, facts={"given": True}, digest="")
    tab = show(given, view=View(step=1, forced=((1, "4"),)))
    expect(tab.get_by_test_id("sentence")).to_contain_text("the given target goes on with “4”")
    expect(tab.get_by_test_id("sentence")).to_contain_text("rank 2")
    expect(tab.get_by_test_id("forced")).to_be_hidden()
    assert "✎" not in tab.get_by_test_id("candidates").inner_text()
    chosen = show(replace(given, facts={}), view=View(step=1, forced=((1, "4"),)))
    expect(chosen.get_by_test_id("sentence")).to_contain_text("a person chose “4”")
    expect(chosen.get_by_test_id("forced")).to_be_visible()


def test_a_touch_shows_the_tooltip_until_the_next_touch(chromium: Browser, tmp_path: Path) -> None:
    trace = example_trace()
    path = tmp_path / "page.html"
    path.write_text(html_page(trace), encoding="utf-8")
    context = chromium.new_context(
        viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True, offline=True
    )
    tab = context.new_page()
    tab.goto(path.as_uri())
    tab.wait_for_selector(".plotted")
    tab.get_by_test_id("map").scroll_into_view_if_needed()
    tab.touchscreen.tap(*cell_center(tab, trace, "cross", 1, 2))
    expect(tab.get_by_test_id("step-count")).to_have_text("step 2/6")
    tooltip = tab.get_by_test_id("tooltip")
    expect(tooltip).to_contain_text("key “9” (position 2)")
    tab.get_by_test_id("map-title").tap()
    expect(tooltip).to_be_hidden()
    context.close()


def test_play_runs_to_the_end_and_stops(show: Callable[..., Page]) -> None:
    tab = show(example_trace(), view=View(step=4))
    tab.get_by_role("button", name="Play").click()
    expect(tab.get_by_test_id("play")).to_have_attribute("aria-pressed", "true")
    expect(tab.get_by_test_id("step-count")).to_have_text("step 6/6", timeout=10_000)
    expect(tab.get_by_test_id("play")).to_have_attribute("aria-pressed", "false")


def test_controls_have_accessible_names(show: Callable[..., Page]) -> None:
    tab = show(example_trace())
    for name in ("First", "Previous", "Play", "Next", "Last"):
        expect(tab.get_by_role("button", name=name, exact=True)).to_be_visible()
    expect(tab.get_by_role("slider", name="Step")).to_be_visible()
    group = tab.get_by_role("radiogroup", name="Attention")
    for name in ("Encoder", "Decoder", "Cross"):
        expect(group.get_by_role("radio", name=name)).to_be_visible()
    tab.get_by_role("slider", name="Step").fill("2")
    expect(tab.get_by_test_id("step-count")).to_have_text("step 2/6")
    expect(tab.get_by_test_id("sentence")).to_have_attribute("aria-live", "polite")


def test_the_encoder_has_no_current_step_and_shows_the_reason(show: Callable[..., Page]) -> None:
    tab = show(example_trace())
    tab.get_by_test_id("site-encoder").click()
    reason = tab.get_by_text("computed once, before step 1")
    expect(reason).to_have_count(1)
    expect(reason).to_be_visible()
    expect(tab.get_by_test_id("current-row")).to_be_hidden()
    expect(tab.get_by_test_id("step")).to_be_disabled()
    expect(tab.get_by_test_id("next")).to_have_attribute("aria-disabled", "true")
    tab.keyboard.press("Home")
    tab.get_by_test_id("site-cross").click()
    expect(tab.get_by_test_id("step-count")).to_have_text("step 6/6")


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


def test_mask_reasons_and_unmasked_zeros_look_different(
    show: Callable[..., Page],
) -> None:
    trace = example_trace()
    arrays = dict(trace.arrays)
    closed = arrays["decoder.closed"].copy()
    weights = arrays["decoder.attention"].copy()
    closed[4, 1], closed[0, 5] = EDITED, 2
    weights[..., 4, :2] = 0
    weights[..., 4, 4] += 1 - weights[..., 4, :].sum(-1)
    arrays |= {"decoder.closed": closed, "decoder.attention": weights}
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


def test_tokens_with_markup_stay_text(open_html: Callable[..., Page]) -> None:
    tab = open_html(html_page(example_trace(HOSTILE)), 1366, 630)
    source = tab.get_by_test_id("strip-source").inner_text()
    assert "<b>x</b>" in source
    assert "مرحبا" in source
    assert r"\u200b\u200d" in source
    assert tab.locator("b, img").count() == 0
    assert "owned" not in tab.title() or "<script>" in tab.title()
    tab.keyboard.press("Home")
    for _ in HOSTILE:
        tab.keyboard.press("ArrowRight")
        settle(tab)
        assert tab.evaluate("document.documentElement.scrollWidth <= innerWidth")
    with tab.expect_download() as event:
        tab.get_by_test_id("csv").click()
    rows = list(csv.reader(io.StringIO(event.value.path().read_text("utf-8-sig"))))
    assert rows[0][1] == "<b>x</b>"
    assert len(rows) == len(HOSTILE) + 2
    with tab.expect_download() as event:
        tab.get_by_test_id("svg").click()
    drawing = event.value.path().read_text("utf-8")
    assert "&#60;b&#62;x&#60;/b&#62;" in drawing
    assert "<script" not in drawing


def test_csv_holds_the_shown_matrix(show: Callable[..., Page]) -> None:
    trace = example_trace()
    tab = show(trace, view=View(site="cross", layer=1, head=1))
    with tab.expect_download() as event:
        tab.get_by_test_id("csv").click()
    rows = list(csv.reader(io.StringIO(event.value.path().read_text("utf-8-sig"))))
    shown = np.array([row[1:] for row in rows[1:]])
    is_open = trace.mask("cross")
    assert np.array_equal(shown == "", ~is_open)
    weights = trace.attention("cross")[1, 1][is_open]
    assert np.abs(shown[is_open].astype(float) - weights).max() < 6e-5
    with tab.expect_download() as event:
        tab.get_by_test_id("png").click()
    assert event.value.path().read_bytes().startswith(b"\x89PNG")


def test_tokens_in_the_csv_are_not_formulas(show: Callable[..., Page]) -> None:
    tokens = ("=1+1", "+2", "-3", "@sum", "\t=4", "5=5")
    tab = show(example_trace(tokens, padding=0))
    with tab.expect_download() as event:
        tab.get_by_test_id("csv").click()
    rows = list(csv.reader(io.StringIO(event.value.path().read_text("utf-8-sig"), newline="")))
    disarmed = ["'=1+1", "'+2", "'-3", "'@sum", "'\t=4", "5=5"]
    assert rows[0] == ["", *disarmed, "<eos>"]
    assert [row[0] for row in rows[1:]] == ["<bos>", *reversed(disarmed)]
    assert min(len(cell) for row in rows[1:] for cell in row[1:]) == len("0.0000")


def test_invisible_characters_are_written_as_code_points(
    show: Callable[..., Page],
) -> None:
    tokens = ("a\u200b\u200bb", "ab", "a\u00a0b", "1\ufe0f", " ", "👩\u200d👧", "❤\ufe0f", "a b")
    tab = show(example_trace(tokens, padding=0))
    shown = tab.locator("[data-testid=strip-source] .chip").all_inner_texts()
    written = [r"a\u200b\u200bb", "ab", r"a\u00a0b", r"1\ufe0f", "␣", *tokens[5:]]
    assert shown == [*written, "eos"]


def test_the_integrity_line_of_a_tampered_trace_is_red(show: Callable[..., Page]) -> None:
    trace = example_trace()
    arrays = dict(trace.arrays)
    arrays["cross.attention"] = arrays["cross.attention"] * np.float32(1.01)
    tab = show(replace(trace, arrays=arrays))
    failed = tab.locator("[data-testid=integrity] .failed")
    assert failed.count() == 2
    colour = failed.first.evaluate("node => getComputedStyle(node).color")
    red, green, blue = (int(part) for part in re.findall(r"\d+", colour))
    assert red > 2 * max(green, blue)
    expect(tab.locator("[data-testid=integrity] .passed").first).to_contain_text("masked cells")


def test_an_expected_difference_is_not_a_failed_check(show: Callable[..., Page]) -> None:
    opened = {"interventions": ["open decoder.0.0 1 2"]}
    measured = {"hooked_equals_plain": 0.0, "cached_equals_full": 0.5}
    tab = show(replace(example_trace(), facts=opened, measured=measured, digest=""))
    check = tab.locator("[data-check=cached_equals_full]")
    expect(check).to_have_text("✓ cached ≠ full: expected, a later position was unmasked")
    assert tab.locator("[data-testid=integrity] .failed").count() == 0


def test_traces_from_arrays_without_steps_or_with_one_site_are_shown(
    show: Callable[..., Page],
) -> None:
    even = np.full((1, 2, 3, 3), 1 / 3, dtype=np.float32)
    tab = show(Trace.from_arrays(["a", "b", "c"], encoder=even))
    expect(tab.get_by_test_id("map-title")).to_have_text("Encoder · L0 H0")
    expect(tab.get_by_test_id("site-cross")).to_have_attribute("aria-disabled", "true")
    tab.get_by_test_id("site-cross").click(force=True)
    expect(tab.get_by_test_id("map-title")).to_have_text("Encoder · L0 H0")
    expect(tab.get_by_test_id("candidates-note")).to_have_text("The encoder predicts nothing.")
    tab.get_by_test_id("head-0-1").click()
    tab.wait_for_timeout(700)
    told = {"site": "encoder", "layer": 0, "head": 1, "step": None}
    assert tab.evaluate("reported") == [told]
    causal = np.tril(np.ones((3, 3), dtype=np.float32))
    decoder = np.broadcast_to(causal / causal.sum(-1, keepdims=True), (1, 2, 3, 3))
    tab = show(Trace.from_arrays([], ["a", "b", "c"], decoder=decoder))
    expect(tab.get_by_test_id("sentence")).to_contain_text("Head L0 H0, asked by “c”")
    expect(tab.get_by_test_id("candidates-note")).to_have_text("This trace holds no predictions.")
    expect(tab.get_by_test_id("strip-source")).to_be_hidden()


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
        assert tab.evaluate(OVERLAPPING) == [], (width, height)
        map_box = tab.get_by_test_id("map").bounding_box()
        assert map_box is not None
        assert min(map_box["width"], map_box["height"]) > 180


@pytest.mark.parametrize("dark", [False, True])
def test_text_can_be_read_in_both_themes(show: Callable[..., Page], dark: bool) -> None:
    tab = show(example_trace(), dark=dark)
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
  const names = ".chip:not(.ahead), button:not([aria-disabled]), .strip-label, .hint, .count, " +
    ".axis-title, .axis-label:not(.ahead), .head-name, .score, .sentence, .integrity li, .keys, " +
    ".marks span, .reason-key, .value, .rank, .note, h3, .cover-text, .mini-axes";
  return [...document.querySelectorAll(names)].filter((node) => node.offsetParent).map((node) => {
    const [ink, paper] = [parse(getComputedStyle(node).color), ground(node)];
    let opacity = 1;
    for (let at = node; at; at = at.parentElement) opacity *= getComputedStyle(at).opacity;
    const seen = ink.map((part, at) => part * opacity + paper[at] * (1 - opacity));
    const [one, other] = [seen, paper].map(light);
    return [(Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05), node.className];
  }).filter(([ratio]) => ratio < 4.5);
}"""


def test_the_component_reports_and_is_updated_in_place(
    open_html: Callable[..., Page],
) -> None:
    trace = example_trace()
    html = shadow_page(trace)
    tab = open_html(html)
    tab.evaluate("shadow.querySelector('.player').marked = true")
    able = View(what_if=True, forced=((2, "1"),), original=("4", "9", "<eos>"), step=2)
    tab.evaluate("(data) => { call(new Uint8Array(data)); }", bytes_of(trace, able))
    expect(tab.get_by_test_id("step-count")).to_have_text("step 2/6")
    assert tab.evaluate("shadow.querySelectorAll('.player').length") == 1
    assert tab.evaluate("shadow.querySelector('.player').marked") is True
    expect(tab.get_by_test_id("forced")).to_contain_text("step 2: “1”")
    tab.locator("[data-testid=candidates] .candidate").nth(2).click()
    tab.get_by_test_id("unforce-2").click()
    tab.get_by_test_id("original-path").click()
    tab.get_by_test_id("head-0-1").click()
    tab.wait_for_timeout(700)
    steps = trace.steps()
    third = steps[(steps["step"] == 2) & (steps["rank"] == 3)]
    heard = tab.evaluate("heard")
    assert [what for what in heard if what[0] == "trigger"] == [
        ["trigger", "force", {"step": 2, "id": int(third["id"].iloc[0])}],
        ["trigger", "unforce", 2],
        ["trigger", "reset", True],
    ]
    selection = {"site": "cross", "layer": 0, "head": 1, "step": 2}
    assert heard[-1] == ["state", "selection", selection]
    tab.mouse.move(*cell_center(tab, trace, "cross", 0, 1))
    expect(tab.get_by_test_id("tooltip")).to_contain_text("query “bos” (position 0)")
    tab.evaluate("host.style.setProperty('--st-background-color', '#101216')")
    tab.evaluate("host.style.setProperty('--st-text-color', '#f0f0f0')")
    expect(tab.get_by_test_id("player")).to_have_attribute("data-theme", "dark")
    tab.evaluate("(data) => { call(new Uint8Array(data)); }", bytes_of(trace, language="zh"))
    expect(tab.get_by_test_id("player")).to_have_attribute("lang", "zh")
    assert tab.evaluate("document.documentElement.lang") == "zh"
    tab.evaluate("cleanup()")
    assert tab.evaluate("shadow.querySelectorAll('.player').length") == 0


def test_without_the_app_a_candidate_cannot_be_forced(show: Callable[..., Page]) -> None:
    tab = show(example_trace())
    row = tab.locator("[data-testid=candidates] .candidate").nth(1)
    expect(row).to_have_attribute("aria-disabled", "true")
    assert "needs the running app" in (row.get_attribute("title") or "")


def test_without_plotly_the_rest_still_works(new_tab: Callable[..., Page], tmp_path: Path) -> None:
    html = html_page(example_trace())
    start = html.index('id="plotly">') + len('id="plotly">')
    html = html[:start] + html[html.index("</script>", start) :]
    path = tmp_path / "page.html"
    path.write_text(html, encoding="utf-8")
    tab = new_tab(offline=True)
    tab.goto(path.as_uri())
    expect(tab.get_by_test_id("map-notice")).to_be_visible()
    tab.keyboard.press("Home")
    expect(tab.get_by_test_id("step-count")).to_have_text("step 1/6")
    tab.mouse.move(*cell_center(tab, example_trace(), "cross", 0, 4))
    expect(tab.get_by_test_id("tooltip")).to_contain_text("weight 0.9")
