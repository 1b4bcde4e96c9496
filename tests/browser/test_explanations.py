"""Words that are explained where they stand, by click, tap or key."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from explorer.components.html_export import html_page
from explorer.components.player.sentences import player_sentences
from explorer.core.i18n import say
from tests.support.example_traces import example_trace

LEGEND = ("weight", "scale_sqrt", "scale_row", "alignment_input", "gold_weight", "term_padding")


@pytest.mark.parametrize(
    ("size", "language", "projector"),
    [((1440, 900), "en", False), ((390, 844), "zh", False), ((1024, 768), "en", True)],
)
def test_the_words_of_the_map_open_inside_the_window(
    open_html: Callable[..., Page], size: tuple[int, int], language: str, projector: bool
) -> None:
    tab = open_html(html_page(example_trace(), language), *size)
    if projector:
        tab.keyboard.press("p")
    button, words = tab.get_by_test_id("legend-words"), tab.get_by_test_id("legend-words-words")
    expect(words).to_be_hidden()
    button.click()
    for name in LEGEND:
        expect(words).to_contain_text(player_sentences(language)[name])
        expect(words).to_contain_text(player_sentences(language)[f"{name}_title"])
    box = words.bounding_box()
    assert box is not None
    assert box["x"] >= 0
    assert box["y"] >= 0
    assert box["x"] + box["width"] <= size[0]
    assert box["y"] + box["height"] <= size[1]
    letters = words.locator("p").first.evaluate(
        "node => parseFloat(getComputedStyle(node).fontSize)"
    )
    assert letters >= (18 if projector else 13)
    namespace = words.locator("math").first.evaluate("node => node.namespaceURI")
    assert namespace.endswith("MathML")
    link = words.get_by_role("link", name="Vaswani 2017").first
    assert (link.get_attribute("href") or "").startswith("https://arxiv.org/abs/")
    tab.keyboard.press("Escape")
    expect(words).to_be_hidden()
    button.click()
    words.get_by_role("button", name=say("player.words_close", language)).click()
    expect(words).to_be_hidden()
    button.focus()
    step = tab.get_by_test_id("step-count").inner_text()
    tab.keyboard.press("Space")  # which elsewhere plays
    expect(words).to_be_visible()
    assert tab.get_by_test_id("step-count").inner_text() == step
    tab.mouse.click(5, 5)
    expect(words).to_be_hidden()


@pytest.mark.parametrize(("width", "language"), [(1024, "en"), (390, "zh")])
def test_the_words_of_each_part_of_a_calculation_open_in_the_window(
    address: str, new_tab: Callable[..., Page], width: int, language: str
) -> None:
    tab = new_tab(width, 768)
    tab.goto(f"{address}?model=reverse&text=1+2+3&step=2&cell=1.1&lang={language}")
    words = tab.get_by_test_id("inside-words-words")
    for part, word in (("before", "embedding"), ("cell", "key"), ("after", "residual"),
                       ("depth", "logits"), ("without", "scaling")):  # fmt: skip
        tab.get_by_test_id(f"inside_part-{part}").click()
        tab.get_by_test_id("inside-words").click()
        for name in (word, "padding"):
            expect(words).to_contain_text(say(f"glossary.term_{name}", language))
            expect(words).to_contain_text(say(f"glossary.term_{name}_title", language))
        box = words.bounding_box()
        assert box is not None
        assert box["x"] >= 0
        assert box["y"] >= 0
        assert box["x"] + box["width"] <= width
        assert box["y"] + box["height"] <= 768
        tab.keyboard.press("Escape")
        expect(words).to_be_hidden()


def test_a_tap_opens_the_six_checks(open_html: Callable[..., Page]) -> None:
    trace = example_trace()
    tab = open_html(html_page(trace), 390, 844)
    line = tab.get_by_test_id("integrity-line")
    count = len(trace.integrity())
    expect(line).to_have_text(f"✓ {count} checks")
    line.click()
    checks = tab.get_by_test_id("integrity-line-words").locator("section")
    expect(checks).to_have_count(count)
    expect(checks.first).to_contain_text("✓ rows sum to 1")
    expect(checks.first).to_contain_text("Largest distance of a row's sum from 1")


def test_every_metric_and_role_of_heads_has_its_formula(address, new_tab):
    tab = new_tab()
    tab.goto(f"{address}heads?lang=en")
    for name, section in (("metric-words", "heads.metric_"), ("role-words", "roles.")):
        tab.get_by_test_id(name).click()
        words = tab.get_by_test_id(f"{name}-words")
        expect(words).to_contain_text(say(f"{section}sink_title"))
        entries = words.locator("section")
        assert entries.count() >= 8
        expect(entries.filter(has=tab.locator("math"))).to_have_count(entries.count())
        tab.keyboard.press("Escape")


def test_the_words_of_a_table_of_streamlit_open_too(address, new_tab):
    tab = new_tab(390, 844)
    tab.goto(f"{address}heads?lang=en&model=reverse&part=removal")
    tab.get_by_test_id("table-words").click()
    words = tab.get_by_test_id("table-words-words")
    for name in ("zero_loss", "mean_exact", "only_exact"):
        expect(words).to_contain_text(say(f"heads.metric_{name}_title"))
    expect(words.get_by_role("link", name="Michel 2019").first).to_be_visible()
    tab.keyboard.press("Escape")
    expect(words).to_be_hidden()
