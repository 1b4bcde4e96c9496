"""The Heads page in a real browser."""

import base64
import re
import shutil
from collections.abc import Callable
from contextlib import suppress

import numpy as np
import pandas as pd
import pytest
from playwright.sync_api import Page, expect

import explorer
from explorer.components.bundle import PLOTLY, styles
from explorer.components.head_views.payload import head_grid_payload
from explorer.core import folders
from explorer.core.i18n import say, section
from explorer.core.look import SECTIONS
from explorer.heads.reports.head_report import HeadReport
from tests.support.app_server import running_app
from tests.support.page_checks import settle
from tests.support.player_page import cell_center, entry_script, save
from tests.support.small_trace import small_trace

PAINTED = """(canvases) => canvases.every((canvas) => canvas.getContext("2d")
  .getImageData(0, 0, canvas.width, canvas.height).data.some((value) => value < 200))"""

PATIENCE = 120_000
"""ms that a measurement may take."""

ROW = 35
"""Height of the headings and of each row of a table, px."""


@pytest.fixture
def visit(address: str, new_tab: Callable[..., Page]) -> Callable[..., Page]:
    """Open Heads with a text."""

    def open_tab() -> Page:
        tab = new_tab()
        tab.goto(f"{address}heads?model=reverse&text=7+3+9+1+4+a+b+c")
        expect(tab.get_by_test_id("head-grid")).to_be_visible()
        return tab

    return open_tab


@pytest.fixture
def compare_changes(address: str, new_tab: Callable[..., Page]) -> Callable[..., Page]:
    """Open Heads → Compare → this text + my changes, with nothing changed yet."""

    def open_tab(**size: int) -> Page:
        tab = new_tab(**size)
        text = "model=reverse&text=7+3+9+1+4+a+b+c"
        tab.goto(f"{address}heads?lang=en&{text}&part=compare&with=@changes")
        expect(tab.get_by_test_id("comparison-outputs")).to_be_visible()
        return tab

    return open_tab


def outputs(tab: Page) -> list[str]:
    """The tokens without and with the interventions, a line each."""
    pairs = tab.get_by_test_id("comparison-outputs")
    sides = [pairs.locator(f".{side}").all_inner_texts() for side in ("without", "with")]
    return [" ".join(tokens) for tokens in sides]


def saved(tab: Page, name: str) -> str:
    """The figure that a button saves."""
    return save(tab, name).path().read_text(encoding="utf-8")


def test_all_heads_are_saved_as_one_figure_that_says_what_it_shows(visit):
    tab = visit()
    report = HeadReport.load(folders.PACKAGE.parent / "checkpoints" / "heads" / "reverse.json")
    gold = report.heads[report.heads.site == "cross"].gold_weight
    for name, width in {"heads-svg": 640, "heads-svg_column": 320}.items():
        figure = saved(tab, name)
        assert figure.index(f'width="{width}"') < figure.index("<defs>")
        texts = re.findall(r"<text[^>]*>([^<]*)</text>", figure)
        assert [text for text in texts if re.fullmatch("[LH][0-9]", text)] == [
            *("H0", "H1", "H2", "H3", "L0", "L1"),
        ]
        assert [text for text in texts if re.fullmatch(r"[01]\.[0-9]{2}", text)][:8] == [
            f"{value:.2f}" for value in gold
        ]
        whole = " ".join(texts)
        assert "Model: reverse" in whole
        assert "Text: 7 3 9 1 4 a b c" in whole
        assert f"the mean over {report.facts['sentences']} sentences." in whole
    tab.get_by_test_id("order-sorted").click()
    sorted_by = re.findall(r">(L\d H\d) ([01]\.\d\d)<", saved(tab, "heads-svg"))
    values = [float(value) for _, value in sorted_by]
    assert len(values) == 8
    assert values == sorted(values, reverse=True)


def test_a_filter_that_no_head_passes_leaves_nothing_to_save(visit):
    tab = visit()
    tab.get_by_test_id("role").select_option("none")
    expect(tab.get_by_test_id("count")).to_have_text("0 of 8 heads")
    tab.get_by_test_id("save").locator("summary").click()
    buttons = tab.get_by_test_id("save").get_by_role("button").all()
    for button in buttons:
        expect(button).to_be_enabled()  # by layer all heads are saved
    tab.get_by_test_id("order-sorted").click()
    tab.get_by_test_id("save").locator("summary").click()
    for button in buttons:
        expect(button).to_be_disabled()


def test_the_metric_on_screen_is_saved_as_a_figure(address, new_tab):
    tab = new_tab()
    tab.goto(f"{address}heads?model=reverse&part=metrics")
    tab.get_by_test_id("metric").select_option("gold_weight")
    report = HeadReport.load(folders.PACKAGE.parent / "checkpoints" / "heads" / "reverse.json")
    expected = report.heads[report.heads.site == "cross"].gold_weight
    for name in ("metric-svg", "metric-svg_column"):
        texts = re.findall(r"<text[^>]*>([^<]*)</text>", saved(tab, name))
        assert "Model: reverse" in texts
        of = f"{report.facts['sentences']} sentences ({report.facts['batch']})."
        assert f"Mean over {of}" in " ".join(texts)
        numbers = [text for text in texts if re.fullmatch(r"[01]\.[0-9]{2}", text)]
        assert numbers == [f"{value:.2f}" for value in expected]


