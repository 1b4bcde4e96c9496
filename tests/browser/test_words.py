"""The player in words instead of pieces, and its alignment links."""

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from explorer.components.html_export import html_page
from explorer.components.player.payload import View
from explorer.core.alignment import TIMINGS, align, align_words, pharaoh
from explorer.core.trace import Trace
from tests.support.example_traces import example_trace, pieces_trace, random_trace
from tests.support.page_checks import CLIPPED, OVERLAPPING, SIZES, settle, wait_until
from tests.support.player_page import bytes_of, save, shadow_page


def bytes_trace() -> Trace:
    """The same trace, with a character that has no piece."""
    source = ("▁The", "▁", "<0xC3>", "<0xA9>", "<eos>", "<pad>")
    return replace(pieces_trace(), source_tokens=source, digest="")


def key_labels(tab: Page) -> list[str]:
    """The labels of the columns of the map, from left to right."""
    labels = tab.locator(".key-label").evaluate_all(
        "all => all.map(label => [label.getBoundingClientRect().x, label.innerText])"
    )
    return [text for _, text in sorted(labels)]


def test_changing_the_unit_changes_every_view_and_keeps_the_position(
    open_html: Callable[..., Page],
) -> None:
    tab = open_html(html_page(bytes_trace(), view=View(site="cross", layer=0, head=0, step=4)))
    source, target = tab.get_by_test_id("strip-source"), tab.get_by_test_id("strip-target")
    chips = source.locator(".chip")
    assert chips.all_inner_texts() == ["▁The", "␣", "‹C3›", "‹A9›", "eos", "pad"]
    expect(tab.get_by_test_id("sentence")).to_contain_text("After reading “ch”")
    expect(tab.get_by_role("radiogroup", name="Unit")).to_be_visible()
    tab.get_by_test_id("unit-pieces").focus()
    tab.keyboard.press("ArrowRight")
    expect(tab.get_by_test_id("unit-words")).to_be_focused()
    expect(tab.get_by_test_id("step-count")).to_have_text("step 3/3")
    assert chips.all_inner_texts() == ["The", "é", "eos", "pad"]
    expect(target.locator(".query")).to_have_text("chat")
    expect(target.locator(".predicted")).to_have_text("eos")
    assert key_labels(tab) == ["The", "é", "eos", "pad"]
    expect(tab.get_by_test_id("sentence")).to_contain_text("After reading “chat”")
    tab.get_by_test_id("previous").click()
    expect(tab.get_by_test_id("candidates-title")).to_have_text("Next token after “Le”")
    expect(tab.get_by_test_id("candidates-note")).to_contain_text("first piece of the next word")
    expect(tab.get_by_test_id("sentence")).to_contain_text(
        "the model predicts “ch” as the beginning of “chat”, 75.0\u00a0%."
    )
    download = save(tab, "csv")
    assert download.suggested_filename == "attention-cross-L0-H0-words-step2.csv"
    assert download.path().read_text("utf-8-sig").splitlines()[0] == ",The,é,<eos>,<pad>"
    tab.get_by_test_id("alignment-input").click()
    expect(tab.locator(".aligned")).to_have_text(["The", "Le"])
    expect(tab.get_by_test_id("sentence")).to_contain_text("“Le” is linked to “The”.")
    for width, height in SIZES:
        tab.set_viewport_size({"width": width, "height": height})
        tab.wait_for_timeout(100)
        assert tab.evaluate("document.documentElement.scrollWidth") <= width
        assert tab.evaluate(CLIPPED) == [], (width, height)
        tab.evaluate("scrollTo(0, document.documentElement.scrollHeight)")  # ends what is sticky
        assert tab.evaluate(OVERLAPPING) == [], (width, height)
    tab.get_by_test_id("unit-pieces").click()
    expect(tab.get_by_test_id("step-count")).to_have_text("step 3/5")  # the word's last piece


