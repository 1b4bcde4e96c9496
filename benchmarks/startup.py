"""Time from the start of the server until a visitor sees something.

    python -m benchmarks.startup [--runs 5] [--warm-up 1]

The clock starts with the server's process; the browser is already open. Three ways in turn: the app
by `streamlit run app.py`, by `python -m explorer`, and as the baseline a Streamlit page that holds
a title and a text box and nothing else. Each run starts a new server and a new browser profile; the
warm-up runs, which fill the file cache, are not counted.

Events: the shell (the title is on screen), the controls (so is the text box), the first heatmap
(the player has drawn its thumbnails), and another text, sent with Enter as soon as the heatmap is
there, which needs torch. Medians, and the median of the ratios to the shell of the empty page, run
by run. Target: heatmap at most 1.5 ×.
"""

import argparse
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from playwright.sync_api import Browser, Page

from benchmarks.browser import chromium, new_page
from tests.support.app_server import ROOT, free_port

EMPTY = 'import streamlit as st\nst.title("x")\nst.text_input("Source")\n'
APP = ("-m", "streamlit", "run", str(ROOT / "app.py"))
COMMAND = ("-m", "explorer")
EVENTS = ("shell", "controls", "heatmap", "text")


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the median, the best and the worst time of each event and its ratio."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--warm-up", type=int, default=1)
    options = parser.parse_args(arguments)
    times: dict[str, list[dict[str, float]]] = {"app.py": [], "command": [], "empty": []}
    with tempfile.TemporaryDirectory() as folder, chromium() as browser:
        new_page(browser).goto("about:blank")
        empty = Path(folder) / "app.py"
        empty.write_text(EMPTY, encoding="utf-8")
        ways = (("app.py", APP), ("command", COMMAND), ("empty", ("-m", "streamlit", "run", empty)))
        for _ in range(options.warm_up + options.runs):
            for name, command in ways:
                times[name].append(start(browser, command, drawn=name != "empty"))
    bare = [events["shell"] for events in times.pop("empty")[options.warm_up :]]
    print(
        f"an empty Streamlit page: median {statistics.median(bare):.2f} s ({options.runs} starts)"
    )
    for name, runs in times.items():
        for event in EVENTS:
            own = [events[event] for events in runs[options.warm_up :]]
            ratios = [time / least for time, least in zip(own, bare, strict=True)]
            print(
                f"{name:8} {event:8} median {statistics.median(own):.2f} s, best {min(own):.2f}, "
                f"worst {max(own):.2f}, {statistics.median(ratios):.2f} ×"
            )


def start(browser: Browser, command: Sequence[str | Path], *, drawn: bool) -> dict[str, float]:
    """Start a server and open its page: seconds from the start to each event. drawn: whether there
    is more than a shell."""
    port = free_port()
    page = new_page(browser)
    settings = {"STREAMLIT_SERVER_PORT": f"{port}", "STREAMLIT_SERVER_HEADLESS": "true"}
    began = time.perf_counter()
    server = subprocess.Popen(
        [sys.executable, *command],
        cwd=ROOT,
        env=os.environ | settings,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        wait_for_port(port)
        page.goto(f"http://127.0.0.1:{port}/", wait_until="commit")
        page.get_by_role("heading", level=1).first.wait_for()
        events = {"shell": time.perf_counter() - began}
        if drawn:
            page.get_by_role("textbox", name="Source").wait_for()
            events["controls"] = time.perf_counter() - began
            page.locator("[data-testid=heads] canvas").first.wait_for()
            events["heatmap"] = time.perf_counter() - began
            ask_for_another(page)
            events["text"] = time.perf_counter() - began
    finally:
        server.terminate()
        server.wait()
        page.context.close()
    return events


def ask_for_another(page: Page) -> None:
    """Send a text and wait until the player shows it."""
    source = page.get_by_role("textbox", name="Source")
    source.fill("3 1 2")
    source.press("Enter")
    strip = page.get_by_test_id("strip-source")
    strip.filter(has_text="312").or_(strip.filter(has_text="3\n1\n2")).wait_for(timeout=60_000)


def wait_for_port(port: int) -> None:
    """Return as soon as `port` accepts connections. Raises `TimeoutError` after 60 s."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.005)
    raise TimeoutError(f"port {port} accepts no connections")


if __name__ == "__main__":
    main()
