"""What is inside a head, in an exported page without a network."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

import explorer
from explorer.components.html_export import html_page
from explorer.components.player.payload import View
from explorer.core import folders
from explorer.core.trace import Trace
from tests.support.asked_models import AskedExplorable
from tests.support.page_checks import settle

VIEW = View(site="cross", layer=1, head=2, step=2, cell=(1, 1), guess=False)


@pytest.fixture(scope="module")
def model():
    return explorer.load(folders.PACKAGE.parent / "checkpoints" / "reverse.safetensors")


@pytest.fixture(scope="module")
def trace(model) -> Trace:
    return model.trace("7 3 9", pad_to=6, capture="full")


@pytest.fixture
def page(model, trace, open_html) -> Callable[..., Page]:
    asked = AskedExplorable(model, "7 3 9", pad_to=6)

    def open_page(view: View = VIEW, language: str = "en", width: int = 1440) -> Page:
        return open_html(html_page(trace, language, view, model=asked), width)

    return open_page


def test_every_view_works_without_a_network(page, trace):
    tab = page(View(site="cross", layer=1, head=2, step=2, cell=(1, 1), inside="depth"))
    expect(tab.get_by_test_id("inside_part-depth")).to_have_attribute("aria-checked", "true")
    best = trace.early_predictions().query("rank == 1").set_index(["layer", "step"]).token
    cells = tab.get_by_test_id("depth-table").locator("td")
    expect(cells).to_have_count(2 * 2)
    shown = [cell.split(" ")[0] for cell in cells.all_inner_texts()]
    assert shown == [best[layer, step] for layer in (1, 0) for step in (1, 2)]
    tab.get_by_test_id("inside_part-cell").click()
    product = trace.query_vectors("cross")[1, 2, 1] @ trace.key_vectors("cross")[1, 2, 1]
    text = tab.get_by_test_id("inside-product")
    expect(text).to_contain_text(f"sum {product:.2f}".replace("-", "−"))
    tab.get_by_test_id("inside_part-after").click()
    logit = trace.arrays["logits"][1].max()
    expect(tab.get_by_test_id("path-logits-text")).to_contain_text(f"{logit:.2f} → ")
    tab.get_by_test_id("inside_part-without").click()
    expect(tab.get_by_test_id("without-other")).to_be_visible()
    tab.get_by_test_id("head-1-0").click()
    expect(tab.get_by_test_id("inside-note")).to_contain_text("holds what is inside Cross L1 H0 H1")
    tab.get_by_test_id("inside_part-cell").click()
    expect(tab.get_by_test_id("inside-sentence")).to_be_visible()
    tab.get_by_test_id("head-0-0").click()
    expect(tab.get_by_test_id("inside-note")).to_contain_text("The app shows the rest.")


def test_the_demo_of_a_clone_steps_and_shows_how_a_weight_is_computed(browser):
    tab = browser.new_page()
    tab.goto((folders.PACKAGE.parent / "docs" / "demo.html").as_uri())
    rows = tab.get_by_test_id("strip-target").locator(".predicted")
    expect(rows).to_have_text("7")  # at step 3 of "8 6 9 7 1 4" in reverse
    tab.keyboard.press("ArrowLeft")
    expect(rows).to_have_text("1")
    tab.keyboard.press("i")
    expect(tab.get_by_test_id("inside-sentence")).to_be_visible()
    tab.close()


def test_guessing_works_in_an_exported_page(page):
    tab = page(View(site="cross", layer=1, head=2, step=1, guess=True), "zh")
    assert tab.title().endswith("? · 注意力")
    expect(tab.get_by_test_id("strip-target").locator(".predicted")).to_have_text("?")
    tab.get_by_test_id("candidates").locator(".candidate").first.click()
    expect(tab.get_by_test_id("tally")).to_contain_text("/1")
    tab.keyboard.press("i")
    expect(tab.get_by_test_id("inside")).to_be_visible()


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("kind", ["system-ui", "DejaVu Sans", "monospace"])
def test_the_choice_of_the_attention_ends_before_the_title_of_the_map(page, language, kind):
    """A saved page is shown in the font of the system, which may be wider than the app's."""
    tab = page(language=language, width=1024)
    tab.get_by_test_id("player").evaluate("(node, font) => (node.style.fontFamily = font)", kind)
    tab.set_viewport_size({"width": 1023, "height": 768})
    settle(tab)
    choice, title = (
        tab.locator(name).bounding_box() for name in (".rail > .segments", ".map-title")
    )
    assert choice is not None
    assert title is not None
    assert choice["x"] + choice["width"] + 8 <= title["x"]