def test_the_numbers_of_a_colour_bar_stay_below_it(address, new_tab):
    tab = new_tab()
    tab.goto(f"{address}heads?model=reverse&part=metrics")
    bar, marks = tab.locator(".ramp"), tab.locator(".marks span")
    for metric in ("importance", "zero_exact"):
        tab.get_by_test_id("metric").select_option(metric)
        expect(marks).to_have_count(3)
        around = bar.bounding_box()
        ends = [around["x"], around["x"] + around["width"]]
        for mark in marks.all():
            box = mark.bounding_box()
            assert ends[0] - 0.5 <= box["x"]
            assert box["x"] + box["width"] <= ends[1] + 0.5


def test_the_grid_is_painted_sorted_filtered_and_a_click_focuses(visit):
    tab = visit()
    grid = tab.get_by_test_id("head-grid")
    expect(grid.locator("canvas")).to_have_count(8)
    assert grid.locator("canvas").evaluate_all(PAINTED)
    boxes = [canvas.bounding_box() for canvas in grid.locator("canvas").all()]
    assert min(box["width"] for box in boxes) > 100
    assert len({round(box["y"]) for box in boxes}) == 2  # layers down, heads across
    tab.get_by_test_id("head-1-2").hover()
    expect(tab.get_by_test_id("head-tooltip")).to_contain_text("Cross · L1 H2")
    expect(tab.get_by_test_id("head-tooltip")).to_contain_text(
        "mirrored place: 100 % (by chance 10 %)"
    )
    tab.get_by_test_id("head-1-2").click()
    expect(tab.get_by_test_id("map-title")).to_contain_text("L1 H2")
    expect(tab.get_by_test_id("verdict")).to_have_text("Cross · L1 H2: mirrored place")
    tab.get_by_test_id("site-encoder").click()
    tab.get_by_test_id("role").select_option("sink=end")
    expect(tab.get_by_test_id("count")).to_have_text("3 of 8 heads")
    tab.get_by_test_id("order-sorted").click()
    expect(grid.locator("canvas")).to_have_count(3)
    first = grid.locator(".head-cell").first
    expect(first).to_have_attribute("data-testid", "head-0-2")  # the more positional one
    tab.get_by_test_id("metric").select_option("confidence")
    expect(first).to_have_attribute("data-testid", "head-0-1")
    expect(grid.locator("[tabindex='0']")).to_have_count(1)  # one stop of the Tab key
    first.press("ArrowDown")
    second = grid.locator(".head-cell").nth(1)
    expect(second).to_be_focused()
    expect(second).to_have_attribute("aria-pressed", "true")
    expect(second).to_have_attribute("tabindex", "0")
    expect(grid.locator("[tabindex='0']")).to_have_count(1)


@pytest.mark.parametrize(("width", "height"), [(1440, 900), (1024, 768), (390, 844)])
def test_simple_says_what_a_head_does_in_whole_words_and_what_its_number_is(
    address, new_visitor, width, height
):
    tab = new_visitor(width, height, offered=False)
    tab.goto(f"{address}heads?lang=en&model=english-french")
    report = HeadReport.load(
        folders.PACKAGE.parent / "checkpoints" / "heads" / "english-french.json"
    )
    grid = tab.get_by_test_id("head-grid")
    expect(tab.get_by_test_id("head-grid-number")).to_have_text(
        "Number under a head: the weight on the right place, "
        f"the mean over {report.facts['linked']['sentences']} sentences."
    )
    sections = tab.locator(".st-key-sections").get_by_role("radio")
    shown = [one.inner_text() for one in sections.all() if one.is_visible()]
    assert shown == ["All heads", "Compare"]
    for site in ("cross", "encoder", "decoder"):
        tab.get_by_test_id(f"site-{site}").click()
        expect(tab.get_by_test_id(f"site-{site}")).to_have_attribute("aria-checked", "true")
        roles = grid.locator(".role")
        said = [report.role_caption(site, layer, head) for layer in range(3) for head in range(8)]
        expect(roles).to_have_text(said)
        cell = grid.get_by_test_id("head-1-0")
        cell.click()
        expect(tab.get_by_test_id("verdict")).to_have_text(f"{site.title()} · L1 H0: {said[8]}")
        if width > 1150:  # else that line alone has room
            expect(roles.first).to_be_visible()
            cut = "(all) => all.filter((one) => one.scrollHeight > one.clientHeight + 1).length"
            assert roles.evaluate_all(cut) == 0


def test_a_row_chosen_in_measurements_shows_the_evidence_for_its_head(address, new_tab):
    tab = new_tab()
    tab.goto(f"{address}heads?model=reverse&part=roles")  # as an older link says
    expect(tab.get_by_text("This link opens “Roles”")).to_be_visible()
    table = tab.locator(".st-key-metrics-table").get_by_test_id("stDataFrame")
    expect(tab.get_by_text("Choose a row")).to_be_visible()
    table.locator(".dvn-scroller").click(position={"x": 15, "y": 2.5 * ROW})
    expect(tab.get_by_text("Evidence for Encoder L0 H1")).to_be_visible()
    expect(tab).to_have_url(re.compile(r"site=encoder&layer=0&head=1"))


