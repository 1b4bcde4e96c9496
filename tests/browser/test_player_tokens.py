"""Odd tokens on the page and in its CSV: markup, right to left, formulas, invisible characters."""

import csv
import io
from collections.abc import Callable

import numpy as np
from playwright.sync_api import Page, expect

from explorer.components.html_export import html_page
from explorer.components.player.payload import View
from tests.support.example_traces import example_trace
from tests.support.page_checks import settle
from tests.support.player_page import save
from tests.support.small_trace import small_trace

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
    download = save(tab, "csv")
    rows = list(csv.reader(io.StringIO(download.path().read_text("utf-8-sig"))))
    assert rows[0][1] == "<b>x</b>"
    assert len(rows) == len(HOSTILE) + 2
    download = save(tab, "svg")
    drawing = download.path().read_text("utf-8")
    assert "&lt;b&gt;x&lt;/b&gt;" in drawing
    assert "<script" not in drawing


DISORDER = r"""(all) => all.flatMap((node) => {
  const found = [];
  const texts = document.createTreeWalker(node, NodeFilter.SHOW_TEXT);
  let before = null;
  while (texts.nextNode()) {
    const text = texts.currentNode;
    for (let at = 0; at < text.length; at += 1) {
      const range = document.createRange();
      range.setStart(text, at);
      range.setEnd(text, at + 1);
      const box = range.getBoundingClientRect();
      if (!box.width || /[\u0590-\u08ff\s]/u.test(text.data[at])) continue;
      const below = before && box.top > before.bottom - 2;
      if (before && !below && box.left < before.left - 0.5)
        found.push([node.textContent, text.data.slice(at)]);
      before = box;
    }
  }
  return found;
})"""
"""Texts with a character of another script that stands left of the one before it."""

RIGHT_TO_LEFT = ("החתול", "יושב", "على", "الطاولة", "10.8")


def test_right_to_left_tokens_leave_what_stands_beside_them(show: Callable[..., Page]) -> None:
    for language in ("en", "zh"):
        trace, view = example_trace(RIGHT_TO_LEFT), View(site="cross", layer=1, head=1, step=3)
        tab = show(trace, language=language, view=view)
        tab.get_by_test_id("alignment-input").click()
        tab.get_by_test_id("map").hover(position={"x": 150, "y": 150})
        settle(tab)
        sentence = tab.get_by_test_id("sentence")
        expect(sentence).to_contain_text("92.7")
        read = tab.locator(".sentence, .tooltip div, [data-testid=candidates-title], .axis-label")
        assert read.count() > 20
        assert read.evaluate_all(DISORDER) == []
    arrows = tab.locator(".predicted-label").evaluate_all(
        "all => all.map(node => [node.getBoundingClientRect(), node.lastChild"
        ".getBoundingClientRect(), node.textContent[0]])"
        ".map(([outer, token, arrow]) => [arrow, token.left - outer.left])"
    )
    assert all(arrow == "→" and 8 < left < 30 for arrow, left in arrows), arrows
    drawing = save(tab, "svg").path().read_text("utf-8")
    tab.evaluate(
        "(source) => { const host = document.createElement('div'); host.id = 'figure';"
        "host.append(new DOMParser().parseFromString(source, 'image/svg+xml').documentElement);"
        "document.body.append(host); }",
        drawing,
    )
    texts = tab.locator("#figure text")
    assert texts.count() > 20
    found = texts.evaluate_all(DISORDER)
    tab.evaluate("document.getElementById('figure').remove()")
    assert found == []


def test_a_page_of_right_to_left_tokens_is_named_in_order() -> None:
    page = html_page(example_trace(RIGHT_TO_LEFT))
    title = page.partition("<title>")[2].partition("</title>")[0]
    source, target = title.removesuffix(" · attention").split(" → ")
    assert all(part.startswith("\u2068") and part.endswith("\u2069") for part in (source, target))


def test_csv_holds_the_shown_matrix(show: Callable[..., Page]) -> None:
    trace = example_trace()
    tab = show(trace, view=View(site="cross", layer=1, head=1))
    download = save(tab, "csv")
    rows = list(csv.reader(io.StringIO(download.path().read_text("utf-8-sig"))))
    shown = np.array([row[1:] for row in rows[1:]])
    may_attend = trace.mask("cross")
    assert np.array_equal(shown == "", ~may_attend)
    weights = trace.attention("cross")[1, 1][may_attend]
    assert np.abs(shown[may_attend].astype(float) - weights).max() < 6e-5
    download = save(tab, "png")
    assert download.path().read_bytes().startswith(b"\x89PNG")


def test_tokens_in_the_csv_are_not_formulas(show: Callable[..., Page]) -> None:
    tokens = ("=1+1", "+2", "-3", "@sum", "\t=4", "5=5")
    tab = show(example_trace(tokens, padding=0))
    download = save(tab, "csv")
    rows = list(csv.reader(io.StringIO(download.path().read_text("utf-8-sig"), newline="")))
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


def test_the_sentence_names_what_an_attention_sink_takes(show: Callable[..., Page]) -> None:
    """A row of .25 on tokens: nine tenths of it are not nine tenths of the head's weight."""
    trace = small_trace()
    weights = trace.attention("cross") * np.float32(0.25)
    sink = np.full(weights.shape[:-1], 0.75, np.float32)
    arrays = {**trace.arrays, "cross.attention": weights, "cross.sink": sink}
    tab = show(small_trace(arrays=arrays), view=View(site="cross", layer=0, head=1, step=2))
    sentence = tab.get_by_test_id("sentence")
    expect(sentence).to_contain_text("gives 0.75 of its weight to no token")
    expect(sentence).to_contain_text("nine tenths of the rest")
