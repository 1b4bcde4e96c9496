"""Technical words: dotted where they stand first, and explained by a click or a tap."""

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from explorer.components.html_export import html_page
from explorer.core.i18n import say, section
from tests.support.example_traces import example_trace

LINK = "?model=reverse&text=7+3+9+1+4&step=3"
PLACES = {
    ".axis-title": ("term_key", "term_query"),
    ".map-title": ("site_cross", "term_layer"),
    ".layer-name": ("term_layer",),
    ".sentence": ("term_head",),
    ".next-token h2": ("term_token",),
    ".legend .bar-name": ("weight",),
    "[data-testid=strip-source]": ("term_eos",),
    ".key-label": ("term_eos",),
    ".query-label": ("term_bos",),
}


@pytest.fixture
def visit(address: str, new_visitor: Callable[..., Page]) -> Callable[..., Page]:
    """Explore as somebody sees it who has chosen nothing yet."""

    def open_tab(query: str = LINK, width: int = 1440, height: int = 900) -> Page:
        tab = new_visitor(width, height, offered=False)
        tab.goto(address + query)
        tab.wait_for_selector(".plotted")
        return tab

    return open_tab


@pytest.fixture
def finger(address: str, browser: Browser) -> Iterator[Page]:
    """Explore on a phone that is touched."""
    context = browser.new_context(
        viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True
    )
    tab = context.new_page()
    tab.goto(address + LINK)
    tab.wait_for_selector(".plotted")
    yield tab
    context.close()


def term(tab: Page, place: str, name: str) -> Locator:
    inside = tab.locator(f"{place} [data-term={name}]")
    return inside.or_(tab.locator(f"{place}[data-term={name}]")).first


def view(tab: Page) -> tuple[str, ...]:
    """Step, head and zoom on screen."""
    names = ("step-count", "map-title", "sentence")
    parts = [tab.get_by_test_id(name).inner_text() for name in names]
    return (*parts, str(tab.get_by_test_id("reset-zoom").is_visible()))


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_click_opens_the_sentence_and_does_nothing_else(visit, language):
    tab = visit(f"{LINK}&lang={language}")
    words, before = tab.get_by_test_id("term-words"), view(tab)
    for place, names in PLACES.items():
        for name in names:
            term(tab, place, name).click()
            expect(words).to_have_count(1)
            expect(words.locator("h3")).to_have_text(say(f"glossary.{name}", language))
            expect(words.locator("p").first).to_have_text(say(f"glossary.{name}_title", language))
            box = words.bounding_box()
            assert box is not None
            assert min(box["x"], box["y"]) >= 0
            assert box["x"] + box["width"] <= 1440
            assert box["y"] + box["height"] <= 900
            tab.keyboard.press("Escape")
            expect(words).to_have_count(0)
    assert view(tab) == before
    expect(tab.get_by_test_id("inside")).to_be_hidden()


def test_a_second_click_or_one_elsewhere_closes_the_sentence(visit):
    tab = visit()
    words, head = tab.get_by_test_id("term-words"), term(tab, ".sentence", "term_head")
    for _ in range(2):
        head.click()
        expect(words).to_be_visible()
        head.click()
        expect(words).to_have_count(0)
    head.click()
    term(tab, ".axis-title", "term_key").click()
    expect(words.locator("h3")).to_have_text("key")
    tab.mouse.click(5, 500)
    expect(words).to_have_count(0)


def test_a_tap_opens_the_sentence_on_a_phone(finger):
    words, before = finger.get_by_test_id("term-words"), view(finger)
    tooltip = finger.get_by_test_id("tooltip")
    for place, names in PLACES.items():
        for name in names:
            one = term(finger, place, name)
            one.tap()
            expect(words.locator("p").first).to_have_text(say(f"glossary.{name}_title"))
            expect(tooltip).to_be_hidden()
            box = words.bounding_box()
            assert box is not None
            assert box["x"] >= 0
            assert box["x"] + box["width"] <= 390
            one.tap()
            expect(words).to_have_count(0)
    assert view(finger) == before


def test_a_word_is_dotted_and_no_stop_of_the_tab_key(visit):
    tab = visit()
    head = term(tab, ".sentence", "term_head")
    assert "dotted" in head.evaluate("(node) => getComputedStyle(node).textDecorationStyle")
    assert tab.locator("[data-term]").evaluate_all("(all) => all.every((one) => one.tabIndex < 0)")


def test_a_key_reaches_every_word_behind_the_question_mark(open_html):
    tab = open_html(html_page(example_trace()), 1440, 900)
    tab.get_by_test_id("legend-words").focus()
    tab.keyboard.press("Enter")
    words = tab.get_by_test_id("legend-words-words")
    for place, names in PLACES.items():
        for name in names:
            expect(words, place).to_contain_text(section("glossary")[f"{name}_title"])


def test_simple_explains_its_words_behind_the_question_mark_and_no_others(visit):
    tab = visit()
    tab.get_by_test_id("legend-words").focus()
    tab.keyboard.press("Enter")
    words = tab.get_by_test_id("legend-words-words")
    expect(words.locator("h3").first).to_have_text("attention")
    for names in PLACES.values():
        for name in names:
            expect(words).to_contain_text(section("glossary")[f"{name}_title"])
    expect(words).not_to_contain_text("ALTI")
    expect(words).not_to_contain_text(say("player.scale_row"))
    drawn = words.locator("section:has(svg) h3")
    expect(drawn.filter(has_text="Cross")).to_have_count(1)
    assert drawn.count() >= 9


def test_a_saved_page_and_the_other_maps_open_words_too(open_html, address, new_tab):
    tabs = [open_html(html_page(example_trace()), 1440, 900), new_tab(), new_tab()]
    for tab, page in zip(tabs[1:], ("heads", "train"), strict=True):
        tab.goto(address + page)
        tab.wait_for_selector(".plotted")
    for tab in tabs:
        term(tab, ".axis-title", "term_key").click()
        expect(tab.get_by_test_id("term-words")).to_contain_text(say("glossary.term_key_title"))
        tab.keyboard.press("Escape")
        expect(tab.get_by_test_id("term-words")).to_have_count(0)


def test_a_token_that_is_guessed_is_no_word_to_tap(visit):
    tab = visit()
    end = tab.get_by_test_id("strip-source").locator(".chip").last
    expect(end).to_have_attribute("data-term", "term_eos")
    tab.get_by_test_id("guess").click()
    expect(end).not_to_have_attribute("data-term", "term_eos")
