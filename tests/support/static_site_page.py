"""What a person does on a page without a server, and models that are held back from it."""

from collections.abc import Callable

from playwright.sync_api import Page, Route

from tests.support.browsers import ENGINE

_CHROMIUMS_OWN = {
    "Invalid or unexpected token",
    "Unexpected end of input",
    "Failed to load resource: net::ERR_FILE_NOT_FOUND",
    "Failed to load resource: net::ERR_INTERNET_DISCONNECTED",
}

Opener = Callable[..., tuple[Page, dict[str, list[Route]]]]


def forget_browsers_own(complaints: list[str]) -> None:
    """Clear what the browser itself says of a file that is cut off or missing; other engines than
    Chromium say it in other words."""
    if ENGINE == "chromium":
        assert set(complaints) <= _CHROMIUMS_OWN
    complaints.clear()


def holder(held: list[Route]) -> Callable[[Route], None]:
    """What keeps a request until it is let go."""
    return lambda route: held.append(route)


def let_go(tab: Page, held: list[Route]) -> None:
    while not held:
        tab.wait_for_timeout(20)
    (route,) = held  # asked for once
    route.continue_()


def type_source(tab: Page, text: str) -> None:
    tab.get_by_role("textbox", name="Source").fill(text)
    tab.keyboard.press("Enter")