def test_a_typed_change_changes_the_output_and_is_undone(compare_changes):
    tab = compare_changes()
    original = outputs(tab)[0]
    assert outputs(tab) == [original, original]
    line = tab.get_by_role("textbox", name="Type a change")
    line.fill("keep cross.1.9")
    line.press("Enter")
    expect(tab.get_by_text("There is no head cross.1.9")).to_be_visible()
    expect(line).to_have_value("keep cross.1.9")
    line.fill("keep cross.1.1")
    line.press("Enter")
    undo = tab.get_by_role("button", name="keep only Cross L1 H1")
    expect(undo).to_be_visible()
    expect(line).to_have_value("")
    expect(tab.get_by_test_id("comparison-outputs").locator(".differs").first).to_be_visible()
    expect(tab.locator(".thumbnail .crossed")).to_have_count(7)
    note = tab.get_by_test_id("comparison-changed").get_by_test_id("removed-note")
    tab.get_by_test_id("head-1-1").click()
    expect(note).to_be_hidden()
    tab.get_by_test_id("head-0-1").click()
    expect(tab.get_by_test_id("comparison-original").get_by_test_id("removed-note")).to_be_hidden()
    expect(note).to_have_text("This head is removed: its output is zero.")
    expect(tab.get_by_test_id("pair-note")).to_contain_text("its output is left out")
    pairs = tab.get_by_test_id("comparison-outputs").locator(".pair")
    for pair in pairs.all():  # one column of each step, above each other
        one, other = (half.bounding_box() for half in pair.locator("> *").all())
        assert one["x"] == other["x"]
    assert outputs(tab)[0] == original != outputs(tab)[1]
    undo.click()
    expect(undo).to_be_hidden()
    expect(tab.get_by_test_id("comparison-outputs").locator(".differs")).to_have_count(0)
    assert outputs(tab) == [original, original]


@pytest.mark.parametrize(("width", "height"), [(1440, 900), (1024, 768), (390, 844)])
def test_what_is_typed_stands_after_what_it_is_compared_with(compare_changes, width, height):
    tab = compare_changes(width=width, height=height)
    places = ("[class*=st-key-compare-with]", ".st-key-compare-typed", ".st-key-interventions")
    choice, line, words = (tab.locator(place).bounding_box() for place in places)
    assert choice["y"] <= line["y"]
    assert line["y"] + line["height"] <= words["y"]
    assert max(box["x"] + box["width"] for box in (choice, line, words)) <= width


def test_both_traces_show_the_same_step_and_head(compare_changes):
    tab = compare_changes(width=1024, height=768)
    sides = [tab.get_by_test_id(f"comparison-{name}") for name in ("original", "changed")]
    titles = [side.get_by_test_id("map-title") for side in sides]
    current = [side.locator(".query-label.current") for side in sides]
    tab.get_by_test_id("first").click()
    tab.get_by_test_id("next").click()
    tab.get_by_test_id("next").click()
    for label in current:
        expect(label).to_have_text("b")
    tab.get_by_test_id("head-1-1").click()
    for title in titles:
        expect(title).to_have_text("Cross · L1 H1")
    left, right = (side.bounding_box() for side in sides)
    assert left["y"] == right["y"]  # the heads are above the maps
    assert left["x"] < right["x"]
    tab.set_viewport_size({"width": 390, "height": 844})
    expect(tab.get_by_test_id("view-model-comparison")).to_have_attribute("data-narrow", "")
    left, right = (side.bounding_box() for side in sides)
    assert left["x"] == right["x"]  # on a narrow screen one stands under the other
    assert left["y"] < right["y"]


def test_the_pictures_of_24_heads_fill_the_height(address, new_tab):
    tab = new_tab(1920, 1080)
    tab.goto(f"{address}heads?model=english-french-early&text=I+saw+a+black+cat.&pad=0")
    grid = tab.get_by_test_id("head-grid")
    expect(grid.locator("canvas")).to_have_count(24)
    for width, height in [(1920, 1080), (1440, 900), (1366, 630)]:
        tab.set_viewport_size({"width": width, "height": height})
        tab.wait_for_function("innerWidth === " + str(width))
        space = grid.bounding_box()
        lowest = max(
            box["y"] + box["height"]
            for box in (cell.bounding_box() for cell in grid.locator(".head-cell").all())
        )
        assert lowest - space["y"] > 0.75 * space["height"], (width, height)
        main = tab.get_by_test_id("stMain")
        assert main.evaluate("(node) => node.scrollHeight - node.clientHeight") == 0
    rows = {round(cell.bounding_box()["y"]) for cell in grid.locator(".head-cell").all()}
    assert len(rows) in (3, 6)  # a layer takes one row, or two


def test_a_short_table_ends_with_its_rows_and_nothing_over_it_covers_a_button(address, new_tab):
    tab = new_tab(1440, 900)
    tab.goto(f"{address}heads?model=induction&part=removal")
    table = tab.locator(".st-key-head-tables").get_by_test_id("stDataFrame").first
    table.hover()
    tools = table.get_by_test_id("stElementToolbar")
    expect(tools).to_have_css("opacity", "1")
    around, own = table.bounding_box(), tools.bounding_box()
    assert around["height"] == pytest.approx(9 * ROW, abs=4)  # 8 heads and the headings
    assert around["y"] < own["y"] < own["y"] + own["height"] < around["y"] + around["height"]
    tab.get_by_role("button", name="Measure").click(timeout=5_000)
    chosen = tab.locator("[class*=st-key-more-section-] button[aria-checked=true]")
    assert len(set(chosen.evaluate("(one) => getComputedStyle(one).borderRadius").split())) == 1


ROWS = """(table) => [...table.querySelectorAll("tbody tr")].map((row) =>
  [...row.querySelectorAll("td")].map((cell) => cell.textContent))"""


