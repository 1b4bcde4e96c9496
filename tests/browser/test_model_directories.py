"""Models of the library transformers in a real browser."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.support.app_server import running_app


@pytest.fixture(scope="module")
def app(model_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The app, started with a folder of downloaded models."""
    made = {
        name: str(tmp_path_factory.mktemp("made"))
        for name in ("EXPLORER_RUNS", "EXPLORER_FINDINGS")
    }
    with running_app(EXPLORER_MODELS=str(model_folder), **made) as address:
        yield address


def choose(page: Page, name: str) -> None:
    """Two actions: open the list of models, and choose one."""
    page.get_by_role("combobox", name="Model").select_option(name)


def test_a_new_user_reaches_cross_attention_in_three_actions(
    app: str, new_tab: Callable[..., Page]
) -> None:
    page = new_tab()
    page.goto(app)  # the first; the other two are in `choose`
    page.wait_for_selector(".plotted")
    choose(page, "opus-tiny")
    expect(page.get_by_test_id("map-title")).to_have_text(re.compile("^Cross · L"))
    expect(page.get_by_test_id("strip-source")).to_contain_text("The")
    page.get_by_test_id("integrity-line").click()
    expect(page.get_by_test_id("integrity-line-words")).to_contain_text("✓ equals the library")
    page.keyboard.press("Escape")
    expect(page).to_have_url(re.compile("model=opus-tiny"))
    page.get_by_test_id("candidates").get_by_role("button").nth(2).click()
    expect(page.get_by_test_id("changes")).to_be_visible()
    expect(page).to_have_url(re.compile("force="))  # written a moment after the picture
    page.reload()
    expect(page.get_by_test_id("changes")).to_be_visible()
    expect(page.get_by_test_id("map-title")).to_have_text(re.compile("^Cross · L"))


def test_model_and_text_are_below_the_header(app: str, new_tab: Callable[..., Page]) -> None:
    """Also of a model without a hint, whose name the list shows whole."""
    page = new_tab()
    for model in ("bert-tiny", "opus-tiny"):
        page.goto(f"{app}?model={model}")
        page.wait_for_selector(".plotted")
        row = page.get_by_test_id("input-row").bounding_box()
        header = page.locator("[data-testid=stHeader]").bounding_box()
        assert row is not None
        assert header is not None
        assert row["y"] >= header["y"] + header["height"], model


def test_masks_are_gone_through_and_filled(app: str, new_tab: Callable[..., Page]) -> None:
    page = new_tab()
    page.goto(f"{app}?model=bert-tiny&text=The+cat+[MASK]+a+dog+[MASK].")
    count = page.get_by_test_id("step-count")
    expect(count).to_have_text("mask 1/2")
    expect(page.get_by_test_id("sentence")).to_contain_text("For the mask at position 4")
    page.get_by_test_id("next").click()
    expect(count).to_have_text("mask 2/2")
    expect(page.locator(".chip.query")).to_have_text("MASK")
    page.get_by_test_id("candidates").get_by_role("button").nth(1).click()
    expect(page.get_by_test_id("unforce-7")).to_be_visible()
    expect(page).to_have_url(re.compile("force=7"))


def test_a_prompt_is_given_and_what_follows_can_be_forced(
    app: str, new_tab: Callable[..., Page]
) -> None:
    page = new_tab()
    page.goto(f"{app}?model=gpt-tiny&text=The+cat+sees&step=2")
    given = page.locator("[data-testid=strip-target] .chip.given")
    note = page.get_by_test_id("candidates-note")
    expect(note).to_contain_text("The prompt is given")
    prompt = given.count()
    assert 1 < prompt < 12
    expect(page.get_by_test_id("candidates").locator("button:not([aria-disabled])")).to_have_count(
        0
    )
    for _ in range(prompt - 2):
        page.keyboard.press("ArrowRight")
    expect(note).to_contain_text("write it instead")
    page.get_by_test_id("candidates").get_by_role("button").nth(1).click()
    expect(page.get_by_test_id(f"unforce-{prompt}")).to_be_visible()
    expect(given).to_have_count(prompt)
