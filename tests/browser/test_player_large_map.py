"""The map of hundreds of tokens, which a canvas draws and Plotly only zooms."""

from collections.abc import Callable

from playwright.sync_api import Page, expect

from tests.support.example_traces import random_trace
from tests.support.page_checks import settle
from tests.support.player_page import cell_center, save

SIZE = 160  # tokens
COLOUR = """
([x, y]) => {
  const canvas = document.querySelector("[data-testid=map] .base");
  const box = canvas.getBoundingClientRect();
  const at = (part, whole, pixels) => Math.floor((part / whole) * pixels);
  const pixel = Object.assign(document.createElement("canvas"), { width: 1, height: 1 });
  const pen = pixel.getContext("2d", { willReadFrequently: true });
  const [column, row] = [at(x - box.left, box.width, canvas.width),
                         at(y - box.top, box.height, canvas.height)];
  pen.drawImage(canvas, column, row, 1, 1, 0, 0, 1, 1);
  return [...pen.getImageData(0, 0, 1, 1).data].join();
}
"""


def test_a_canvas_has_the_cells_of_a_large_map_and_follows_the_zoom(
    show: Callable[..., Page],
) -> None:
    trace = random_trace(SIZE, SIZE, layers=1, heads=2)
    weights = trace.attention("cross")[0, 0]
    tab = show(trace)
    tab.get_by_test_id("site-cross").click()
    tab.get_by_test_id("head-0-0").click()
    expect(tab.locator(".base")).to_be_visible()
    assert tab.locator(".heatmaplayer image").count() == 0
    row = SIZE // 2
    key = int(weights[row].argmax())
    strong, weak = ((row, key), (row, key + 12))
    places = [cell_center(tab, trace, "cross", *cell) for cell in (strong, weak)]
    colours = [tab.evaluate(COLOUR, place) for place in places]
    assert colours[0] != colours[1]
    tab.mouse.move(places[0][0] - 40, places[0][1] - 40)
    tab.mouse.down()
    tab.mouse.move(places[0][0] + 40, places[0][1] + 40, steps=4)
    tab.mouse.up()
    expect(tab.get_by_test_id("reset-zoom")).to_be_visible()
    settle(tab)
    layout = tab.evaluate("document.querySelector('.plot').layout.xaxis.range")
    assert layout[1] - layout[0] < SIZE / 2
    middle = tab.get_by_test_id("map").locator(".clip").bounding_box()
    assert middle is not None
    rows = tab.evaluate("document.querySelector('.plot').layout.yaxis.range")
    across = (key - layout[0]) / (layout[1] - layout[0])
    down = (row - rows[1]) / (rows[0] - rows[1])
    place = (middle["x"] + across * middle["width"], middle["y"] + down * middle["height"])
    assert tab.evaluate(COLOUR, place) == colours[0]
    tab.get_by_test_id("reset-zoom").click()
    settle(tab)
    assert [tab.evaluate(COLOUR, place) for place in places] == colours


def expect_part(tab: Page, rows: tuple[int, int], columns: tuple[int, int]) -> None:
    """Plotly shows exactly these rows and columns, first and last."""
    shown = [[end - 0.5, last + 0.5] for end, last in (rows, columns)]
    tab.wait_for_function(
        "(shown) => { const { yaxis, xaxis } = document.querySelector('.plot').layout;"
        " return `${[[...yaxis.range].reverse(), xaxis.range]}` === `${shown}`; }",
        arg=shown,
    )


def drag(tab: Page, start: tuple[float, float], end: tuple[float, float]) -> None:
    """On the picture of all heads, in shares of its size, across and down."""
    settle(tab)  # until then the picture may move
    box = tab.get_by_test_id("overview-picture").bounding_box()
    assert box is not None
    places = [(box["x"] + x * box["width"], box["y"] + y * box["height"]) for x, y in (start, end)]
    tab.mouse.move(*places[0])
    tab.mouse.down()
    tab.mouse.move(*places[1], steps=4)
    tab.mouse.up()


def test_a_part_of_a_long_text_is_chosen_on_the_mean_of_all_heads(
    show: Callable[..., Page],
) -> None:
    tab = show(random_trace(SIZE, SIZE, layers=2, heads=2))
    tab.get_by_test_id("site-decoder").click()
    expect(tab.get_by_test_id("overview")).to_contain_text("4 heads")
    settle(tab)  # with thumbnails of this attention
    before = tab.get_by_test_id("head-1-1").locator("canvas").screenshot()
    whole = (0, SIZE - 1)
    expect_part(tab, whole, whole)
    drag(tab, (0.01, 0.51), (0.24, 0.74))  # 160 tokens: 1.6 to 38.4, 81.6 to 118.4
    expect_part(tab, (81, 118), (1, 38))
    expect(tab.get_by_test_id("part-rows")).to_have_value("82–119")
    assert tab.get_by_test_id("head-1-1").locator("canvas").screenshot() != before
    tab.get_by_test_id("reset-zoom").click()
    expect_part(tab, whole, whole)
    assert tab.get_by_test_id("head-1-1").locator("canvas").screenshot() == before
    expect(tab.get_by_test_id("part-frame")).to_be_hidden()


def test_a_part_is_written_in_numbers_and_moves_with_the_step(show: Callable[..., Page]) -> None:
    tab = show(random_trace(SIZE, SIZE, layers=1, heads=2))
    tab.get_by_test_id("site-decoder").click()
    rows, columns = tab.get_by_test_id("part-rows"), tab.get_by_test_id("part-columns")
    rows.fill("21–30")
    rows.press("Enter")
    columns.fill("21-30")
    columns.press("Enter")
    expect_part(tab, (20, 29), (20, 29))
    columns.fill("all of it")  # no part: the last one stays
    columns.press("Enter")
    expect(columns).to_have_value("21–30")
    rows.blur()
    columns.blur()
    tab.get_by_test_id("first").click()  # step 1 has row 0
    expect_part(tab, (0, 9), (0, 9))
    for _ in range(10):
        tab.keyboard.press("ArrowRight")
    expect_part(tab, (10, 19), (10, 19))  # the diagonal's columns move, too
    rows.fill("155–900")  # ends with the text
    rows.press("Enter")
    expect(rows).to_have_value(f"155–{SIZE}")


def test_a_short_text_has_no_choice_of_parts(show: Callable[..., Page]) -> None:
    tab = show(random_trace(20, 20, layers=1, heads=2))
    expect(tab.get_by_test_id("heads")).to_be_visible()
    expect(tab.get_by_test_id("overview")).to_be_hidden()


def test_the_figure_of_a_large_map_has_its_cells_as_one_image(show: Callable[..., Page]) -> None:
    trace = random_trace(SIZE, SIZE, layers=1, heads=2)
    tab = show(trace)
    tab.get_by_test_id("site-decoder").click()
    download = save(tab, "svg")
    source = download.path().read_text(encoding="utf-8")
    assert source.count("<image") == 1
    assert source.count("<rect") < SIZE
    assert "…" in source  # of 2 x 160 tokens it has the beginning
    picture = tab.evaluate(
        "source => new Promise((done) => {"
        'const href = source.match(/href="(data:image.png[^"]+)/)[1], one = new Image();'
        "one.onload = () => done([one.naturalWidth, one.naturalHeight]); one.src = href; })",
        source,
    )
    assert picture == [SIZE, SIZE]
