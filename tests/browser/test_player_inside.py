"""How one weight is computed, shown below the map."""

import re
from collections.abc import Callable

import numpy as np
import pytest
from playwright.sync_api import Page, expect

import explorer
from explorer.core import folders
from explorer.core.i18n import LANGUAGES, say
from tests.support.page_checks import settle
from tests.support.player_page import cell_center, label
from tests.support.printed_equations import cell_texts, equations

QUERY = "?lang=en&model=reverse&text=7+3+9&pad=2&site=cross&layer=1&head=2&step=2"


@pytest.fixture(scope="module")
def trace() -> explorer.Trace:
    model = explorer.load(folders.PACKAGE.parent / "checkpoints" / "reverse.safetensors")
    return model.trace("7 3 9", pad_to=6, capture="full")


@pytest.fixture
def visit(address: str, new_tab: Callable[..., Page]) -> Callable[..., Page]:
    def open_tab(query: str = QUERY, width: int = 1440, height: int = 900) -> Page:
        tab = new_tab(width, height)
        tab.goto(address + query)
        tab.wait_for_selector(".plotted")
        return tab

    return open_tab


def number(tab: Page, name: str) -> str:
    return tab.get_by_test_id(f"inside-{name}").inner_text().replace("−", "-")


def test_a_click_on_a_cell_shows_its_arithmetic(visit, trace):
    tab = visit()
    expect(tab.get_by_test_id("inside")).to_be_hidden()
    tab.mouse.click(*cell_center(tab, trace, "cross", 1, 1))
    expect(tab.get_by_test_id("inside-title")).to_have_text(
        re.compile("^Cross · L1 H2: query 2 “.*” × key 2 “3”$")
    )
    expect(tab.get_by_test_id("inside-sentence")).to_contain_text("q₂ · k₂ = ")
    shape = trace.attention("cross").shape
    width = trace.query_vectors("cross").shape[-1]
    texts = cell_texts(trace, "cross")
    for name, text in texts[np.ravel_multi_index((1, 2, 1, 1), shape)].items():
        assert tab.get_by_test_id(f"inside-{name}").inner_text() == re.sub(" +", " ", text)
    unmasked = len(trace.source_tokens) - 2  # padding
    assert f"softmax over {unmasked} unmasked keys" in number(tab, "sentence")
    values = trace.values("cross").shape[-1]
    assert number(tab, "output") == f"sum over {unmasked} keys, {values} numbers"
    assert "{" not in tab.get_by_test_id("inside").inner_text()
    heights = tab.get_by_test_id("inside-products").locator(".component").count()
    assert heights == width
    expect(tab).to_have_url(re.compile(r"[?&]cell=1\.1(&|$)"))
    tab.reload()
    expect(tab.get_by_test_id("inside-sentence")).to_contain_text("q₂ · k₂ = ")


PRINTED = [
    "?model=reverse&text=7+3+9+1+4&pad=2&site=cross&layer=1&head=1&step=6&cell=5.0",
    "?model=english-french&site=encoder&layer=0&head=1&cell=8.5&text=The+cat+sleeps+in+the+garden.",
]


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("query", PRINTED)
def test_each_printed_equation_is_true_with_the_digits_on_screen(visit, query, lang):
    tab = visit(f"{query}&lang={lang}")
    expect(tab.get_by_test_id("inside-sentence")).to_contain_text("÷ √")
    steps = ("sentence", "scaled", "softmax")
    texts = {name: tab.get_by_test_id(f"inside-{name}").inner_text() for name in steps}
    found = list(equations(texts))
    assert len(found) == 4
    assert all(one.sign == "=" and one.holds() for one in found), texts


def short(weight: float) -> str:
    """A weight as the map writes it."""
    if weight < 0.005:
        return "·"
    return "1.0" if weight > 0.995 else f"{weight:.2f}".removeprefix("0")