def test_a_table_fills_the_window_and_a_click_on_a_heading_sorts_it(address, new_tab):
    tab = new_tab(1440, 1000)
    tab.goto(f"{address}heads?model=reverse&part=removal")
    table = tab.get_by_test_id("stDataFrame")
    for height in (1000, 800):
        tab.set_viewport_size({"width": 1440, "height": height})
        tab.wait_for_function("innerHeight === " + str(height))
        box = table.bounding_box()
        assert box["y"] + box["height"] > height - 110
        main = tab.get_by_test_id("stMain")
        assert main.evaluate("(node) => node.scrollHeight - node.clientHeight") == 0
    heading = table.locator("th", has_text="Δ loss, zeroed")
    column = int(heading.get_attribute("aria-colindex") or 0) - 1
    before = [float(row[column]) for row in table.locator("table").evaluate(ROWS)]
    for place in range(200, 700, 25):  # headings are painted, and their widths follow the words
        unsorted = table.locator("th").all_inner_texts()
        table.click(position={"x": place, "y": 17})
        with suppress(AssertionError):  # between two headings nothing changes
            expect(table.locator("th")).not_to_have_text(unsorted, timeout=2000)
        if heading.inner_text().startswith("↑"):
            break
    expect(heading).to_have_text("↑ Δ loss, zeroed")
    after = [float(row[column]) for row in table.locator("table").evaluate(ROWS)]
    assert after == sorted(after) != before


def test_on_a_small_projector_the_large_map_is_beside_the_grid(address, new_tab):
    tab = new_tab(1024, 768)
    tab.goto(f"{address}heads?model=reverse&text=7+3+9+1+4&step=4")
    box = tab.get_by_test_id("map")
    expect(box).to_be_in_viewport(ratio=1)
    main = tab.get_by_test_id("stMain")
    assert main.evaluate("(node) => node.scrollHeight - node.clientHeight") == 0
    assert box.bounding_box()["height"] > 280
    rows = {tab.get_by_test_id(name).bounding_box()["y"] for name in ("first", "next", "last")}
    assert len(rows) == 1
    ahead = tab.get_by_test_id("ahead").bounding_box()
    assert ahead["y"] < rows.pop() + 30  # in one line with the buttons


GRID_ALONE = """<!doctype html><meta charset="utf-8"><style>body {{ margin: 0 }} {styles}</style>
<main></main><script type="module">
{script}
const data = Uint8Array.from(atob("{data}"), (letter) => letter.charCodeAt(0));
entry({{ data, parentElement: document.querySelector("main"),
  setStateValue: () => {{}}, setTriggerValue: () => {{}} }});
</script>"""


def test_all_columns_of_heads_stay_in_a_grid_alone_when_the_type_grows(new_tab, tmp_path):
    page = tmp_path / "grid.html"
    data = base64.b64encode(head_grid_payload(small_trace(), None)).decode()
    parts = {"styles": styles("head_grid"), "script": entry_script("head_grid"), "data": data}
    shutil.copyfile(PLOTLY, tmp_path / "plotly.min.js")
    page.write_text(GRID_ALONE.format(**parts), encoding="utf-8")
    tab = new_tab(1366, 768)
    tab.goto(page.as_uri())
    grid = tab.get_by_test_id("head-grid")
    expect(tab.get_by_test_id("head-0-4")).to_be_visible()
    tab.keyboard.press("p")
    expect(tab.locator(".head-view.projector")).to_be_visible()
    settle(tab)
    assert grid.evaluate("(cells) => cells.scrollWidth - cells.clientWidth") == 0


WHOLE = "(nodes) => nodes.every((node) => node.scrollHeight <= node.clientHeight + 2)"


@pytest.mark.parametrize(
    ("part", "projector", "sizes"),
    [
        ("overview", True, [(1024, 768), (1366, 630)]),
        ("overview", False, [(1024, 768)]),
    ],
)
def test_the_maps_of_a_section_are_seen_at_once_on_a_small_screen(
    address, new_tab, part, projector, sizes
):
    tab = new_tab()
    if projector:
        tab.add_init_script("sessionStorage.setItem('data-projector', '')")
    tab.goto(f"{address}heads?model=reverse&text=7+3+9+1+4&step=4&part={part}")
    maps = tab.locator(".head-view .map")
    for width, height in sizes:
        tab.set_viewport_size({"width": width, "height": height})
        tab.wait_for_function("innerWidth === " + str(width))
        expect(maps.first).to_be_visible()
        for box in maps.all():
            expect(box).to_be_in_viewport(ratio=1)
        expect(tab.locator(".head-view .transport")).to_be_in_viewport(ratio=1)
        assert tab.locator(".map .clip").first.bounding_box()["height"] > 75
        assert tab.locator(".axis-title.upright").evaluate_all(WHOLE)
        main = tab.get_by_test_id("stMain")
        assert main.evaluate("(node) => node.scrollHeight - node.clientHeight") == 0


def test_the_measurements_of_24_heads_are_in_one_line_and_follow_the_projector(address, new_tab):
    tab = new_tab(1366, 630)
    tab.goto(f"{address}heads?model=english-french-early&part=metrics")
    tables = tab.locator(".matrices table")
    expect(tables).to_have_count(3)
    assert len({round(table.bounding_box()["y"]) for table in tables.all()}) == 1
    tab.evaluate("sessionStorage.setItem('data-projector', '')")
    tab.reload()
    expect(tab.locator("html")).to_have_attribute("data-projector", "")


def test_a_projector_makes_the_large_map_of_heads_no_smaller(address, new_tab):
    tab = new_tab(1440, 900)
    tab.goto(f"{address}heads?model=reverse&text=7+3+9+1+4&step=4")
    clip = tab.locator(".map .clip")
    expect(clip).to_be_visible()
    small = tab.locator(".query-label.current").evaluate(
        "(node) => getComputedStyle(node).fontSize"
    )
    tab.keyboard.press("p")
    expect(tab.locator(".query-label.current")).not_to_have_css("font-size", small)
    box = clip.bounding_box()
    assert min(box["width"], box["height"]) > 200


