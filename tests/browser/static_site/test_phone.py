"""The static site on a phone, by touch."""

import re
import time

import pytest
from playwright.sync_api import Locator, expect

from tests.support.page_checks import CLIPPED, SMALL_BUTTONS, settle
from tests.support.static_site_page import type_source

HIDDEN_CHIPS = """[...document.querySelectorAll('.chip.query, .chip.predicted')].filter((chip) => {
  const parts = [chip, chip.closest('.strip-tokens')];
  const [one, all] = parts.map((node) => node.getBoundingClientRect());
  return one.top < all.top || one.bottom > all.bottom;
}).map((chip) => chip.textContent)"""


def test_on_a_phone_strips_show_the_step_of_a_text_that_follows_a_longer_one(on_disk):
    tab = on_disk("#model=english-french&text=I.", 390, 844)
    type_source(tab, " ".join(["The old man reads the book on the red chair."] * 3))
    expect(tab.get_by_test_id("strip-source")).to_contain_text("book")
    tab.keyboard.press("End")
    target = tab.get_by_test_id("strip-target")
    expect(tab.locator(".chip.query")).to_be_visible()
    assert target.evaluate("(node) => node.scrollTop") > 0
    type_source(tab, "I love 🐶 and 🍕!")
    expect(tab.get_by_test_id("strip-source")).to_contain_text("love")
    steps = int(tab.get_by_test_id("step-count").inner_text().split("/")[1])
    tab.keyboard.press("Home")
    for step in range(1, steps + 1):
        expect(tab.get_by_test_id("step-count")).to_have_text(f"step {step}/{steps}")
        settle(tab)
        assert tab.evaluate(HIDDEN_CHIPS) == []
        tab.keyboard.press("ArrowRight")


ABOVE_STEPS = """(node) => {
  const box = node.getBoundingClientRect();
  const steps = document.querySelector(".transport").getBoundingClientRect();
  return box.top >= 0 && box.bottom <= steps.top;
}"""


def expect_above_steps(part: Locator) -> None:
    deadline = time.monotonic() + 10
    while not part.evaluate(ABOVE_STEPS):
        assert time.monotonic() < deadline
        part.page.wait_for_timeout(50)


def test_on_a_phone_guess_leads_to_its_choices_and_a_what_if_to_both_outputs(on_phone):
    tab = on_phone("#model=english-french&text=The.cat.is.sleeping.&step=2")
    tab.get_by_test_id("guess").tap()
    choices = tab.get_by_test_id("candidates").get_by_role("button")
    note = tab.get_by_test_id("candidates-note")
    for part in (note, choices.first, choices.last):
        expect_above_steps(part)
    cut = ".candidate .name"
    assert tab.locator(cut).evaluate_all(
        "all => all.every((node) => node.scrollWidth <= node.clientWidth)"
    )
    choices.first.tap()
    expect(note).to_contain_text(re.compile("^[✓✗]"))
    expect_above_steps(note)
    tab.get_by_test_id("guess").tap()
    expect(tab.get_by_test_id("candidates-others")).to_be_visible()
    question, outputs = tab.get_by_test_id("force-question"), tab.get_by_test_id("outputs")
    other = tab.locator(".candidate:not([aria-disabled])").first
    other.tap()
    expect(question).to_contain_text(f"Write “{other.get_attribute('data-token').strip('▁')}”")
    tab.get_by_test_id("force-no").tap()
    expect(question).to_have_count(0)
    other.tap()
    tab.get_by_test_id("next").tap()
    expect(question).to_have_count(0)  # it was of the step before
    expect(outputs).to_be_hidden()
    tab.locator(".candidate:not([aria-disabled])").first.tap()
    tab.get_by_test_id("force-yes").tap()
    expect(outputs).to_be_visible()
    expect_above_steps(outputs)


def test_on_a_phone_that_lies_all_of_the_player_can_be_touched(on_phone):
    tab = on_phone("#model=reverse&text=7+3+9&step=2&cell=1.1", 844, 390)
    expect(tab.get_by_test_id("inside-sentence")).to_be_visible()
    small = """[...document.querySelectorAll('.player :is(button, summary, select, label)')]
      .filter((node) => node.checkVisibility() && node.offsetHeight < 32)
      .map((node) => node.outerHTML.slice(0, 120))"""
    assert tab.evaluate(small) == []
    transport = tab.locator(".transport").bounding_box()
    assert transport is not None
    assert transport["height"] < 60  # one line


def test_on_a_phone_nothing_is_cut_and_a_tap_steps(phone, static_site):
    tab = phone(offline=True)
    tab.goto((static_site / "index.html").as_uri())
    tab.wait_for_selector(".plotted")
    assert tab.evaluate("document.documentElement.scrollWidth") <= 390
    assert tab.evaluate(CLIPPED) == []
    assert tab.evaluate(SMALL_BUTTONS) == []
    tab.get_by_role("button", name="First").tap()
    expect(tab.get_by_role("slider", name="Step")).to_have_value("1")
    source = tab.get_by_role("textbox", name="Source")
    source.fill("1 2 3")
    tab.get_by_test_id("go").tap()
    expect(tab.get_by_test_id("output")).to_have_text("3 2 1")
    for name, value in {"enterkeyhint": "go", "autocapitalize": "off"}.items():
        expect(source).to_have_attribute(name, value)
    tab.get_by_test_id("random").tap()
    expect(tab.get_by_role("textbox", name="Source")).not_to_have_value("7 3 9 1 4")


@pytest.mark.parametrize("width", [320, 360, 390])
def test_on_a_phone_menus_and_the_names_of_models_are_whole(on_phone, width):
    tab = on_phone(width=width, height=740)
    for name in ("lessons", "elsewhere"):
        tab.get_by_test_id(name).locator("summary").tap()
        box = tab.get_by_test_id(name).locator(".menu").bounding_box()
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= width
    model = tab.get_by_test_id("model")
    expect(model.locator("option").first).to_have_text("reverse · 100.0 % right")
    assert model.bounding_box()["width"] >= width - 30


@pytest.mark.parametrize(("width", "height"), [(390, 844), (844, 390)])
def test_on_a_phone_the_steps_stay_in_reach_beside_the_map(on_phone, width, height):
    tab = on_phone(width=width, height=height)
    steps = tab.get_by_role("toolbar")
    expect(steps).to_be_in_viewport(ratio=1)
    tab.locator(".legend").scroll_into_view_if_needed()
    expect(tab.locator(".map")).to_be_in_viewport()
    expect(steps).to_be_in_viewport(ratio=1)
    row = tab.locator(".overlay .outline").bounding_box()
    steps.get_by_role("button", name="Next").tap()
    expect(tab.get_by_role("slider", name="Step")).to_have_value("5")
    assert tab.locator(".overlay .outline").bounding_box()["y"] > row["y"]