def test_steps_reported_to_the_app_are_those_of_the_pieces(open_html: Callable[..., Page]) -> None:
    trace = pieces_trace()
    tab = open_html(shadow_page(trace))
    view = View(site="cross", layer=0, head=0, step=2, what_if=True, forced=((4, "at"),))
    tab.evaluate("(data) => { call(new Uint8Array(data)); }", bytes_of(trace, view))
    tab.get_by_test_id("unit-words").click()
    expect(tab.get_by_test_id("step-count")).to_have_text("step 2/3")
    expect(tab.get_by_test_id("changes")).to_contain_text("step 2: “at”")
    tab.get_by_test_id("unit-pieces").click()
    expect(tab.get_by_test_id("step-count")).to_have_text("step 2/5")  # exactly where it was
    tab.get_by_test_id("unit-words").click()
    tab.locator("[data-testid=candidates] .candidate").nth(1).click()
    tab.get_by_test_id("unforce-4").click()
    wait_until(tab, "heard.filter(([kind]) => kind === 'trigger').length === 2")
    said = [what for what in tab.evaluate("heard") if what[0] == "trigger"]
    assert said == [["trigger", "force", {"step": 3, "id": 5}], ["trigger", "unforce", 4]]
    tab.get_by_test_id("next").click()
    tab.get_by_test_id("mean-0").click()
    wait_until(tab, "heard.at(-1)[0] === 'state' && heard.at(-1)[2].head === null")
    told = {"site": "cross", "layer": 0, "head": None, "step": 5, "alignment": None, "guess": None}
    told |= {
        "ahead": True,
        "zoom": None,
        "cell": None,
        "inside": None,
        "shows": None,
        "next": None,
        "words": True,
        "everything": True,
    }
    told["picture"] = bytes(bytes_of(trace, language="zh")[-8:]).hex()
    assert tab.evaluate("heard").pop() == ["state", "selection", told]
    forced = View(site="cross", layer=0, head=0, step=3, what_if=True, words=True)
    tab.evaluate("(data) => { call(new Uint8Array(data)); }", bytes_of(trace, forced))
    expect(tab.get_by_test_id("step-count")).to_have_text("step 2/3")  # still in words


@pytest.mark.parametrize("unit", ["pieces", "words"])
@pytest.mark.parametrize("changes", [{}, {"predicted_tokens": ("▁L", "e", "▁ch", "at", "on")}])
def test_links_are_those_of_the_python_alignment(
    open_html: Callable[..., Page], unit: str, changes: dict[str, Any]
) -> None:
    trace = replace(pieces_trace(), **changes, digest="")
    linked = align_words if unit == "words" else align
    tab = open_html(html_page(trace, view=View(site="cross", layer=0, head=0)))
    tab.get_by_test_id(f"unit-{unit}").click()
    expect(tab.get_by_test_id("pharaoh")).to_be_hidden()
    for button, head in (("head-0-0", 0), ("mean-0", None)):
        tab.get_by_test_id(button).click()
        for timing in TIMINGS:
            tab.get_by_test_id(f"alignment-{timing}").click()
            settle(tab)
            download = save(tab, "pharaoh")
            expected = pharaoh(linked(trace, 0, head, timing))
            assert download.path().read_text("utf-8") == f"{expected}\n"
            assert download.suggested_filename.endswith(f"-{timing}.pharaoh")


@pytest.mark.parametrize("unit", ["pieces", "words"])
@pytest.mark.parametrize("timing", TIMINGS)
def test_corners_are_on_the_largest_weight_of_their_row(
    open_html: Callable[..., Page], unit: str, timing: str
) -> None:
    """The map, its table and its sentence show the rows from which words are linked."""
    tab = open_html(
        html_page(pieces_trace(), view=View(site="cross", layer=0, head=0, step=1, ahead=True))
    )
    tab.get_by_test_id(f"unit-{unit}").click()
    tab.get_by_test_id(f"alignment-{timing}").click()
    settle(tab)
    table = [line.split(",") for line in save(tab, "csv").path().read_text("utf-8-sig").split()]
    keys = table[0][1:].index("<eos>")  # what follows the content
    weights = np.array([[float(cell) for cell in line[1 : keys + 1]] for line in table[1:]])
    largest = weights.argmax(-1)
    output = 0 if timing == "prediction" else 1  # the row of the first token of the output
    linked = save(tab, "pharaoh").path().read_text("utf-8").split()
    assert linked
    for link in linked:
        source, target = map(int, link.split("-"))
        assert largest[target + output] == source, (link, weights[target + output])


def test_a_row_that_predicts_a_word_is_the_mean_of_those_of_its_pieces(
    open_html: Callable[..., Page],
) -> None:
    tab = open_html(
        html_page(pieces_trace(), view=View(site="cross", layer=0, head=0, step=1, ahead=True))
    )
    tab.get_by_test_id("unit-words").click()
    settle(tab)
    fed = canvas_pixels(tab)
    expect(tab.get_by_test_id("sentence")).to_contain_text("After reading “bos”")
    tab.get_by_test_id("alignment-prediction").click()
    # “Le” is predicted in pieces by rows 0 and 1: The ½ (.5 + .25), cat ½ (.375 + .5).
    expect(tab.get_by_test_id("sentence")).to_contain_text("While writing “Le”")
    expect(tab.locator("[data-testid=map-title]")).to_have_attribute(
        "title", re.compile("rows that predict")
    )
    download = save(tab, "csv")
    rows = download.path().read_text("utf-8-sig").splitlines()
    assert rows[1] == "<bos>,0.3750,0.4375,0.0938,0.0938,"
    assert rows[2] == "Le,0.3750,0.6250,0.0000,0.0000,"
    assert rows[3] == "chat,0.1250,0.6250,0.1250,0.1250,"  # what it predicts is not fed in
    assert download.suggested_filename == "attention-cross-L0-H0-words-predicting-step1.csv"
    assert canvas_pixels(tab) != fed
    tab.get_by_test_id("alignment-off").click()
    expect(tab.get_by_test_id("sentence")).to_contain_text("After reading “bos”")
    settle(tab)
    assert canvas_pixels(tab) == fed