def test_all_parts_of_heads_are_in_view_on_a_phone(address, new_tab):
    tab = new_tab(390, 844)
    tab.goto(f"{address}heads?lang=en")
    parts = tab.locator(".st-key-sections").get_by_role("radio")
    named = section("heads", "en").keys() & {f"part_{name}" for name in SECTIONS}
    expect(parts).to_have_count(len(named))  # the others are within one of these
    for part in parts.all():
        expect(part).to_be_in_viewport(ratio=1)


@pytest.mark.parametrize("width", [390, 1024])
def test_the_row_of_controls_stands_at_the_top_and_within_the_window(address, new_tab, width):
    tab = new_tab(width, 844)
    tab.goto(f"{address}heads?lang=en&model=reverse&pad=2")
    expect(tab.get_by_test_id("head-grid")).to_be_visible()
    row = tab.get_by_test_id("input-row")
    header, sections = tab.get_by_test_id("stHeader"), tab.locator(".st-key-sections")
    top, end = (one.bounding_box() for one in (header, sections))
    box = row.bounding_box()
    assert 0 <= box["y"] - (top["y"] + top["height"]) < 20  # px
    assert box["y"] + box["height"] <= end["y"]
    for name in ("Model", "Source", "Random", "Examples", "Pad"):
        control = row.get_by_label(name, exact=True).or_(row.get_by_role("button", name=name))
        place = control.bounding_box()
        assert 0 <= place["x"] < place["x"] + place["width"] <= width, name
    assert tab.evaluate("document.scrollingElement.scrollWidth") <= width


def test_what_is_typed_stays_while_the_page_is_drawn_anew_and_back_replaces_it(address, new_tab):
    tab = new_tab()
    tab.goto(f"{address}heads?lang=en&model=reverse&text=7+3+9")
    source = tab.get_by_role("textbox", name="Source")
    expect(source).to_have_value("7 3 9")
    source.fill("1 2 3")
    source.press("Enter")
    expect(tab).to_have_url(re.compile(r"text=1\+2\+3&"))
    expect(source).to_be_focused()
    source.press_sequentially(" 4")
    tab.get_by_role("radio", name="Compare").click()
    expect(tab.get_by_test_id("comparison-original")).to_be_visible()
    expect(source).to_have_value("1 2 3 4")
    tab.go_back()  # another section of the same text
    expect(tab.get_by_test_id("head-grid")).to_be_visible()
    expect(source).to_have_value("1 2 3 4")
    tab.go_back()
    expect(source).to_have_value("7 3 9")


def test_another_model_is_asked_for_what_is_typed_where_it_reads_it(address, new_tab):
    tab = new_tab()
    tab.goto(f"{address}heads?lang=en&model=reverse&text=7+3+9")
    source, model = tab.get_by_role("textbox", name="Source"), tab.get_by_test_id("model")
    source.fill("3 1 2")
    model.select_option("sort")
    expect(tab).to_have_url(re.compile(r"model=sort&text=3\+1\+2&"))
    expect(source).to_have_value("3 1 2")
    model.select_option("english-french")
    expect(tab).to_have_url(re.compile("model=english-french"))
    expect(source).to_have_value("The black cat is sleeping on the red chair.")


def test_a_click_on_a_cell_shows_its_arithmetic_as_on_explore(address, new_tab):
    model = explorer.load(folders.PACKAGE.parent / "checkpoints" / "reverse.safetensors")
    trace = model.trace("7 3 9", pad_to=6, capture="full")
    tab = new_tab()
    tab.goto(
        f"{address}heads?lang=en&model=reverse&text=7+3+9&pad=2&site=cross&layer=1&head=2&step=1"
    )
    tab.wait_for_selector(".plotted")
    tab.mouse.click(*cell_center(tab, trace, "cross", 1, 1))
    product = trace.query_vectors("cross")[1, 2, 1] @ trace.key_vectors("cross")[1, 2, 1]
    expect(tab.get_by_test_id("inside-product")).to_contain_text(
        f"sum {product:.2f}".replace("-", "−")
    )
    expect(tab).to_have_url(re.compile(r"[?&]cell=1\.1(&|$)"))
    tab.get_by_test_id("inside_part-depth").click()
    expect(tab.get_by_test_id("depth-table")).to_be_visible()
    expect(tab).to_have_url(re.compile(r"[?&]inside=depth(&|$)"))
    tab.reload()
    expect(tab.get_by_test_id("depth-table")).to_be_visible()
    tab.keyboard.press("i")
    expect(tab.get_by_test_id("inside")).to_be_hidden()


