"""How fast the player draws: the time from a key or a pointer to the painted frame.

    python benchmarks/player.py

Exported pages, opened from disk in headless Chromium. "Painted" is the first task after the
frame that holds the change: key or pointer event → requestAnimationFrame → message posted to
ourselves, which arrives once the frame has been handed to the compositor. 5 warm-up steps, then
60 measured ones; median and 95th percentile.
"""

import statistics
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from explorer.components.html_export import html_page
from tests.support.chromium import find_chromium
from tests.support.example_traces import random_trace

MEASURE = """
async ({ kind, count }) => {
  const painted = () => new Promise((resolve) => requestAnimationFrame(() => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => resolve(performance.now());
    port2.postMessage(0);
  }));
  const map = document.querySelector("[data-testid=map]");
  const frame = map.querySelector(".clip").getBoundingClientRect();
  const act = (turn) => {
    if (kind === "step") {
      const key = turn % 2 ? "ArrowLeft" : "ArrowRight";
      document.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
    } else {
      const clientX = frame.left + frame.width * ((turn * 7 % 31) + 0.5) / 32;
      const clientY = frame.top + 3;
      map.dispatchEvent(new PointerEvent("pointermove", { clientX, clientY, bubbles: true }));
    }
  };
  const times = [];
  for (let turn = 0; turn < count + 5; turn += 1) {
    await new Promise((resolve) => setTimeout(resolve, 23)); // any place within a frame
    const start = performance.now();
    act(turn);
    const end = await painted();
    if (turn >= 5) times.push(end - start);
  }
  return times;
}
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


def report(name: str, times: list[float], target: int) -> None:
    """One line beside its target."""
    ordered = sorted(times)
    high = ordered[int(0.95 * (len(ordered) - 1))]
    middle = statistics.median(times)
    print(f"{name:36} median {middle:5.1f} ms  p95 {high:5.1f} ms  target ≤ {target} ms")


def opened(tab: Page, folder: Path, name: str, sizes: tuple[int, int, int, int]) -> None:
    """Show a random trace of `sizes` (queries, keys, layers, heads), in the middle of it."""
    file = folder / f"{name}.html"
    file.write_text(html_page(random_trace(*sizes)), encoding="utf-8")
    tab.goto(file.as_uri())
    tab.wait_for_selector(".plotted")
    tab.get_by_test_id("first").click()
    tab.keyboard.press("ArrowRight")
    tab.mouse.move(1, 1)
    tab.wait_for_timeout(300)


def main() -> None:
    """Measure everything and print it."""
    path = find_chromium()
    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        folder = Path(name)
        browser = playwright.chromium.launch(
            executable_path=path, args=["--no-sandbox", "--disable-gpu"]
        )
        tab = browser.new_page(viewport={"width": 1440, "height": 900})
        opened(tab, folder, "small", (32, 32, 2, 4))
        report("Next, 8 heads 32×32", tab.evaluate(MEASURE, {"kind": "step", "count": 60}), 35)
        report(
            "hover link, 8 heads 32×32", tab.evaluate(MEASURE, {"kind": "hover", "count": 60}), 25
        )
        opened(tab, folder, "many", (64, 64, 6, 8))
        report("Next, 48 heads 64×64", tab.evaluate(MEASURE, {"kind": "step", "count": 60}), 45)
        report(
            "hover link, 48 heads 64×64", tab.evaluate(MEASURE, {"kind": "hover", "count": 60}), 25
        )
        tab.get_by_test_id("play").click()
        print(f"{'Play, 48 heads 64×64':36} {tab.evaluate(FRAMES, 4):.1f} steps/s  target ≥ 10")
        opened(tab, folder, "large", (256, 256, 1, 1))
        report("Next, one map 256×256", tab.evaluate(MEASURE, {"kind": "step", "count": 60}), 60)
        browser.close()


if __name__ == "__main__":
    main()
