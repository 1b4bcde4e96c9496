"""The figure of what *Inside* shows of a cell: every number equals the one on screen."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.support.player_page import save
from tests.support.saved_figure import OVERLAPPING, SMALLEST

CROSS = "?model=reverse&text=7+3+9&pad=2&site=cross&layer=1&head=2&step=2&cell=1.1"
MASKED = "?model=reverse&text=7+3+9&site=decoder&layer=1&head=0&step=2&cell=1.3&ahead=1"
LONG = (
    "?model=english-french&site=encoder&layer=0&head=1&cell=8.5&text=The+old+man+with+the+red+hat"
    "+reads+a+long+book+about+the+history+of+the+town+every+morning."
)
CHINESE = (
    "?model=chinese-english&site=encoder&layer=1&head=2&cell=3.5"
    "&text=这只黑猫在花园里的大树下面睡觉。"
)
SCORE = "?model=english-french&text=The+cat+sleeps.&site=cross&layer=2&head=1&step=2&cell=1.1"

BY_CLASS = """(source) => {
  const figure = new DOMParser().parseFromString(source, "image/svg+xml");
  const texts = {};
  for (const node of figure.querySelectorAll("text"))
    (texts[node.getAttribute("class") ?? ""] ??= []).push(node.textContent);
  return texts;
}"""

STEPS = ("product", "scaled", "mask", "softmax", "value", "output")


@pytest.fixture
def visit(address: str, new_tab: Callable[..., Page]) -> Callable[..., Page]:
    def open_tab(query: str, language: str = "en") -> Page:
        tab = new_tab(1440, 900)
        tab.goto(f"{address}{query}&lang={language}")
        tab.wait_for_selector(".plotted")
        expect(tab.get_by_test_id("inside_save")).to_be_visible()
        return tab

    return open_tab


def figure(tab: Page, name: str) -> dict[str, list[str]]:
    """The texts of a saved figure by what they are, of which none covers another."""
    source = save(tab, name, "inside_save").path().read_text(encoding="utf-8")
    assert tab.evaluate(OVERLAPPING, [source, 640 * SMALLEST]) == []
    width = 320 if name.endswith("column") else 640
    assert source.index(f'width="{width}"') < source.index("<defs>")
    texts: dict[str, list[str]] = tab.evaluate(BY_CLASS, source)
    return texts


def joined(lines: list[str]) -> str:
    """A text without the places where it is broken into lines."""
    return re.sub(r"\s", "", "".join(lines))


def text_of(place: Locator) -> str:
    return joined([place.text_content() or ""])


def shown_keys(tab: Page) -> list[tuple[str, str, str, str, bool]]:
    """Number, label, score and weight of each key of the row, as its bar says on hover, and
    whether it is masked."""
    bars = tab.get_by_test_id("inside-weights").locator(".component").all()
    titles = [bar.get_attribute("title") or "" for bar in bars]
    found = [re.fullmatch(r"(\d+) (.*): (\S+) → (\S+)", title) for title in titles]
    masked = ["masked" in (bar.get_attribute("class") or "") for bar in bars]
    return [(*one.group(1, 2, 3, 4), no) for one, no in zip(found, masked, strict=True) if one]


@pytest.mark.parametrize(
    ("query", "language"), [(CROSS, "en"), (MASKED, "zh"), (LONG, "en"), (CHINESE, "zh")]
)
def test_each_number_of_a_calculation_is_that_on_screen(visit, query, language):
    tab = visit(query, language)
    keys = shown_keys(tab)
    masked = sum(no for *_, no in keys)
    assert (masked > 0) == (query in (CROSS, MASKED))
    for name in ("inside-svg", "inside-svg_column"):
        texts = figure(tab, name)
        assert texts["key"] == [number for number, *_ in keys]
        labels = [text.lstrip("▁").rstrip("…") for text in texts["token"]]
        assert all(label in key[1] for label, key in zip(labels, keys, strict=True))
        assert texts["score"] == [score for _, _, score, _, _ in keys]
        assert texts["weight"] == [weight for *_, weight, no in keys if not no]
        assert len(texts.get("reason", [])) == masked
        numbers = joined(texts["number"])
        for step in STEPS:
            assert text_of(tab.get_by_test_id(f"inside-{step}")) in numbers
        caption = joined(texts[""])
        assert text_of(tab.get_by_test_id("inside-sentence")) in caption
        assert text_of(tab.get_by_test_id("inside-title")) in caption


def test_the_parts_of_a_score_are_those_on_screen(visit):
    tab = visit(SCORE)
    tab.get_by_test_id("inside_part-score").click()
    bars = tab.get_by_test_id("score-bars").get_by_role("listitem")
    expect(bars).to_have_count(12)
    for name in ("inside-svg", "inside-svg_column"):
        texts = figure(tab, name)[""]
        assert text_of(tab.get_by_test_id("score-sentence")) in joined(texts)
        shown = [bar.locator("> span").all_text_contents() for bar in bars.all()]
        assert texts[-25:-1] == [text for label, _, value in shown for text in (label, value)]


def test_a_figure_is_offered_where_there_is_one_and_named_after_its_cell(visit):
    tab = visit(CROSS)
    name = save(tab, "inside-png", "inside_save").suggested_filename
    assert name == "calculation-cross-L1-H2-query2-key2.png"
    menu = tab.get_by_test_id("inside_save")
    tab.get_by_test_id("inside_part-before").click()
    expect(menu).to_be_hidden()
    tab.get_by_test_id("inside_part-cell").click()
    expect(menu).to_be_visible()
    tab.evaluate("""() => {
      const one = { answer: "weight", site: "cross", layer: 1, head: 2, query: 1, key: 1 };
      const asked = JSON.stringify({ answer: "weight", answered: false, open: [one] });
      document.documentElement.setAttribute("data-lesson-asks", asked);
      document.dispatchEvent(new CustomEvent("attention-asking"));
    }""")
    expect(tab.get_by_test_id("inside-softmax")).to_contain_text("= ?")
    expect(menu).to_be_hidden()
