"""A real browser for the tests; without one they fail, because skipping would hide it."""

import base64
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Error, Page, expect, sync_playwright

from explorer.components.html_export import html_page
from explorer.components.player.payload import View, player_payload
from explorer.core.trace import Trace
from tests.support.app_server import running_app
from tests.support.chromium import find_chromium
from tests.support.example_traces import example_trace
from tests.support.player_page import EMBEDDED, PLAYERS, entry_script, with_script

_HERE = Path(__file__).parent

ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--no-first-run",
]

expect.set_options(timeout=30_000)  # milliseconds; a busy machine is not a broken page


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run a browser test that fails once more; pytest counts and lists such tests as rerun.

    Browser, server and test are three processes without a common clock, so that on a busy machine
    an action may meet a page that has not caught up with the one before it.
    """
    for item in items:
        if item.path.is_relative_to(_HERE):
            item.add_marker(pytest.mark.flaky(reruns=1))


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


@pytest.fixture(scope="session")
def address() -> Iterator[str]:
    """The running app, for tests that change nothing of it; others start one of their own."""
    with running_app() as address:
        yield address


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


@pytest.fixture(scope="session")
def player_tab(chromium: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    """One tab for many players, offline: reading Plotly takes longer than most tests."""
    path = tmp_path_factory.mktemp("player") / "page.html"
    script = PLAYERS.format(script=entry_script("player"), embedded=EMBEDDED)
    html = with_script(html_page(example_trace()), script)
    path.write_text(html, encoding="utf-8")
    context = chromium.new_context(reduced_motion="reduce", offline=True, accept_downloads=True)
    tab = context.new_page()
    tab.goto(path.as_uri())
    yield tab
    context.close()


@pytest.fixture
def show(player_tab: Page) -> Iterator[Callable[..., Page]]:
    """Show a trace in a new player; the test fails on any console error or exception."""
    complaints: list[str] = []

    def note(message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            complaints.append(message.text)

    def fault(error: Error) -> None:
        complaints.append(str(error))

    player_tab.on("console", note)
    player_tab.on("pageerror", fault)

    def mount(
        trace: Trace,
        language: str = "en",
        view: View | None = None,
        size: tuple[int, int] = (1440, 900),
        *,
        dark: bool = False,
    ) -> Page:
        player_tab.set_viewport_size({"width": size[0], "height": size[1]})
        player_tab.emulate_media(color_scheme="dark" if dark else "light")
        player_tab.mouse.move(0, 0)
        data = player_payload(trace, language=language, view=view)
        player_tab.evaluate("(text) => show(text)", base64.b64encode(data).decode())
        player_tab.wait_for_selector(".plotted")
        return player_tab

    yield mount
    player_tab.remove_listener("console", note)
    player_tab.remove_listener("pageerror", fault)
    assert not complaints