@pytest.mark.parametrize("size", [(1366, 630), (1024, 768), (390, 844)])
def test_the_row_of_the_map_is_seen_with_each_step_of_the_calculation(visit, trace, size):
    tab = visit(f"{QUERY}&cell=1.1", *size)
    row = tab.get_by_test_id("inside-row")
    expect(row.get_by_test_id("inside-query")).to_have_text(trace.target_tokens[1])
    keys = row.get_by_role("button")
    weights = trace.attention("cross")[1, 2, 1]
    for name in ("product", "scaled", "mask", "softmax", "value", "output"):
        step = tab.get_by_test_id(f"inside-{name}")
        step.scroll_into_view_if_needed()
        for seen in (step, row):
            expect(seen).to_be_in_viewport(ratio=1)
    for key, token in enumerate(trace.source_tokens):
        number = "" if token == "<pad>" else short(weights[key])
        expect(keys.nth(key)).to_have_text(token.strip("<>") + number)
        expect(keys.nth(key)).to_have_attribute("aria-pressed", "true" if key == 1 else "false")
    keys.nth(0).click()
    expect(tab.get_by_test_id("inside-sentence")).to_contain_text("q₂ · k₁")
    expect(keys.nth(0)).to_have_attribute("aria-pressed", "true")


def test_a_calculation_names_no_token_that_is_not_yet_decoded(visit, trace):
    query = QUERY.replace("cross", "decoder").replace("step=2", "step=1")
    tab = visit(f"{query}&cell=0.0&guess=1")
    keys = tab.get_by_test_id("inside-row").get_by_role("button")
    expect(keys).to_have_text(["bos1.0"])
    titles = tab.get_by_test_id("inside-weights").locator(".component")
    expect(titles).to_have_count(len(trace.target_tokens))
    for position in range(1, len(trace.target_tokens)):
        expect(titles.nth(position)).to_have_attribute("title", re.compile(rf"^{position + 1} ·: "))
    tab.get_by_test_id("next").click()
    tab.get_by_test_id("next").click()
    expect(keys).to_have_count(2)


def test_scaling_and_mask_say_what_they_are_for(visit, trace):
    tab = visit(f"{QUERY}&cell=1.1")
    width = trace.query_vectors("cross").shape[-1]
    scaling = tab.get_by_test_id("inside-scaled-note")
    expect(scaling).to_contain_text(f"√{width} ≈ {np.sqrt(width):.3f}. A sum of {width} products")
    keys = len(trace.source_tokens)
    expect(tab.get_by_test_id("inside-mask-note")).to_have_text(
        f"The mask sets 2 of the {keys} scores of this row to −∞, so that they get no weight:"
        " padding."
    )


def test_a_masked_cell_says_why_it_is_zero_and_steps_move_the_query(visit, trace):
    tab = visit(f"{QUERY}&cell=1.5")
    sentence = tab.get_by_test_id("inside-sentence")
    expect(sentence).to_contain_text("q₂ · k₆")
    expect(sentence).to_contain_text("masked (padding), so softmax gives exactly 0")
    tab.keyboard.press("ArrowRight")
    expect(sentence).to_contain_text("q₃ · k₆")
    strongest = int(np.argmax(trace.attention("cross")[1, 2, 2]))
    tab.get_by_test_id("inside-weights").locator(".component").nth(strongest).click()
    expect(sentence).to_contain_text(f"q₃ · k{'₀₁₂₃₄₅₆'[strongest + 1]}")
    tab.keyboard.press("i")
    expect(tab.get_by_test_id("inside")).to_be_hidden()
    expect(tab).not_to_have_url(re.compile("cell="))


def test_another_head_and_attention_are_computed_anew(visit):
    tab = visit(f"{QUERY}&cell=1.1")
    title = tab.get_by_test_id("inside-title")
    seen = set()
    for press, name in [
        (None, "Cross · L1 H2"),
        ("head-0-1", "L0 H1"),
        ("site-decoder", "Decoder"),
    ]:
        if press:
            tab.get_by_test_id(press).click()
        expect(title).to_contain_text(name)
        expect(tab.get_by_test_id("inside-note")).to_be_hidden()
        seen.add(number(tab, "product"))
    assert len(seen) == 3


def test_the_panel_stands_beside_the_whole_picture(visit):
    tab = visit()
    tab.get_by_test_id("inside-open").click()
    panel = tab.get_by_test_id("inside")
    expect(tab.get_by_test_id("inside-output")).to_be_visible()
    expect(panel).to_be_in_viewport(ratio=1)
    expect(tab.get_by_test_id("map")).to_be_in_viewport(ratio=1)
    boxes = [
        node.bounding_box()
        for node in tab.get_by_test_id("inside").locator(".inside-step > *:visible").all()
    ]
    frame = panel.bounding_box()
    assert frame is not None
    for box in boxes:
        assert box is not None
        assert frame["x"] <= box["x"]
        assert box["x"] + box["width"] <= frame["x"] + frame["width"]
        assert box["y"] + box["height"] <= frame["y"] + frame["height"]
    expect(tab.get_by_test_id("keys")).to_contain_text("· G · I · P")
    tab.keyboard.press("Escape")
    expect(panel).to_be_hidden()


