"""A page whose server takes long after a press says at once that it works."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, WebSocketRoute, expect

from tests.support.page_checks import wait_until

LINE = "getComputedStyle(document.querySelector('.stApp'), '::after')"
SHOWN = f"() => {LINE}.content !== 'none' && {LINE}.visibility === 'visible'"
RUNNING = 4
"""Messages of the server which say that it runs; the section comes behind them."""


class SlowServer:
    """Holds what the server draws after a press."""

    def __init__(self, tab: Page) -> None:
        self.let_through = 1000
        self.held: list[tuple[WebSocketRoute, str | bytes]] = []
        tab.route_web_socket("**/_stcore/stream", self.connect)

    def connect(self, page: WebSocketRoute) -> None:
        def answer(message: str | bytes) -> None:
            self.let_through -= 1
            if self.let_through < 0:
                self.held.append((page, message))
            else:
                page.send(message)

        page.connect_to_server().on_message(answer)

    def go_on(self) -> None:
        self.let_through = 1000
        for page, message in self.held:
            page.send(message)


@pytest.mark.parametrize(("language", "section"), [("en", "Measurements"), ("zh", "比较")])
def test_a_line_moves_below_the_header_until_the_answer_is_there(
    language: str, section: str, address: str, new_tab: Callable[..., Page]
) -> None:
    tab = new_tab()
    server = SlowServer(tab)
    tab.goto(f"{address}heads?lang={language}&model=reverse&text=7+3+9+1+4")
    expect(tab.get_by_test_id("head-grid")).to_be_visible()
    wait_until(tab, f"!({SHOWN})()")
    server.let_through = RUNNING
    tab.get_by_role("radio", name=section, exact=True).click()
    wait_until(tab, f"({SHOWN})()")
    server.go_on()
    wait_until(tab, f"!({SHOWN})()")
