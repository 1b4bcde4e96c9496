"""Processor time of the server for a page: the first visit of a browser, and a reload.

    python -m benchmarks.page_loads [--runs 20] [--warm-up 1]

Explore, headless Chromium. At a first visit nothing is cached in the browser, so it
fetches all scripts of the page; a reload fetches the page alone. Both wait for the first heatmap,
and then until the server rests. Processor time hardly depends on what else the machine does.
Linux only.
"""

import argparse
import statistics
import time
from collections.abc import Callable, Sequence

from playwright.sync_api import Browser, Page

from benchmarks.browser import chromium, new_page
from benchmarks.timing import processor_seconds
from tests.support.app_server import running_process

REST = 0.3
"""Seconds; a server that computes less than a hundredth of them has answered everything."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the median, the least and the most of both."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--warm-up", type=int, default=1)
    options = parser.parse_args(arguments)
    with running_process() as (address, process), chromium() as browser:
        runs = [load(browser, address, process.pid) for _ in range(options.warm_up + options.runs)]
    for name, times in zip(("first visit", "reload"), zip(*runs, strict=True), strict=True):
        counted = [1000 * seconds for seconds in times[options.warm_up :]]
        print(
            f"{name}: median {statistics.median(counted):.0f} ms, least {min(counted):.0f}, "
            f"most {max(counted):.0f} ({len(counted)} loads)"
        )


def load(browser: Browser, address: str, process: int) -> tuple[float, float]:
    """Processor seconds of the server for a first visit, and for the reload that follows it."""
    page = new_page(browser)
    try:
        return (
            _spent(process, page, lambda: page.goto(address)),
            _spent(process, page, page.reload),
        )
    finally:
        page.context.close()


def _spent(process: int, page: Page, opens: Callable[[], object]) -> float:
    before = at_rest(process)
    opens()
    page.locator("[data-testid=heads] canvas").first.wait_for()
    return at_rest(process) - before


def at_rest(process: int) -> float:
    """Wait until the server has answered everything; its processor time by then."""
    before, now = -1.0, processor_seconds(process)
    while now - before > REST / 100:
        time.sleep(REST)
        before, now = now, processor_seconds(process)
    return now


if __name__ == "__main__":
    main()