LONG = (
    "?lang=en&model=english-french-early&site=cross&layer=1&head=3&step=8"
    "&text=The+black+cat+is+sleeping+on+the+red+chair+near+the+old+wooden+table+in+the+kitchen."
)
VIEWS = ["before", "cell", "score", "after", "depth", "without"]


@pytest.mark.parametrize("query", [f"{QUERY}&cell=1.1", f"{LONG}&cell=7.1"], ids=["short", "long"])
@pytest.mark.parametrize("size", [(1440, 900), (1024, 768)])
def test_the_map_keeps_its_size_while_the_views_of_a_calculation_change(visit, query, size):
    tab = visit(query, *size)
    seen = []
    for view in (*VIEWS, VIEWS[0]):
        tab.get_by_test_id(f"inside_part-{view}").click()
        expect(tab.get_by_test_id("inside-note")).to_be_hidden()
        settle(tab)
        box = tab.locator(".map .clip").bounding_box()
        assert box is not None
        seen.append((box["width"], box["height"]))
    assert len(set(seen)) == 1, seen
    assert seen[0][1] >= 100


@pytest.mark.parametrize("size", [(1440, 900), (1024, 768)])
@pytest.mark.parametrize("view", VIEWS)
def test_on_a_projector_each_view_of_a_calculation_is_seen_whole(visit, view, size):
    tab = visit(LONG, *size)
    tab.keyboard.press("p")
    tab.get_by_test_id("inside-open").click()
    tab.get_by_test_id(f"inside_part-{view}").click()
    expect(tab.get_by_test_id("inside-note")).to_be_hidden()
    for _ in range(3):  # the picture takes what the panel leaves once that is measured
        settle(tab)
    tab.get_by_test_id("inside").evaluate("(node) => node.scrollIntoView({block: 'end'})")
    expect(tab.get_by_test_id("inside")).to_be_in_viewport(ratio=0.99)
    expect(tab.locator(".legend")).to_be_in_viewport(ratio=0.99)
    bar = tab.locator(".transport").bounding_box()
    title = tab.get_by_test_id("map-title").bounding_box()
    assert bar is not None
    assert title is not None
    assert title["y"] >= bar["y"] + bar["height"]
    wider = "(node) => node.scrollWidth - node.clientWidth"
    assert tab.locator(".map-panel").evaluate(wider) <= 0
    picture = tab.locator(".map .clip").bounding_box()
    assert picture is not None
    assert picture["height"] >= 60


IN_FRAME = """(node) => {
  const part = node.matches("tr") ? node.firstElementChild : node;
  const box = part.getBoundingClientRect();
  const frame = node.closest(".depth-frame, .weight-table").getBoundingClientRect();
  return box.top >= frame.top - 1 && box.bottom <= frame.bottom + 1 &&
    box.left >= frame.left - 1 && box.right <= frame.right + 1;
}"""


@pytest.mark.parametrize("view", ["depth", "without"])
def test_what_is_shown_of_the_current_query_is_scrolled_into_view(visit, view):
    tab = visit(f"{LONG}&cell=15.1&inside={view}".replace("step=8", "step=16"), 1024, 768)
    name = {"depth": "depth-table", "without": "without-own"}[view]
    current = tab.get_by_test_id(name).locator(".current").first
    for step in (16, 3):
        tab.locator(".transport input[type=range]").fill(str(step))
        expect(current).to_be_visible()
        settle(tab)
        assert current.evaluate(IN_FRAME)
        rows = tab.get_by_test_id(name).locator("tbody th")
        assert view == "without" or rows.first.evaluate(IN_FRAME)


