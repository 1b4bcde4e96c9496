"""A model that is trained in the browser, on the static site's page of trainings."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Dialog, Page, expect

import explorer
from tests.support.static_site_page import forget_browsers_own, type_source

SOON = 60_000  # ms, on a busy machine
LINES_OF_FIRST_WORD = """label => {
    const range = document.createRange();
    range.setStart(label.firstChild, 0);
    range.setEnd(label.firstChild, label.textContent.indexOf(" "));
    return range.getClientRects().length;
}"""


@pytest.fixture
def training_page(new_visitor: Callable[..., Page], static_site: Path) -> Callable[..., Page]:
    """The page of trainings from disk, with the network off."""

    def show(language: str = "en", width: int = 1280, height: int = 800) -> Page:
        tab = new_visitor(width, height)
        tab.context.set_offline(True)
        tab.goto((static_site / f"training.{language}.html").as_uri())
        tab.wait_for_selector(".plotted")
        return tab

    return show


def choose_seed(tab: Page, seed: int) -> None:
    """Of the next training; the box is hidden in Simple."""
    box = tab.get_by_test_id("train-seed")
    expect(box).to_be_hidden()
    box.evaluate("(box, seed) => (box.value = seed)", seed)


@pytest.fixture
def trained(training_page) -> Page:
    """A training of *copy* that was stopped after its second moment."""
    tab = training_page()
    tab.get_by_test_id("train-task").select_option("copy")
    choose_seed(tab, 7)
    tab.get_by_test_id("train-start").click()
    expect(tab.get_by_test_id("moment-count")).to_contain_text("moment 2/2", timeout=SOON)
    tab.get_by_test_id("train-stop").click()
    return tab


def test_a_training_is_shown_by_the_replay_while_it_goes_on(training_page):
    tab = training_page()
    expect(tab.get_by_test_id("live")).to_be_hidden()
    expect(tab.get_by_test_id("train-share")).to_have_count(0)  # there is no class
    tab.get_by_test_id("train-start").click()
    expect(tab.get_by_test_id("train-start")).to_be_hidden()
    expect(tab.get_by_test_id("picture-guess")).to_be_visible()  # what will form?
    expect(tab.get_by_role("heading", level=1)).to_contain_text("trained in this browser")
    expect(tab.get_by_test_id("moment-sentence")).to_contain_text("Step 25", timeout=SOON)
    expect(tab.get_by_test_id("run-state")).to_have_text("training")
    expect(tab.get_by_test_id("live")).to_be_visible()
    expect(tab.get_by_test_id("probe-text")).to_contain_text("7 3 9 1 4 → 4 1 9 3 7")
    expect(tab.locator("[data-head]").first).to_be_visible()
    tab.get_by_test_id("train-stop").click()
    expect(tab.get_by_test_id("run-state")).to_have_text("stopped")
    expect(tab.get_by_test_id("train-start")).to_be_visible()


def test_a_training_that_was_stopped_before_its_first_evaluation_has_nothing(training_page):
    tab = training_page(width=390, height=844)
    tab.get_by_test_id("train-start").click()
    note, title = tab.get_by_test_id("main-curves-note"), tab.locator(".curve-heading").nth(1)
    expect(note).to_contain_text("at step 25")
    above, below = note.bounding_box(), title.bounding_box()
    assert above
    assert below
    assert above["y"] + above["height"] <= below["y"]
    tab.get_by_test_id("train-stop").click()
    expect(note).to_have_text(
        "There are no curves: it ended before its first evaluation, at step 25."
    )
    assert questions_at_closing(tab) == []


def test_the_browser_asks_before_a_model_is_lost(trained):
    with trained.expect_event("dialog") as asked:
        trained.close(run_before_unload=True)
    assert asked.value.type == "beforeunload"
    asked.value.dismiss()
    with trained.expect_download():
        trained.get_by_test_id("train-save").click()
    assert questions_at_closing(trained) == []


def questions_at_closing(tab: Page) -> list[str]:
    asked: list[str] = []

    def accept(dialog: Dialog) -> None:
        asked.append(dialog.type)
        dialog.accept()

    tab.on("dialog", accept)
    with tab.expect_event("close"):
        tab.close(run_before_unload=True)
    return asked


def test_nothing_of_the_trainer_is_loaded_before_start(training_page):
    tab = training_page()
    scripts = "Array.from(document.scripts, (one) => one.src).filter((src) => /trainer/.test(src))"
    assert tab.evaluate(scripts) == []
    tab.get_by_test_id("train-start").click()
    expect(tab.get_by_test_id("train-stop")).to_be_visible()
    assert len(tab.evaluate(scripts)) == 1


def test_the_trained_model_opens_in_explore(trained):
    with trained.expect_popup() as opened:
        trained.get_by_test_id("train-open").click()
    tab = opened.value
    tab.wait_for_selector(".plotted")
    expect(tab.get_by_test_id("model")).to_have_value("copy-7")
    type_source(tab, "5 5 2")
    expect(tab).to_have_url(re.compile("model=copy-7&text=5\\+5\\+2"))
    tab.get_by_test_id("inside-open").click()
    expect(tab.get_by_test_id("inside")).to_be_visible()
    tab.reload()  # the page of trainings hands it over once more
    tab.wait_for_selector(".plotted")
    expect(tab.get_by_test_id("model")).to_have_value("copy-7")
    expect(tab.get_by_test_id("source")).to_have_value("5 5 2")
    trained.close()
    tab.reload()
    tab.wait_for_selector(".plotted")
    expect(tab.get_by_test_id("message")).to_have_text(
        re.compile("^The model copy-7, trained in this browser, is gone: ")
    )


def test_a_cell_of_the_map_opens_its_calculation(trained):
    box = trained.locator(".map .clip").bounding_box()
    assert box
    trained.mouse.click(box["x"] + 0.3 * box["width"], box["y"] + 8)
    with trained.expect_popup() as opened:
        trained.get_by_test_id("open-cell").click()
    tab = opened.value
    expect(tab.get_by_test_id("inside")).to_be_visible()
    expect(tab.get_by_test_id("model")).to_have_value("copy-7")


def test_the_saved_model_opens_in_the_program(trained, tmp_path):
    with trained.expect_download() as saved:
        trained.get_by_test_id("train-save").click()
    assert saved.value.suggested_filename == "copy-7.safetensors"
    saved.value.save_as(tmp_path / "copy-7.safetensors")
    model = explorer.load(tmp_path / "copy-7.safetensors")
    trace = model.trace("7 3 9 1 4")
    written = [token for token in trace.predicted_tokens if token != "<eos>"]
    assert trained.get_by_test_id("greedy").inner_text().split() == written


def test_a_training_without_its_script_says_so(new_visitor, static_site_copy, complaints):
    (static_site_copy / "live_trainer.js").unlink()
    tab = new_visitor()
    tab.goto((static_site_copy / "training.zh.html").as_uri())
    tab.wait_for_selector(".plotted")
    tab.get_by_test_id("train-start").click()
    expect(tab.get_by_test_id("run-problem")).to_contain_text("此浏览器无法训练")
    expect(tab.get_by_test_id("train-start")).to_be_visible()
    forget_browsers_own(complaints)


def test_a_decoder_alone_learns_to_repeat_and_opens_at_its_head(training_page, tmp_path):
    tab = training_page()
    tab.get_by_test_id("train-task").select_option("induction")
    choose_seed(tab, 1)
    tab.get_by_test_id("train-start").click()
    expect(tab.get_by_test_id("run-state")).to_contain_text("99 %", timeout=3 * SOON)
    expect(tab.get_by_test_id("probe-text")).to_contain_text("7 3 9 1 4 7 → 3 9 1 4 7")
    expect(tab.get_by_test_id("main-curves")).to_contain_text("on the token before")
    tab.set_viewport_size({"width": 390, "height": 844})
    assert tab.locator(".moment-text").evaluate("text => text.scrollHeight <= text.clientHeight")
    with tab.expect_download() as saved:
        tab.get_by_test_id("train-save").click()
    saved.value.save_as(tmp_path / "mine.safetensors")
    assert explorer.load(tmp_path / "mine.safetensors").trace("5 8 2 9 5").text.startswith("8 2 9")
    with tab.expect_popup() as opened:
        tab.get_by_test_id("train-open").click()
    explore = opened.value
    expect(explore.get_by_test_id("model")).to_have_value("induction-1")
    expect(explore.get_by_test_id("map-title")).to_contain_text("Decoder · L1")
    type_source(explore, "5 8 2 9 5")
    expect(explore.get_by_test_id("strip-target")).to_contain_text("8")
    explore.set_viewport_size({"width": 390, "height": 844})
    label = explore.locator(".strip-label", has_text="prompt, output")
    assert label.evaluate(LINES_OF_FIRST_WORD) == 1
