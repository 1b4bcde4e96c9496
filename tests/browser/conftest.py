"""A real browser for the tests; without one they fail, because skipping would hide it."""

import base64
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Error,
    Page,
    Playwright,
    ViewportSize,
    expect,
    sync_playwright,
)

from explorer.app.server import access
from explorer.components.html_export import html_page
from explorer.components.payload import pack_payload
from explorer.components.player.payload import View, player_payload
from explorer.core import folders
from explorer.core.trace import Trace
from tests.support.app_server import running_app
from tests.support.browsers import ENGINE, RETURNING, engine, is_installed, launch, launch_options
from tests.support.example_traces import example_trace
from tests.support.page_checks import settle
from tests.support.player_page import EMBEDDED, PLAYERS, entry_script, with_script

_HERE = Path(__file__).parent

PATIENCE = 60_000
"""Milliseconds that a page has for an action or until it is as expected: a busy machine is not a
broken page."""

expect.set_options(timeout=PATIENCE)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run a test that fails up to twice more; pytest counts and lists such tests as rerun.

    Browser, server and test are three processes without a common clock, so that on a busy machine
    an action may meet a page that has not caught up with the one before it.
    """
    for item in items:
        if item.path.is_relative_to(_HERE):
            item.add_marker(pytest.mark.flaky(reruns=2))


_SHOW_EVERYTHING = "(shown) => showEverything(shown)"


@pytest.fixture(scope="session")
def playwright() -> Iterator[Playwright]:
    if not is_installed():
        pytest.fail(f"No {ENGINE} found: run `python tests/support/browsers.py`.")
    with sync_playwright() as playwright:
        yield playwright


@pytest.fixture(scope="session")
def profile(
    playwright: Playwright, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[BrowserContext | None]:
    """One Chromium for all tests, with a profile on disk: reading the app's scripts from its cache
    halves the work of opening a page, which is most of the work of these tests. Other engines have
    no way to forget a visitor and keep the cache.
    """
    if ENGINE != "chromium":
        yield None
        return
    context = engine(playwright).launch_persistent_context(
        tmp_path_factory.mktemp("profile"), **launch_options()
    )
    context.set_default_timeout(PATIENCE)
    context.add_init_script(RETURNING)
    yield context
    context.close()


@pytest.fixture(scope="session")
def browser(playwright: Playwright, profile: BrowserContext | None) -> Iterator[Browser]:
    """The browser, for contexts beside the profile, which share nothing with it."""
    if profile is not None:
        assert profile.browser is not None
        yield profile.browser
        return
    browser = launch(playwright)
    yield browser
    browser.close()


@pytest.fixture
def visitor(browser: Browser, profile: BrowserContext | None) -> Iterator[BrowserContext]:
    """A visitor whom the app does not know from an earlier test."""
    if profile is not None:
        yield profile
        forget_visitor(profile)
        return
    context = browser.new_context()
    context.set_default_timeout(PATIENCE)
    context.add_init_script(RETURNING)
    yield context
    context.close()


@pytest.fixture(scope="session")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The running app, with nothing trained or measured on this machine, for tests that leave it
    so; others start one of their own."""
    empty = {
        name: str(tmp_path_factory.mktemp("empty"))
        for name in (folders.RUNS_VARIABLE, folders.REPORTS_VARIABLE)
    }
    with running_app(**empty) as address:
        yield address


@pytest.fixture
def complaints() -> Iterator[list[str]]:
    """What tabs complained of; the test fails on any console error or uncaught exception."""
    heard: list[str] = []
    yield heard
    assert not heard


