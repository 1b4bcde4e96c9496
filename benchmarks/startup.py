"""How long after `streamlit run app.py` does a person see something?

The clock starts when the server's process is started; the browser is open already, as it is on
a desk. Three moments: the shell (the title is on screen), the controls (so is the text box) and
the first heatmap (the player has drawn its thumbnails from a trace decoded after the start, not
from a file).
Targets: shell ≤ 2.0 s, heatmap ≤ 3.5 s. Baseline, in turn with it: a Streamlit page that holds a
title and a text box and nothing else. Each run starts a new server and a new browser profile;
the file cache is warm from a first run that is not counted.

    python benchmarks/startup.py [--runs 5]
"""

import argparse
import os
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

ROOT = Path(__file__).resolve().parent.parent
EMPTY = 'import streamlit as st\nst.title("x")\nst.text_input("Source")\n'
TARGETS = {"shell": 2.0, "controls": 3.5, "heatmap": 3.5}
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"]


def main() -> None:
    """Print the median, the best and the worst of both moments beside their targets."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=5)
    runs = parser.parse_args().runs
    with sync_playwright() as playwright:
        chromium = shutil.which("chromium")
        browser = playwright.chromium.launch(executable_path=chromium, args=ARGUMENTS)
        browser.new_context().new_page().goto("about:blank")
        measured, bare = [], []
        with tempfile.TemporaryDirectory() as folder:
            empty = Path(folder) / "app.py"
            empty.write_text(EMPTY, encoding="utf-8")
            for _ in range(runs + 1):
                measured.append(start(browser, ROOT / "app.py", heatmap=True))
                bare.append(start(browser, empty, heatmap=False)["shell"])
        measured, bare = measured[1:], bare[1:]
        browser.close()
    print(f"an empty Streamlit page: median {statistics.median(bare):.2f} s")
    for name, target in TARGETS.items():
        times = [moments[name] for moments in measured]
        print(
            f"{name:8s} median {statistics.median(times):.2f} s, best {min(times):.2f}, "
            f"worst {max(times):.2f}, target {target:.1f} ({runs} starts)"
        )


def start(browser: Browser, app: Path, *, heatmap: bool) -> dict[str, float]:
    """Start a server for `app` and open it; the seconds from its start to each moment."""
    port = free_port()
    page = browser.new_context(viewport={"width": 1440, "height": 900}).new_page()
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
    """Return as soon as somebody listens on `port`."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.005)
    raise TimeoutError(f"nobody listens on port {port}")


def free_port() -> int:
    """A port nobody uses now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


if __name__ == "__main__":
    main()
