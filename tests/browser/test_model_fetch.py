"""A known model is fetched, in a real browser, from a hub on this machine."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Event

import pytest
from playwright.sync_api import Page, expect

from tests.support import model_directories
from tests.support.app_server import running_app
from tests.support.fake_hub import serving

MINI = "sentence-transformers/all-MiniLM-L6-v2"


@pytest.fixture
def rest() -> Event:
    """Lets the second half of the weights come."""
    return Event()


@pytest.fixture
def app(rest: Event, tmp_path: Path) -> Iterator[str]:
    """The app, with a hub that has GPT-2 small alone."""
    folder = model_directories.gpt2(tmp_path / "gpt2")
    made = {
        "EXPLORER_RUNS": str(tmp_path / "runs"),
        "EXPLORER_FINDINGS": str(tmp_path / "reports"),
        "HF_HUB_CACHE": str(tmp_path / "hub"),
    }
    with (
        serving({"gpt2": folder}, rest) as (endpoint, _),
        running_app(HF_ENDPOINT=endpoint, **made) as address,
    ):
        yield address


@pytest.mark.parametrize("page", ["", "heads"])
def test_a_model_is_cancelled_fetched_again_and_opens(
    page: str, app: str, rest: Event, new_tab: Callable[..., Page]
) -> None:
    tab = new_tab()
    tab.goto(f"{app}{page}?model=gpt2&lang=en")
    expect(tab.get_by_text("the model “gpt2”, which is not fetched yet")).to_be_visible()
    choice = tab.get_by_role("combobox", name="Model")
    entry = choice.locator("option[value=gpt2]")
    expect(entry).to_have_text("GPT-2 small · fetch once, 550 MB")
    choice.select_option("gpt2")
    fetch = tab.get_by_role("button", name="Fetch", exact=True)
    fetch.focus()
    tab.keyboard.press("Enter")
    expect(tab.get_by_role("progressbar", name="GPT-2 small")).to_be_visible()
    expect(entry).to_have_text("GPT-2 small · 0 % of 550 MB")
    tab.get_by_role("button", name="Cancel", exact=True).click()
    expect(entry).to_have_text("GPT-2 small · fetch once, 550 MB")
    rest.set()
    fetch.click()
    expect(tab).to_have_url(re.compile("model=gpt2"))
    expect(entry).to_have_text(re.compile("gpt2 · 3 layers"))
    expect(choice).to_have_value("gpt2")
    expect(fetch).to_be_hidden()


def test_what_the_hub_refuses_is_one_sentence_with_the_command(
    app: str, new_tab: Callable[..., Page]
) -> None:
    tab = new_tab()
    tab.goto(f"{app}?lang=en")
    tab.get_by_role("combobox", name="Model").select_option(MINI)
    tab.get_by_role("button", name="Fetch", exact=True).click()
    said = tab.get_by_text("“all-MiniLM-L6-v2” could not be fetched (")
    expect(said).to_contain_text(f'run: python -m explorer trace {MINI} "The cat" --download')
    expect(tab.get_by_role("button", name="Fetch", exact=True)).to_be_visible()
