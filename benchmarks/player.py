"""Time from a key or a pointer event in the player to the painted frame.

    python -m benchmarks.player [--steps 60] [--seconds 4]

Exported pages, opened from disk in headless Chromium. "Painted" is the first task after the
frame that holds the change: key or pointer event → requestAnimationFrame → message posted to
the page itself, which arrives once the frame has been handed to the compositor. 5 warm-up
events, then the measured ones; median and 95th percentile.
"""

import argparse
import statistics
import tempfile
from collections.abc import Sequence
from pathlib import Path

from playwright.sync_api import Page

from benchmarks.browser import PAINTED, chromium, new_page
from benchmarks.timing import percentile_95
from explorer.core.trace import Trace
from tests.support.example_traces import random_trace

MEASURE = f"""
async ({{ kind, count }}) => {{{PAINTED}
  const map = document.querySelector("[data-testid=map]");
  const frame = map.querySelector(".clip").getBoundingClientRect();
  const act = (turn) => {{
    if (kind === "step") {{
      const key = turn % 2 ? "ArrowLeft" : "ArrowRight";
      document.dispatchEvent(new KeyboardEvent("keydown", {{ key, bubbles: true }}));
    }} else if (kind === "head") {{
      const heads = document.querySelectorAll("[data-head]");
      heads[turn % heads.length].click();
    }} else {{
      const clientX = frame.left + frame.width * ((turn * 7 % 31) + 0.5) / 32;
      const clientY = frame.top + 3;
      map.dispatchEvent(new PointerEvent("pointermove", {{ clientX, clientY, bubbles: true }}));
    }}
  }};
  const times = [];
  for (let turn = 0; turn < count + 5; turn += 1) {{
    await new Promise((resolve) => setTimeout(resolve, 23)); // at any time within a frame
    const start = performance.now();
    act(turn);
    const end = await painted();
    if (turn >= 5) times.push(end - start);
  }}
  return times;
}}
"""
FRAMES = """
async (seconds) => {
  const count = document.querySelector("[data-testid=step-count]");
  let [steps, last] = [0, ""];
  const end = performance.now() + seconds * 1000;
  while (performance.now() < end) {
    await new Promise((resolve) => requestAnimationFrame(resolve));
    if (count.textContent !== last) steps += 1;
    last = count.textContent;
  }
  return steps / seconds;
}
"""


def report(name: str, times: Sequence[float], target: int) -> None:
    """Print one line: times and target in ms."""
    print(
        f"{name:36} median {statistics.median(times):5.1f} ms  "
        f"p95 {percentile_95(times):5.1f} ms  target ≤ {target} ms"
    )


def open_page(page: Page, folder: Path, trace: Trace) -> None:
    """Show an exported trace at its second step."""
    file = folder / "player.html"
    trace.to_html(file)
    page.goto(file.as_uri())
    page.wait_for_selector(".plotted")
    page.get_by_test_id("first").click()
    page.keyboard.press("ArrowRight")
    page.mouse.move(1, 1)
    page.wait_for_timeout(300)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure every case and print it beside its target."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--seconds", type=float, default=4, help="how long to count Play's steps")
    options = parser.parse_args(arguments)
    step, hover = ({"kind": kind, "count": options.steps} for kind in ("step", "hover"))
    with tempfile.TemporaryDirectory() as name, chromium() as browser:
        folder, page = Path(name), new_page(browser)
        open_page(page, folder, random_trace(32, 32, layers=2, heads=4))
        report("Next, 8 heads 32×32", page.evaluate(MEASURE, step), 35)
        report("hover link, 8 heads 32×32", page.evaluate(MEASURE, hover), 25)
        open_page(page, folder, random_trace(64, 64, layers=6, heads=8))
        report("Next, 48 heads 64×64", page.evaluate(MEASURE, step), 45)
        report("hover link, 48 heads 64×64", page.evaluate(MEASURE, hover), 25)
        page.get_by_test_id("play").click()
        rate = page.evaluate(FRAMES, options.seconds)
        print(f"{'Play, 48 heads 64×64':36} {rate:.1f} steps/s  target ≥ 10")
        open_page(page, folder, random_trace(256, 256, layers=1, heads=1))
        report("Next, one map 256×256", page.evaluate(MEASURE, step), 60)
        open_page(page, folder, random_trace(512, 512, layers=1, heads=2))
        head = {"kind": "head", "count": options.steps}
        report("another head, 512×512", page.evaluate(MEASURE, head), 100)


if __name__ == "__main__":
    main()