@pytest.mark.parametrize("query", [f"{QUERY}&cell=1.1", f"{LONG}&cell=7.1"], ids=["short", "long"])
def test_the_current_row_of_the_map_is_seen_above_a_calculation_in_a_low_window(visit, query):
    tab = visit(query, 1366, 630)
    expect(tab.get_by_test_id("inside-output")).to_be_in_viewport(ratio=1)
    transport = tab.locator(".transport").bounding_box()
    assert transport is not None
    for place in (".key-label", ".query-label.current"):
        box = tab.locator(place).first.bounding_box()
        assert box is not None
        assert box["y"] >= transport["y"] + transport["height"]


@pytest.mark.parametrize("query", [QUERY, LONG], ids=["short", "long"])
def test_a_projector_shows_the_current_row_of_the_map_with_the_arithmetic(visit, query):
    tab = visit(query, 1024, 768)
    tab.keyboard.press("p")
    tab.get_by_test_id("inside-open").click()
    for name in ("row", "sentence", "product", "scaled", "mask", "softmax", "value", "output"):
        expect(tab.get_by_test_id(f"inside-{name}")).to_be_in_viewport(ratio=1)
    for place in (".map .outline", ".query-label.current", ".key-label", ".legend", ".transport"):
        expect(tab.locator(place).first).to_be_in_viewport(ratio=0.9)


def test_the_path_of_the_query_stands_before_and_after_its_cell(visit, trace):
    tab = visit(f"{QUERY}&cell=1.1")
    tab.get_by_test_id("inside_part-before").click()
    enlarged = {
        "tokens": trace.arrays["decoder.token_vectors"][1],
        "input": trace.arrays["cross.input"][1, 1],
        "query": trace.query_vectors("cross")[1, 2, 1],
        "values": trace.values("cross")[1, 2, 1],
    }
    for name, vector in enlarged.items():
        tab.get_by_test_id(f"path-{name}-vector").click()
        expect(tab.get_by_test_id("path-detail-caption")).to_contain_text(
            f"{len(vector)} numbers from {vector.min():.2f} to {vector.max():.2f}".replace("-", "−")
        )
        bars = tab.get_by_test_id("path-detail-bars").locator(".component")
        expect(bars).to_have_count(len(vector))
    tab.get_by_test_id("path-positions-vector").click()
    expect(tab.get_by_test_id("path-detail")).to_be_hidden()
    bars = tab.get_by_test_id("positions-similar").locator(".component")
    expect(bars).to_have_count(len(trace.target_tokens))
    tab.get_by_test_id("positions-map").hover(position={"x": 5, "y": 2})
    expect(tab.get_by_test_id("positions-hovered")).to_contain_text("similarity of positions 1 and")
    tab.get_by_test_id("inside_part-after").click()
    chosen = trace.steps().query("step == 2 and rank == 1")
    logit = trace.arrays["logits"][1].max()
    expected = f"{chosen.token.item()}: {logit:.2f} → "
    expect(tab.get_by_test_id("path-logits-text")).to_contain_text(expected)
    expect(tab.get_by_test_id("inside-total")).to_contain_text("66\u202f048 parameters")
    tab.keyboard.press("ArrowRight")
    logit = trace.arrays["logits"][2].max()
    expect(tab.get_by_test_id("path-logits-text")).to_contain_text(f": {logit:.2f} → ")


def test_the_prediction_after_each_layer_is_a_table_of_tokens(visit, trace):
    tab = visit(f"{QUERY}&cell=1.1")
    tab.get_by_test_id("inside_part-depth").click()
    cells = tab.get_by_test_id("depth-table").locator("td")
    expect(cells).to_have_count(2 * 2)  # two layers, two steps so far
    best = trace.early_predictions().query("rank == 1").set_index(["layer", "step"]).token
    shown = [cell.split(" ")[0] for cell in cells.all_inner_texts()]
    assert shown == [best[layer, step] for layer in (1, 0) for step in (1, 2)]
    expect(tab).to_have_url(re.compile(r"[?&]inside=depth(&|$)"))
    tab.reload()
    expect(cells).to_have_count(2 * 2)
    cells.first.click()
    expect(tab).to_have_url(re.compile(r"[?&]step=1(&|$)"))
    tab.get_by_test_id("site-encoder").click()
    expect(tab.get_by_test_id("inside-note")).to_contain_text("choose Decoder or Cross")