@contextmanager
def listening(tab: Page, complaints: list[str]) -> Iterator[None]:
    """Note what a tab complains of, until the block ends."""

    def note(message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            complaints.append(message.text)

    def fault(error: Error) -> None:
        complaints.append(str(error))

    tab.on("console", note)
    tab.on("pageerror", fault)
    yield
    tab.remove_listener("console", note)
    tab.remove_listener("pageerror", fault)


@pytest.fixture
def new_tab(visitor: BrowserContext, complaints: list[str]) -> Iterator[Callable[..., Page]]:
    """Open tabs of one visitor."""
    with ExitStack() as stack:

        def make(
            width: int = 1440, height: int = 900, *, dark: bool = False, offline: bool = False
        ) -> Page:
            tab = visitor.new_page()
            stack.callback(tab.close)
            stack.enter_context(listening(tab, complaints))
            tab.set_viewport_size({"width": width, "height": height})
            tab.emulate_media(color_scheme="dark" if dark else "light", reduced_motion="reduce")
            if offline:
                go_offline(tab)
            return tab

        yield make


def go_offline(tab: Page) -> None:
    """Cut this tab from the network; `BrowserContext.set_offline` cuts all others as well."""
    if ENGINE != "chromium":
        tab.context.set_offline(True)
        return
    session = tab.context.new_cdp_session(tab)
    session.send("Network.enable")
    unlimited = {"latency": 0, "downloadThroughput": -1, "uploadThroughput": -1}
    session.send("Network.emulateNetworkConditions", {"offline": True, **unlimited})


def forget_visitor(profile: BrowserContext) -> None:
    """Clear all that pages stored; what is in the cache is the same for every visitor."""
    session = profile.new_cdp_session(profile.pages[0])
    stored = {"origin": "*", "storageTypes": "cookies,local_storage,indexeddb,cache_storage"}
    session.send("Storage.clearDataForOrigin", stored)
    session.detach()


@pytest.fixture
def new_visitor(browser: Browser, complaints: list[str]) -> Iterator[Callable[..., Page]]:
    """Open a tab of one more visitor each time, with cookies and storage of their own."""
    with ExitStack() as stack:

        def make(width: int = 1440, height: int = 900, *, offered: bool = True) -> Page:
            size: ViewportSize = {"width": width, "height": height}
            context = browser.new_context(viewport=size, reduced_motion="reduce")
            context.set_default_timeout(PATIENCE)
            if offered:
                context.add_init_script(RETURNING)
            stack.callback(context.close)
            tab = context.new_page()
            stack.enter_context(listening(tab, complaints))
            return tab

        yield make


@pytest.fixture
def new_host(new_visitor: Callable[..., Page]) -> Callable[[str], Page]:
    """Open a tab of the host of a `hosted_app` at an address."""

    def make(address: str) -> Page:
        tab = new_visitor(1024, 768)
        cookie = {"name": access.cookie_name(), "value": access.cookie_value(), "url": address}
        tab.context.add_cookies([cookie])  # type: ignore[list-item]
        return tab

    return make


@pytest.fixture
def phone(browser: Browser, complaints: list[str]) -> Iterator[Callable[..., Page]]:
    """Open tabs on phones, each with storage of its own."""
    with ExitStack() as stack:

        def make(width: int = 390, height: int = 844, *, offline: bool = False) -> Page:
            if ENGINE == "firefox":
                pytest.skip("Playwright's Firefox is no phone")
            context = browser.new_context(
                viewport={"width": width, "height": height},
                has_touch=True,
                is_mobile=True,
                offline=offline,
            )
            context.add_init_script(RETURNING)
            stack.callback(context.close)
            tab = context.new_page()
            stack.enter_context(listening(tab, complaints))
            return tab

        yield make


@pytest.fixture
def open_html(new_tab: Callable[..., Page], tmp_path: Path) -> Callable[..., Page]:
    """Open a page of HTML from disk with the network off, wait for its map."""

    def show(html: str, width: int = 1440, height: int = 900, *, dark: bool = False) -> Page:
        path = tmp_path / f"page-{len(list(tmp_path.iterdir()))}.html"
        path.write_text(html, encoding="utf-8")
        tab = new_tab(width, height, dark=dark, offline=True)
        tab.goto(path.as_uri())
        tab.wait_for_selector(".plotted")
        settle(tab)
        return tab

    return show


@pytest.fixture(scope="session")
def player_tab(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    """One tab for many players, offline: reading Plotly takes longer than most tests."""
    path = tmp_path_factory.mktemp("player") / "page.html"
    everything = base64.b64encode(pack_payload({"language": "en", "strings": {}}, {})).decode()
    script = PLAYERS.format(script=entry_script("player"), embedded=EMBEDDED, everything=everything)
    html = with_script(html_page(example_trace()), script)
    path.write_text(html, encoding="utf-8")
    context = browser.new_context(reduced_motion="reduce", offline=True, accept_downloads=True)
    tab = context.new_page()
    tab.goto(path.as_uri())
    yield tab
    context.close()


@pytest.fixture
def show(player_tab: Page, complaints: list[str]) -> Iterator[Callable[..., Page]]:
    """Show a trace in a new player of the shared tab, with everything or simple."""

    def mount(
        trace: Trace,
        language: str = "en",
        view: View | None = None,
        size: tuple[int, int] = (1440, 900),
        *,
        dark: bool = False,
        everything: bool = True,
    ) -> Page:
        player_tab.set_viewport_size({"width": size[0], "height": size[1]})
        player_tab.emulate_media(color_scheme="dark" if dark else "light")
        player_tab.mouse.move(0, 0)
        data = player_payload(trace, language=language, view=view)
        player_tab.evaluate(_SHOW_EVERYTHING, everything)
        player_tab.evaluate("(text) => show(text)", base64.b64encode(data).decode())
        player_tab.wait_for_selector(".plotted")
        settle(player_tab)
        return player_tab

    with listening(player_tab, complaints):
        yield mount