def test_two_models_are_compared_head_by_head_and_a_pair_is_in_the_url(address, new_tab):
    tab = new_tab()
    tab.goto(
        f"{address}heads?model=reverse&part=compare&text=7+3+9+1+4&with=sort&site=cross&layer=0&head=0"
    )
    matrix = tab.get_by_test_id("similarity")
    expect(matrix).to_be_visible()
    titles = [
        tab.get_by_test_id(f"comparison-{side}").get_by_test_id("map-title")
        for side in ("original", "changed")
    ]
    expect(titles[0]).to_have_text("Cross · L0 H0")
    pair = tab.get_by_test_id("similarity-pair")
    expect(pair).to_contain_text("reverse L0 H0 and sort")
    expect(pair).to_contain_text("matched")
    tab.get_by_test_id("other_head").select_option("1.3")
    expect(titles[1]).to_have_text("Cross · L1 H3")
    expect(tab.get_by_test_id("pair-title")).to_have_text("L1 H3 minus L0 H0")
    tab.wait_for_url(re.compile(r"other=1\.3"))
    cells = matrix.locator(".nsewdrag")
    cells.scroll_into_view_if_needed()
    box = cells.bounding_box()
    last = {"x": box["width"] - 20, "y": box["height"] - 20}  # of both
    cells.hover(position=last)
    told = matrix.locator(".hovertext").text_content()
    cells.click(position=last)
    expect(pair).to_have_text(told)
    shown = re.search(r"reverse (L\d H\d) and sort (L\d H\d)", pair.inner_text())
    for title, name in zip(titles, shown.groups(), strict=True):
        expect(title).to_have_text(f"Cross · {name}")
    tab.get_by_test_id("site-encoder").click()
    expect(tab.get_by_test_id("similarity-title")).to_contain_text("Encoder")
    expect(pair).to_contain_text("matched")
    first = tab.get_by_test_id("comparison-original").locator(".query-label.current")
    tab.get_by_test_id("site-cross").click()
    tab.get_by_test_id("first").click()
    expect(first).to_have_text("bos")
    expect(tab.get_by_test_id("comparison-changed").locator(".query-label.current")).to_have_text(
        "bos"
    )
    for side in ("original", "changed", "difference"):
        cover = tab.get_by_test_id(f"comparison-{side}").get_by_test_id("not-yet")
        expect(cover).to_have_text("not yet decoded")


def test_simple_says_no_logarithms_of_two_models(address, new_visitor):
    tab = new_visitor(offered=False)
    tab.goto(f"{address}heads?lang=en&model=reverse&part=compare&text=7+3+9&pad=0&with=sort")
    said = tab.locator(".st-key-compare-summary")
    expect(said.locator("p").first).to_have_text(
        say("heads.compare_never", a="reverse", b="sort", output="3 7 9")
    )
    numbers = said.get_by_text("(ln: ")
    expect(numbers).to_be_hidden()
    assert " ln " not in tab.locator(".stMain").inner_text()
    tab.get_by_test_id("everything").click()
    expect(numbers).to_be_visible()


def test_two_texts_are_compared_position_by_position(address, new_tab):
    tab = new_tab()
    tab.goto(
        f"{address}heads?model=reverse&part=compare&text=1+2+3&other_text=3+2+1&site=cross&layer=1&head=1"
    )
    second = tab.get_by_test_id("comparison-changed")
    expect(second.get_by_role("heading").first).to_have_text("“3 2 1”")
    expect(tab.get_by_test_id("pair-title")).to_have_text("L1 H1 minus L1 H1")
    expect(tab.get_by_test_id("pair-note")).to_contain_text("query “3 / 1”")
    box = tab.get_by_role("textbox", name="Other text")
    box.fill("2 3 1")
    box.press("Enter")
    expect(second.get_by_role("heading").first).to_have_text("“2 3 1”")
    tab.wait_for_url(re.compile(r"other_text=2\+3\+1"))
    box.fill("2 3")
    box.press("Enter")
    expect(tab.get_by_text("so both need equally many tokens")).to_be_visible()


def test_what_carries_the_difference_of_two_texts_shows_its_heads_in_both_maps(address, new_tab):
    """And the second text is made of the first by replacing a token."""
    tab = new_tab()
    tab.goto(f"{address}heads?lang=en&model=induction&part=compare&text=7+3+9+1+5+7")
    tab.get_by_role("button", name="Replace a token").click()
    panel = tab.get_by_test_id("stPopoverBody")
    panel.get_by_role("button", name="7", exact=True).first.click()
    panel.get_by_text("Replace “7” by").wait_for()
    panel.get_by_role("radio", name="4", exact=True).click()
    tab.wait_for_url(re.compile(r"other_text=4\+3\+9\+1\+5\+7"))
    expect(panel).to_be_hidden()
    expect(tab.get_by_test_id("patched")).to_be_hidden()
    tab.locator(".st-key-patched").get_by_role("radio", name="Heads").click()
    about = tab.get_by_test_id("patched-about")
    expect(about).to_contain_text("Step 7, the first token: the logit of “3”")
    cell = tab.get_by_test_id("patched-decoder").get_by_role("button", name="L1 H0: ")
    cell.click()
    expect(cell).to_have_attribute("aria-pressed", "true")
    table = explorer.load("induction").patch("7 3 9 1 5 7", "4 3 9 1 5 7").table
    share = table.query("layer == 1 and head == 0").restored.item()
    expect(tab.get_by_test_id("brings-back")).to_have_text(
        f"L1 H0: this head alone brings back {100 * share:.0f}\u00a0% of the difference."
    )
    for side in ("original", "changed"):
        heading = tab.get_by_test_id(f"comparison-{side}").locator(".map-title")
        expect(heading).to_contain_text("L1 H0")
    tab.wait_for_url(re.compile(r"layer=1&head=0"))
    tab.locator(".st-key-patched").get_by_role("radio", name="Positions").click()
    columns = tab.get_by_test_id("patched-decoder").get_by_role("columnheader")
    expect(columns.nth(1)).to_have_text("7 / 4")
    found = explorer.load("induction").patch("7 3 9 1 5 7", "4 3 9 1 5 7", sites="residual")
    saved = saved_table(tab, "[data-testid=patched]", "patched-csv")
    pd.testing.assert_frame_equal(
        saved, found.table, check_dtype=False, atol=1e-3, check_column_type=False
    )
    expect(heading).to_contain_text("L1 H0")
    position = tab.get_by_test_id("patched-decoder").get_by_role("button", name="L0, position 2")
    position.click()
    expect(position).to_have_attribute("aria-pressed", "true")
    expect(heading).to_contain_text("L0 H0")
    tab.wait_for_url(re.compile(r"step=3.*ask=residual|ask=residual.*step=3"))
    rows = [shown_row(tab, side) for side in ("original", "changed")]
    assert rows == ["3", "3"]
    tab.get_by_test_id("everything").click()
    expect(tab.get_by_test_id("patched")).to_be_hidden()
    expect(tab.locator(".st-key-patched")).to_be_hidden()