def test_the_temperature_moves_the_bars_while_the_panel_is_open(visit, trace):
    tab = visit()
    slider = tab.get_by_test_id("temperature")
    expect(slider).to_be_hidden()
    tab.get_by_test_id("inside-open").click()
    expect(slider).to_be_visible()
    slider.fill("2")
    logits = trace.arrays["logits"][1].astype(float) / 2
    shares = np.exp(logits) / np.exp(logits).sum()
    best = tab.get_by_test_id("candidates").locator(".value").first
    expect(best).to_have_text(f"{100 * shares.max():.1f}\u00a0%")
    sentence = tab.get_by_test_id("sentence")
    expect(sentence).to_contain_text("\u00a0% at temperature 1")
    tab.get_by_test_id("inside-close").click()
    expect(slider).to_be_hidden()
    expect(sentence).not_to_contain_text("temperature")
    expect(best).not_to_have_text(f"{100 * shares.max():.1f}\u00a0%")


def test_a_part_of_the_model_is_left_out_beside_it(visit, trace):
    model = explorer.load(folders.PACKAGE.parent / "checkpoints" / "reverse.safetensors")
    tab = visit(f"{QUERY}&cell=1.1".replace("site=cross", "site=decoder"))
    tab.get_by_test_id("inside_part-without").click()
    expect(tab.get_by_test_id("without-mask")).to_be_checked()  # of a decoder it changes most
    for part in ("scaling", "mask"):
        tab.get_by_test_id(f"without-{part}").click()
        other = model.trace("7 3 9", pad_to=6, without=[part])
        outputs = tab.get_by_test_id("without-outputs")
        expect(outputs).to_have_text(
            re.compile(f"^The output without {part} is shown once nothing is ahead:")
        )
        labels = [label(token) for token in other.keys("decoder")]
        later = ["·"] * (len(labels) - 2)
        headings = tab.get_by_test_id("without-other").locator("thead th")
        expect(headings).to_have_text(["", *labels[:2], *later])
        expected = [
            "" if weight < 0.005 else f"{weight:.2f}".replace("0.", ".", 1).replace("1.00", "1.0")
            for weight in other.attention("decoder")[1, 2, :2].ravel()
        ]
        masked = ~other.mask("decoder")[:2].ravel() if part == "scaling" else np.zeros(99, bool)
        expected = ["" if hidden else text for text, hidden in zip(expected, masked, strict=False)]
        expect(tab.get_by_test_id("without-other").locator("td")).to_have_text(expected)
        own = trace.attention("decoder")[1, 2, :2]
        change = other.attention("decoder")[1, 2, :2] - own
        cells = tab.get_by_test_id("without-difference").locator("td")
        shown = cells.evaluate_all(
            "nodes => nodes.map((node) => [node.title.replace('−', '-'), node.className])"
        )
        pairs = zip(trace.queries("decoder"), other.queries("decoder"), strict=False)
        same = next((at for at, (one, two) in enumerate(pairs) if one != two), len(own[0]))
        expected = [change[row, key] for row in range(min(2, same)) for key in range(same)]
        for (title, name), value in zip(shown, expected, strict=True):
            assert abs(float(title) - value) < 0.011
            assert ("more" in name) == (float(title) > 0)
            assert ("less" in name) == (float(title) < 0)
        tab.get_by_test_id("ahead").check()
        expect(outputs).to_contain_text(f"“{other.text}”")
        expect(headings).to_have_text(["", *labels])
        tab.get_by_test_id("ahead").uncheck()


@pytest.mark.parametrize("part", ["scaling", "positions"])
def test_no_table_without_a_part_is_cut_on_a_phone(visit, part):
    text = "The+black+cat+is+sleeping+on+the+red+chair+near+the+old+wooden+table+in+the+kitchen."
    query = (
        f"?lang=en&model=english-french-early&text={text}&site=cross&layer=1&head=3&step=8&cell=7.7"
    )
    tab = visit(f"{query}&inside=without", 390, 844)
    tab.get_by_test_id(f"without-{part}").click()
    expect(tab.get_by_test_id("without-outputs")).not_to_be_empty()
    for name in ("own", "other", "difference"):
        table = tab.get_by_test_id(f"without-{name}")
        table.scroll_into_view_if_needed()
        cut = "(table) => { const frame = table.parentElement; return"
        cut += " [frame.scrollWidth - frame.clientWidth, frame.scrollHeight - frame.clientHeight]}"
        assert table.evaluate(cut) == [0, 0]


