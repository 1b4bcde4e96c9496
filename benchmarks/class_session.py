"""Time from the host's click to the painted step at a guest, with a class that follows.

    python -m benchmarks.class_session [--guests 30] [--steps 60] [--pace 0.5] [--warm-up 4]

One server in class mode. The host's page and one guest's are tabs of a real browser; all other
guests are event streams, each from an address of its own, read to the end. The host clicks Next, or
First after the last step, every `--pace` seconds. The time runs from the click, in the host's tab,
to the first task after the first frame in which the guest's tab shows that step; both are read
from the same clock. Where there are two cores, the server has the first alone, and browser and
streams the last. An error is a step that the guest does not show within five seconds, a stream
that ends or is refused or has not been told the last step, and a complaint of a page. Linux only.
"""

import argparse
import asyncio
import os
import re
import statistics
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from playwright.sync_api import Browser, Page

from benchmarks.browser import chromium, new_page
from benchmarks.class_guests import address_of
from benchmarks.page_loads import at_rest
from benchmarks.timing import percentile_95, processor_seconds
from benchmarks.visitors import core
from explorer.app.server import access
from explorer.app.server.class_route import EVENTS_PATH
from tests.support.app_server import running_process

PATIENCE = 5.0
"""Seconds after which a step is missing."""

FIND = """
  const part = (key, selector) => [...document.querySelectorAll(`.st-key-${key} *`)]
    .map((node) => node.shadowRoot?.querySelector(selector)).find(Boolean)
    ?? document.querySelector(selector);
"""
"""The host's Explore is a component of Streamlit's page, a guest's a part of its page."""

CLICK = f"""(button) => {{{FIND}
  const now = performance.timeOrigin + performance.now();
  part("explore", `[data-testid=${{button}}]`).click();
  return now;
}}"""
WATCH = f"""() => {{{FIND}
  window.shown = [];
  const channel = new MessageChannel();
  let last = "";
  channel.port1.onmessage = ({{ data }}) =>
    window.shown.push([data, performance.timeOrigin + performance.now()]);
  const look = () => {{
    const text = part("explore", "[data-testid=step-count]")?.textContent ?? "";
    if (text !== last) channel.port2.postMessage(text);
    last = text;
    requestAnimationFrame(look);
  }};
  look();
}}"""
SHOWN_SINCE = "(time) => window.shown.filter((one) => one[1] > time)"
STEPS = 7  # of the text that the app opens with
_SHOWN = re.compile(rb'"query": {[^}]*"step": "(\d+)"')


@dataclass
class Streams:
    """Guests without a browser.

    told: the step that each was told last.
    """

    address: str
    told: dict[int, int] = field(default_factory=dict)
    errors: int = 0

    async def follow(self, number: int) -> None:
        """Read one event stream until it ends, which it does not by itself."""
        parts = urlsplit(self.address)
        reader, writer = await asyncio.open_connection(
            parts.hostname, parts.port, local_addr=(address_of(number), 0)
        )
        request = f"GET {EVENTS_PATH} HTTP/1.1\r\nHost: {parts.netloc}\r\n\r\n"
        writer.write(request.encode())
        try:
            while line := await reader.readline():
                if line.startswith(b"HTTP/") and b" 200 " not in line:
                    break
                if found := _SHOWN.search(line):
                    self.told[number] = int(found[1])
            self.errors += 1
        finally:
            writer.close()


@contextmanager
def following(address: str, count: int) -> Iterator[Streams]:
    """`count` streams, read in a thread until the block ends."""
    streams, loop = Streams(address), asyncio.new_event_loop()
    tasks = [loop.create_task(streams.follow(number)) for number in range(count)]

    async def read_all() -> None:
        await asyncio.gather(*tasks, return_exceptions=True)

    thread = threading.Thread(target=loop.run_until_complete, args=(read_all(),))
    thread.start()
    try:
        yield streams
    finally:
        for task in tasks:
            loop.call_soon_threadsafe(task.cancel)
        thread.join()
        loop.close()


