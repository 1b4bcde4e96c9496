"""Time from the start of the server until a visitor sees something.

    python -m benchmarks.startup [--runs 5] [--warm-up 1]

The clock starts with the server's process, `streamlit run app.py`; the browser is already open.
Three events: the shell (the title is on screen), the controls (so is the text box) and the
first heatmap (the player has drawn its thumbnails from a trace decoded after the start, not
read from a file). Targets: shell ≤ 2.0 s, heatmap ≤ 3.5 s. Baseline, in turn with it: a
Streamlit page that holds a title and a text box and nothing else. Each run starts a new server
and a new browser profile; the warm-up runs, which fill the file cache, are not counted.
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

from playwright.sync_api import Browser

from benchmarks.browser import chromium, new_page
from tests.support.app_server import ROOT, free_port

EMPTY = 'import streamlit as st\nst.title("x")\nst.text_input("Source")\n'
TARGETS = {"shell": 2.0, "controls": 3.5, "heatmap": 3.5}
"""Seconds."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the median, the best and the worst time of each event beside its target."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--warm-up", type=int, default=1)
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder, chromium() as browser:
        new_page(browser).goto("about:blank")
        empty = Path(folder) / "app.py"
        empty.write_text(EMPTY, encoding="utf-8")
        measured, bare = [], []
        for _ in range(options.warm_up + options.runs):
            measured.append(start(browser, ROOT / "app.py", heatmap=True))
            bare.append(start(browser, empty, heatmap=False)["shell"])
    measured, bare = measured[options.warm_up :], bare[options.warm_up :]
    print(f"an empty Streamlit page: median {statistics.median(bare):.2f} s")
    for name, target in TARGETS.items():
        times = [events[name] for events in measured]
        print(
            f"{name:8s} median {statistics.median(times):.2f} s, best {min(times):.2f}, "
            f"worst {max(times):.2f}, target {target:.1f} ({options.runs} starts)"
        )


def start(browser: Browser, app: Path, *, heatmap: bool) -> dict[str, float]:
    """Start a server for `app` and open it: seconds from the start to each event."""
    port = free_port()
    page = new_page(browser)
    options = [f"--server.port={port}", "--server.headless=true"]
    command = [sys.executable, "-m", "streamlit", "run", str(app), *options]
    began = time.perf_counter()
    server = subprocess.Popen(
        command,
        cwd=app.parent,
        env=os.environ,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        wait_for_port(port)
        listening = time.perf_counter() - began
        page.goto(f"http://127.0.0.1:{port}/", wait_until="commit")
        page.get_by_role("heading", level=1).first.wait_for()
        shell = time.perf_counter() - began
        page.get_by_role("textbox", name="Source").wait_for()
        controls = time.perf_counter() - began
        if heatmap:
            page.locator("[data-testid=heads] canvas").first.wait_for()
        painted = time.perf_counter() - began
    finally:
        server.terminate()
        server.wait()
        page.context.close()
    return {"listening": listening, "shell": shell, "controls": controls, "heatmap": painted}


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