def test_a_long_text_without_a_part_stays_inside_the_panel(visit):
    words = "She gave her little brother a beautiful red bicycle because he had worked very hard."
    tab = visit(
        f"?lang=en&model=english-french-early&text={words}&site=cross&cell=4.1&step=5", 1366, 630
    )
    tab.keyboard.press("p")
    tab.get_by_test_id("inside_part-without").click()
    expect(tab.get_by_test_id("without-outputs")).not_to_be_empty()
    for name in ("inside", "without", "player"):
        node = tab.get_by_test_id(name)
        assert node.evaluate("node => node.scrollWidth - node.clientWidth") <= 1, name


def test_nothing_inside_tells_the_token_that_is_guessed(visit):
    tab = visit(f"{QUERY}&cell=1.1&guess=1")
    for part in ("after", "depth", "without"):
        tab.get_by_test_id(f"inside_part-{part}").click()
        expect(tab.get_by_test_id("inside-note")).to_contain_text("First guess")
        expect(tab.get_by_test_id("inside-total")).to_be_hidden()
        expect(tab.get_by_test_id("depth-table")).to_be_hidden()
        expect(tab.get_by_test_id("without")).to_be_hidden()
    expect(tab.get_by_test_id("temperature")).to_be_hidden()


def test_the_parts_of_the_path_stand_beside_the_whole_picture(visit):
    for width, height in ((1440, 900), (1024, 768)):
        tab = visit(f"{QUERY}&cell=1.1", width, height)
        for part in ("before", "after"):
            tab.get_by_test_id(f"inside_part-{part}").click()
            total = tab.get_by_test_id("inside-total")
            expect(total).to_be_visible()
            expect(tab.get_by_test_id("map")).to_be_in_viewport(ratio=1)
            expect(total).to_be_in_viewport(ratio=0.9)
            for box in tab.locator(".inside .path:not([hidden]) .inside-step:visible").all():
                wider = box.evaluate("node => node.scrollWidth - node.clientWidth")
                assert wider <= 1, box.get_attribute("data-testid")


def test_words_and_means_have_no_arithmetic_and_say_so(visit):
    tab = visit(
        "?lang=en&model=english-french-early&text=Unbelievable+squirrels.&site=cross&cell=2.1&step=3"
    )
    note = tab.get_by_test_id("inside-note")
    expect(tab.get_by_test_id("inside-sentence")).to_contain_text("q₃ · k₂")
    tab.get_by_test_id("unit-words").click()
    expect(note).to_contain_text("choose Pieces above")
    tab.get_by_test_id("unit-pieces").click()
    expect(tab.get_by_test_id("inside-sentence")).to_be_visible()
    tab.get_by_test_id("mean-1").click()
    expect(note).to_contain_text(say("player.inside_mean"))


PIXELS = """canvas => { const { data } = canvas.getContext("2d")
  .getImageData(0, 0, canvas.width, canvas.height);
  return Array.from({ length: data.length / 4 },
    (_, at) => [...data.slice(4 * at, 4 * at + 3)]); }"""
COLOURS = """node => {
  const pen = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const shown = (colour) => { pen.fillStyle = colour; pen.fillRect(0, 0, 1, 1);
    return [...pen.getImageData(0, 0, 1, 1).data.slice(0, 3)]; };
  return [shown(getComputedStyle(node).color),
    shown(getComputedStyle(node.closest(".player")).backgroundColor)]; }"""


def luminance(colour: list[int]) -> float:
    linear = [
        c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in np.array(colour) / 255
    ]
    return float(np.dot(linear, (0.2126, 0.7152, 0.0722)))


@pytest.mark.parametrize("dark", [False, True])
def test_query_key_value_and_output_have_the_colours_of_their_letters(
    address, new_tab, trace, dark
):
    tab = new_tab(dark=dark)
    tab.goto(f"{address}{QUERY}&cell=1.1&inside=before")
    parts = {
        "query": ("before", "query", trace.query_vectors("cross")[1, 2, 1]),
        "key": ("before", "key", trace.key_vectors("cross")[1, 2, 1]),
        "values": ("before", "value", trace.values("cross")[1, 2, 1]),
        "heads": ("after", "mixed", trace.head_output("cross")[1, :, 1].ravel()),
    }
    seen = set()
    for name, (part, letter, vector) in parts.items():
        tab.get_by_test_id(f"inside_part-{part}").click()
        box = tab.get_by_test_id(f"path-{name}")
        expect(box.locator("canvas")).to_be_visible()
        colour, paper = box.locator(f"math .{letter}").first.evaluate(COLOURS)
        lighter, darker = sorted((luminance(colour), luminance(paper)), reverse=True)
        assert (lighter + 0.05) / (darker + 0.05) >= 3
        largest = int(vector.argmax())
        share = vector[largest] / np.abs(vector).max()
        pixel = box.locator("canvas").evaluate(PIXELS)[largest]
        expected = np.array(paper) + (np.array(colour) - paper) * share
        np.testing.assert_allclose(pixel, expected, atol=2)
        seen.add(tuple(colour))
    assert len(seen) == 4