def open_tab(browser: Browser, address: str, complaints: list[str], *, host: bool) -> Page:
    """The app in a tab with a profile of its own."""
    tab = new_page(browser)
    tab.on("pageerror", lambda error: complaints.append(str(error)))
    if host:
        cookie = {"name": access.cookie_name(), "value": access.cookie_value(), "url": address}
        tab.context.add_cookies([cookie])  # type: ignore[list-item]
    tab.goto(address)
    tab.wait_for_selector(".plotted")
    return tab


def lead(host: Page) -> None:
    """Let the class follow the host, from the first step on."""
    host.get_by_role("button", name="Share").click()
    host.get_by_test_id("class-lead").check()
    host.keyboard.press("Escape")
    host.evaluate(CLICK, "first")
    host.wait_for_timeout(1000)


def step(tabs: Sequence[Page], number: int, pace: float) -> list[float] | None:
    """Milliseconds from the click in the first tab to step `number` in each; None where one misses
    it."""
    began = time.perf_counter()
    clicked = tabs[0].evaluate(CLICK, "next" if number > 1 else "first")
    wanted = f"step {number}/{STEPS}"
    while time.perf_counter() < began + PATIENCE:
        time.sleep(max(0.05, began + pace - time.perf_counter()))  # asking takes time of the tabs
        shown = [dict(tab.evaluate(SHOWN_SINCE, clicked)) for tab in tabs]
        if all(wanted in one for one in shown):
            return [one[wanted] - clicked for one in shown]
    return None


def measure(browser: Browser, address: str, process: int, options: argparse.Namespace) -> None:
    """Let the host step, and print times, errors and the server's processor time."""
    complaints: list[str] = []
    host = open_tab(browser, address, complaints, host=True)
    guest = open_tab(browser, address, complaints, host=False)
    at_rest(process)  # it has made the guests' files
    with following(address, options.guests - 1) as streams:
        lead(host)
        tabs = (host, guest)
        for tab in tabs:
            tab.evaluate(WATCH)
        guest.get_by_test_id("class-status").wait_for()
        numbers = [turn % STEPS + 1 for turn in range(1, options.warm_up + options.steps + 1)]
        for number in numbers[: options.warm_up]:
            step(tabs, number, options.pace)
        spent = processor_seconds(process)
        taken = [step(tabs, one, options.pace) for one in numbers[options.warm_up :]]
        spent = processor_seconds(process) - spent
        late = sum(streams.told.get(one) != numbers[-1] for one in range(options.guests - 1))
        errors = taken.count(None) + streams.errors + late + len(complaints)
    times = [one for one in taken if one is not None]
    print(f"{options.guests} guests, {len(taken)} steps, {errors} errors (target 0)")
    for name, own in zip(
        ("the host's tab", "the guest's tab"), zip(*times, strict=True), strict=True
    ):
        target = " (target ≤ 250)" if "guest" in name else ""
        median, high = statistics.median(own), percentile_95(own)
        print(f"click to paint in {name}: median {median:.0f} ms, p95 {high:.0f} ms{target}")
    print(f"processor time of the server: {1000 * spent / len(taken):.1f} ms a step")


def main(arguments: Sequence[str] | None = None) -> None:
    """Start a server in class mode and a browser, and measure."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--guests", type=int, default=30)
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--pace", type=float, default=0.5)
    parser.add_argument("--warm-up", type=int, default=4)
    options = parser.parse_args(arguments)
    os.environ[access.KEY_VARIABLE] = "benchmark"
    with ExitStack() as stack:
        with core(first=True):
            address, process = stack.enter_context(running_process())
        with core(first=False):
            browser = stack.enter_context(chromium())
            measure(browser, address, process.pid, options)


if __name__ == "__main__":
    main()