def test_a_phone_asks_what_carries_the_difference_after_both_texts(address, new_tab):
    tab = new_tab(390, 844)
    tab.goto(f"{address}heads?lang=en&model=induction&part=compare&text=7+3+9+1+5+7")
    expect(tab.locator(".comparison-side .plotted")).to_have_count(2)
    tab.wait_for_timeout(500)
    other = tab.get_by_role("textbox", name="Other text")
    question = tab.locator(".st-key-patched")
    assert question.bounding_box()["y"] > other.bounding_box()["y"]


def shown_row(tab, side: str) -> str:
    """The label of the current row of a map."""
    return tab.get_by_test_id(f"comparison-{side}").locator(".query-label.current").inner_text()


def test_a_link_shows_what_was_patched_and_a_position_of_the_encoder_as_a_row_of_both_maps(
    address, new_visitor
):
    tab = new_visitor(390, 844, offered=False)
    texts = "text=The+black+cat+is+asleep.&other_text=The+white+cat+is+asleep."
    query = f"part=compare&model=english-french&{texts}&ask=residual"
    tab.goto(f"{address}heads?lang=en&{query}&site=cross&layer=2&head=1")
    cell = tab.get_by_test_id("patched-encoder").get_by_role("button", name="L1, position 1")
    cell.click()
    expect(cell).to_have_attribute("aria-pressed", "true")
    for side in ("original", "changed"):
        place = tab.get_by_test_id(f"comparison-{side}")
        expect(place.locator(".map-title")).to_contain_text("L1 H1")
        mark, key = place.locator(".cell-mark"), place.locator(".overlay .key-mark")
        expect(mark).to_be_visible()
        expect(key).to_be_hidden()
        box, plot = mark.bounding_box(), place.locator("canvas.base").bounding_box()
        assert abs(box["width"] - plot["width"]) < 3
    tab.wait_for_url(re.compile("site=encoder&layer=1&head=1"))


def saved_table(tab, place: str, button: str) -> pd.DataFrame:
    """The table that a button of a menu saves."""
    with tab.expect_download() as saved:
        tab.locator(place).get_by_test_id("save").first.locator("summary").click()
        tab.get_by_test_id(button).click()
    return pd.read_csv(saved.value.path())


def numbers_in(source: str, pattern: str) -> list[float]:
    """Those of the texts of a drawing that are written so."""
    texts = re.findall(r"<text[^>]*>([^<]*)</text>", source)
    found = [text for text in texts if re.fullmatch(pattern, text)]
    return [float(text.replace("−", "-")) for text in found]


def test_the_maps_of_a_comparison_begin_high_in_a_small_window(address, new_tab):
    tab = new_tab(1024, 768)
    tab.goto(f"{address}heads?lang=en&model=reverse&part=compare&text=1+2+3&other_text=3+2+1")
    picture = tab.get_by_test_id("comparison-original").locator(".plotted")
    tops = "node => node.querySelector('.cells, canvas').getBoundingClientRect().top"
    assert picture.evaluate(tops) <= 480
    expect(tab.get_by_text("They are compared position by position.")).to_be_hidden()
    tab.get_by_role("button", name="What is compared").click()
    expect(tab.get_by_text("They are compared position by position.").last).to_be_visible()
    expect(tab.get_by_text("Shown first: L1 H1")).to_be_visible()


@pytest.mark.parametrize(
    "compared",
    [
        "other_text=The+grandmother+cat+is+beautiful.",  # a longer label of a key
        "with=@changes&do=close+cross.1.7+1+1",  # a pen beside every token
    ],
)
@pytest.mark.parametrize("size", [(1440, 900), (1024, 768)])
def test_the_three_maps_of_a_comparison_have_one_height_and_one_size(
    address, new_tab, compared, size
):
    tab = new_tab(*size)
    query = "model=english-french&text=The+black+cat+is+asleep.&site=cross&layer=1&head=7"
    tab.goto(f"{address}heads?lang=en&part=compare&{query}&{compared}")
    maps = tab.locator(".comparison-side canvas.base")
    expect(maps).to_have_count(3)
    expect(tab.locator(".comparison-side .plotted")).to_have_count(2)
    tab.wait_for_timeout(500)
    boxes = [one.bounding_box() for one in maps.all()]
    for name in ("y", "width", "height"):
        values = [box[name] for box in boxes]
        assert max(values) - min(values) < 2, (name, values)
    marks = tab.get_by_test_id("comparison-difference").locator(".marks span").last
    place = marks.bounding_box()
    assert place["x"] + place["width"] <= tab.viewport_size["width"]


def test_the_labels_of_the_three_maps_of_a_comparison_stand_alike(address, new_tab):
    """A longer token of one text slants those of the other, too."""
    tab = new_tab(1440, 900)
    texts = "text=I+have+three+books.&other_text=I+have+four+books."
    query = f"model=english-french&site=cross&layer=1&head=7&{texts}"
    tab.goto(f"{address}heads?lang=en&part=compare&{query}")
    for side in ("original", "changed", "difference"):
        labels = tab.get_by_test_id(f"comparison-{side}").locator(".key-label.rotated")
        expect(labels).to_have_count(6)