def canvas_pixels(tab: Page) -> list[str]:
    """The thumbnails, as addresses of their pixels."""
    found: list[str] = tab.locator(".thumbnail canvas").evaluate_all(
        "all => all.map((canvas) => canvas.toDataURL())"
    )
    return found


def test_the_sentence_names_the_word_that_a_piece_begins(open_html: Callable[..., Page]) -> None:
    trace = pieces_trace()
    forced, chosen = np.zeros(10, dtype=np.bool_), np.tile([False, True], 5)
    forced[5] = True
    steps = {"steps.forced": forced, "steps.chosen": chosen}
    labels = tuple("▁ch" if place == 5 else label for place, label in enumerate(("▁x",) * 10))
    trace = replace(trace, arrays={**trace.arrays, **steps}, candidate_tokens=labels, digest="")
    for language, said in (
        ("en", "“ch” as the beginning of “chat” is set here (25.0\u00a0%); the model"),
        ("zh", "此处指定“ch”（“chat”的开头）（25.0\u00a0%），模型原本会写“x”"),
    ):
        tab = open_html(html_page(trace, language, View(site="cross", layer=0, head=0, step=3)))
        tab.get_by_test_id("unit-words").click()
        expect(tab.get_by_test_id("sentence")).to_contain_text(said)


def test_words_without_marks_are_offered_where_every_word_is_one_piece(
    open_html: Callable[..., Page],
) -> None:
    whole = replace(
        pieces_trace(),
        source_tokens=("▁A", "▁b", "▁c", ".", "<eos>", "<pad>"),
        target_tokens=("<bos>", "▁d", "▁e", "▁f", "▁g"),
        predicted_tokens=("▁d", "▁e", "▁f", "▁g", "<eos>"),
        digest="",
    )
    tab = open_html(html_page(whole, view=View(site="cross", layer=0, head=0)))
    words = tab.get_by_test_id("unit-words")
    expect(words).to_be_visible()
    words.click()
    expect(words).to_have_attribute("aria-checked", "true")
    assert tab.get_by_test_id("strip-source").locator(".chip").first.inner_text() == "A"
    tab = open_html(html_page(example_trace()))  # its symbols mark no words
    expect(tab.get_by_test_id("unit-words")).to_be_hidden()


def test_without_gold_the_head_with_the_best_coverage_is_shown_first(
    open_html: Callable[..., Page],
) -> None:
    trace = pieces_trace()
    cross = np.full((1, 3, 5, 6), 0.1, dtype=np.float32)
    cross[..., 4:] = [0.6, 0]  # head 0 rests on the end,
    cross[0, 1] = np.eye(6)[[0, 0, 0, 0, 4]]  # head 1 is sure, but of one token only,
    cross[0, 2] = np.eye(6)[[1, 0, 2, 3, 4]]  # head 2 crosses over
    arrays = {"cross.attention": cross, "cross.closed": trace.arrays["cross.closed"]}
    trace = replace(trace, arrays=arrays, candidate_tokens=(), digest="")
    tab = open_html(html_page(trace))
    expect(tab.get_by_test_id("head-0-2")).to_have_attribute("aria-pressed", "true")
    tab = open_html(html_page(trace, view=View(layer=0, head=1)))  # what was asked for wins
    expect(tab.get_by_test_id("head-0-1")).to_have_attribute("aria-pressed", "true")


def test_a_long_output_keeps_the_names_of_heads_and_is_marked_as_cut_off(
    open_html: Callable[..., Page],
) -> None:
    trace = replace(random_trace(258, 10, 3, 8), facts={"ended": False}, digest="")
    for width, height in SIZES:
        tab = open_html(html_page(trace), width, height)
        sizes = tab.locator(".thumbnail .picture").evaluate_all(
            "(all) => all.map((one) => [one.clientWidth, one.clientHeight])"
        )
        assert len(sizes) == 24
        assert min(min(size) for size in sizes) >= 26, (width, height)
        assert tab.evaluate(CLIPPED) == [], (width, height)
        expect(tab.get_by_test_id("cut-off")).to_contain_text("limit of 258 tokens")
    tab = open_html(html_page(replace(trace, facts={"ended": True}, digest="")))
    expect(tab.get_by_test_id("cut-off")).to_be_hidden()
