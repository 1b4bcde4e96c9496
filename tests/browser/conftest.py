"""A real browser for the tests; without one they fail, because skipping would hide it."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, expect, sync_playwright

from tests.support.chromium import find_chromium

ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--no-first-run",
]

expect.set_options(timeout=30_000)  # milliseconds; a busy machine is not a broken page


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    """One Chromium for all tests."""
    path = find_chromium()
    if path is None:
        pytest.fail("No Chromium found: put one on the PATH or name it in $CHROMIUM.")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture
def new_tab(chromium: Browser) -> Iterator[Callable[..., Page]]:
    """Open tabs that fail the test on any console error or uncaught exception."""
    complaints: list[str] = []
    contexts = []

    def note(message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            complaints.append(message.text)

    def make(
        width: int = 1440, height: int = 900, *, dark: bool = False, offline: bool = False
    ) -> Page:
        context = chromium.new_context(
            viewport={"width": width, "height": height},
            color_scheme="dark" if dark else "light",
            reduced_motion="reduce",
            offline=offline,
            accept_downloads=True,
        )
        contexts.append(context)
        tab = context.new_page()
        tab.on("console", note)
        tab.on("pageerror", lambda error: complaints.append(str(error)))
        return tab

    yield make
    for context in contexts:
        context.close()
    assert not complaints


@pytest.fixture
def open_html(new_tab: Callable[..., Page], tmp_path: Path) -> Callable[..., Page]:
    """Open a page of HTML from disk with the network off, and wait for its map."""

    def show(html: str, width: int = 1440, height: int = 900, *, dark: bool = False) -> Page:
        path = tmp_path / f"page-{len(list(tmp_path.iterdir()))}.html"
        path.write_text(html, encoding="utf-8")
        tab = new_tab(width, height, dark=dark, offline=True)
        tab.goto(path.as_uri())
        tab.wait_for_selector(".plotted")
        return tab

    return show