def test_a_second_tap_on_a_phone_opens_the_calculation_and_goes_to_it(address, phone, trace):
    tab = phone()
    tab.goto(address + QUERY)
    tab.wait_for_selector(".plotted")
    tab.get_by_test_id("map").scroll_into_view_if_needed()
    again = "tap again: how this is computed"
    tooltip, panel = tab.get_by_test_id("tooltip"), tab.get_by_test_id("inside")
    for key in (0, 1):  # another cell is read first, too
        tab.touchscreen.tap(*cell_center(tab, trace, "cross", 1, key))
        expect(tooltip).to_contain_text(f"(position {key + 1})")
        expect(tooltip).to_contain_text(again)
        expect(panel).to_be_hidden()
    tab.touchscreen.tap(*cell_center(tab, trace, "cross", 1, 1))
    expect(tab.get_by_test_id("inside-sentence")).to_contain_text("q₂ · k₂ = ")
    for name in ("row", "sentence", "product"):
        expect(tab.get_by_test_id(f"inside-{name}")).to_be_in_viewport(ratio=1)
    expect(tooltip).not_to_contain_text(again)
    tab.get_by_test_id("inside-close").tap()
    for key in (2, 0):  # the button opens the cell that was read last
        tab.get_by_test_id("map").scroll_into_view_if_needed()
        tab.touchscreen.tap(*cell_center(tab, trace, "cross", 1, key))
        expect(tooltip).to_contain_text(f"(position {key + 1})")
    tab.get_by_test_id("inside-open").tap()
    expect(tab.get_by_test_id("inside-sentence")).to_contain_text("q₂ · k₁ = ")


@pytest.mark.parametrize("width", [1024, 1440])
def test_the_projector_has_the_way_inside(visit, width):
    tab = visit(width=width, height=768)
    tab.get_by_test_id("projector").click()
    tab.wait_for_selector(".player.projector")
    tab.get_by_test_id("inside-open").click()
    expect(tab.get_by_test_id("inside-sentence")).to_contain_text("q₂ · k")


def test_a_weight_can_be_computed_by_hand_from_the_printed_numbers(visit, trace):
    tab = visit(f"{QUERY}&cell=1.1")
    scores = [float(read) for read in columns(tab, 1)]
    powers = [float(read.replace("·10", "e").translate(RAISED)) for read in columns(tab, 2) if read]
    open_scores = scores[: len(powers)]  # what follows is padding
    largest = max(open_scores)
    for score, power in zip(open_scores, powers, strict=True):
        assert power == pytest.approx(np.exp(score - largest), abs=0.01)
    text = tab.get_by_test_id("inside-sum").inner_text()
    summands, total = text.removeprefix("Σ = ").replace("≈", "=").split(" = ")
    assert [float(one) for one in summands.removesuffix(" + …").split(" + ")] == [
        power for power in powers if power >= 0.0005
    ]
    assert float(total) == pytest.approx(sum(powers), abs=0.02)
    weights = trace.attention("cross")[1, 2, 1]
    for key, power in enumerate(powers):
        assert power / float(total) == pytest.approx(weights[key], abs=0.01)
    tab.get_by_test_id("inside-weights").locator(".component").first.click()
    expect(tab.get_by_test_id("inside-sentence")).to_contain_text("q₂ · k₁")


RAISED = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")


def columns(tab: Page, line: int) -> list[str]:
    """A line of the numbers that softmax starts from: 0 = tokens, 1 = scores, 2 = powers."""
    found = tab.get_by_test_id("inside-scores").locator(".component")
    return [one.locator("span").nth(line).inner_text().replace("−", "-") for one in found.all()]