def test_a_comparison_is_saved_with_the_numbers_of_the_traces(address, new_tab):
    model = explorer.load(folders.checkpoints() / "reverse.safetensors")
    compared = explorer.compare(model.trace("2 3 1"), model.trace("1 2 3"), by="position")
    tab = new_tab()
    query = "model=reverse&part=compare&text=1+2+3&pad=0&other_text=2+3+1&site=cross&layer=0&head=2"
    tab.goto(f"{address}heads?{query}")
    expect(tab.get_by_test_id("pair-title")).to_have_text("L0 H2 minus L0 H2")
    with tab.expect_download() as saved:
        tab.locator(".comparison-top").get_by_test_id("save").first.locator("summary").click()
        tab.get_by_test_id("pair-svg").click()
    assert saved.value.suggested_filename == "compare-cross-L0-H2-L0-H2.svg"
    source = saved.value.path().read_text("utf-8")
    expected = compared.difference("cross")[0, 2].ravel()
    expected = expected[np.abs(expected) >= 0.005]
    np.testing.assert_allclose(numbers_in(source, r"[+−]1?\.\d\d"), expected, atol=0.0051)
    said = (
        "Model: reverse",
        "1 2 3  →  3 2 1",
        "2 3 1  →  1 3 2",
        say("heads.figure_texts"),
    )
    assert all(words in source for words in said)
    assert "A row shares 1" not in source  # that of the difference does not
    table = saved_table(tab, ".comparison-top", "pair-csv")
    both = compared.b.attention("cross")[0, 2], compared.a.attention("cross")[0, 2]
    heads = ["“1 2 3” L0 H2", "“2 3 1” L0 H2"]
    for name, expected in zip(heads, both, strict=True):
        np.testing.assert_allclose(table[name], expected.ravel(), atol=1e-4)
    np.testing.assert_allclose(table.difference, table[heads[1]] - table[heads[0]], atol=2e-4)
    assert table["query token"][4] == "3 / 1"
    with tab.expect_download() as saved:
        tab.locator(".similarity").get_by_test_id("save").locator("summary").click()
        tab.get_by_test_id("similarity-svg").click()
    source = saved.value.path().read_text("utf-8")
    compared = explorer.compare(model.trace("1 2 3"), model.trace("2 3 1"), by="position")
    rows, columns = compared.clustered("cross")
    table = compared.similarity.loc[["cross"], ["cross"]].to_numpy()[np.ix_(rows, columns)]
    shown = numbers_in(source, r"(1|)\.\d\d")
    np.testing.assert_allclose(shown, table.ravel(), atol=0.0051)
    assert "Mean over the 4 queries of one text" in source
    saved = saved_table(tab, ".similarity", "similarity-csv")
    np.testing.assert_allclose(saved.similarity, table.ravel(), atol=1e-4)
    matched = compared.matched()
    assert saved.matched.sum() == (matched.site == "cross").sum()


def test_two_moments_of_a_run_are_compared_from_train(address, new_tab):
    tab = new_tab()
    tab.goto(f"{address}train")
    tab.get_by_role("button", name="Compare").click()
    tab.get_by_role("button", name="Two moments of this run").click()
    tab.wait_for_url(re.compile(r"with=recorded%2Freverse%40225-1000"))
    sides = [tab.get_by_test_id(f"comparison-{side}") for side in ("original", "changed")]
    expect(sides[0].get_by_role("heading").first).to_have_text("step 225")
    expect(sides[1].get_by_role("heading").first).to_have_text("step 1000")
    tab.get_by_role("combobox", name="First moment").click()
    tab.get_by_role("option", name="100", exact=True).click()
    expect(sides[0].get_by_role("heading").first).to_have_text("step 100")
    tab.wait_for_url(re.compile(r"with=recorded%2Freverse%40100-1000"))


def test_an_answer_of_a_search_opens_in_explore_at_its_cell(tmp_path, new_tab):
    with running_app(**{folders.REPORTS_VARIABLE: str(tmp_path)}) as address:
        tab = new_tab(width=1024, height=768)
        tab.goto(f"{address}heads?model=reverse&part=search")
        answers = tab.locator("[class*=st-key-search-answer-]")
        expect(answers).to_have_count(20)  # of the index that ships
        tab.get_by_role("button", name="Another index").click()
        tab.get_by_role("spinbutton", name="How many").fill("2000")
        tab.get_by_role("button", name="Build the index").click()
        progress = tab.get_by_text("Indexing the attention of reverse")
        expect(progress).to_be_visible()
        tab.reload()
        expect(progress).to_be_visible()
        expect(progress).to_be_hidden(timeout=PATIENCE)
        expect(answers).to_have_count(20)
        grid = tab.get_by_test_id("head-grid")
        grid.locator("canvas").nth(2).click()
        expect(tab.get_by_role("combobox", name="Head")).to_have_value("Cross L0 H2")
        tab.get_by_role("textbox", name="Key token").fill("7")
        tab.get_by_role("textbox", name="Key token").press("Enter")
        tab.wait_for_url(re.compile(r"ask=key%3D7"))
        tab.reload()
        expect(tab.get_by_role("textbox", name="Key token")).to_have_value("7")
        marked = answers.first.locator(".stMarkdownColoredBackground")
        expect(marked.filter(has_text=re.compile("^7$"))).to_have_count(1)
        query = marked.nth(1).inner_text()  # below the source, which has the key
        answers.first.get_by_role("link").click()
        title = tab.get_by_test_id("inside-title")
        expect(title).to_contain_text("Cross · L0 H2")
        expect(title).to_contain_text(f"“{query}” × key")
        expect(title).to_contain_text("“7”")
        assert re.search(r"site=cross&layer=0&head=2&step=\d+&cell=\d", tab.url)
