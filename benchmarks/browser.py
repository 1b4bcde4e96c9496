"""A headless Chromium for the measurements, and how they tell that a change is painted."""

from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Browser, Page, sync_playwright

from tests.support.browsers import RETURNING, launch

PAINTED = """
  // Resolves with the time of the first task after the next frame: by then the frame has been
  // handed to the compositor.
  const painted = () => new Promise((resolve) => requestAnimationFrame(() => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => resolve(performance.now());
    port2.postMessage(0);
  }));
"""
"""JavaScript to insert at the beginning of a measuring function."""


@contextmanager
def chromium() -> Iterator[Browser]:
    """Headless Chromium, until the block ends."""
    with sync_playwright() as playwright:
        browser = launch(playwright)
        yield browser
        browser.close()


def new_page(browser: Browser) -> Page:
    """A page of 1440×900 of a returning visitor with a profile of its own: nothing is cached."""
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    context.add_init_script(RETURNING)
    return context.new_page()
