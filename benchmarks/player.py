"""Time from a key or a pointer event in the player to the painted frame.

    python -m benchmarks.player [--steps 60] [--seconds 4] [--tokens 2048] [--long]

Exported pages, opened from disk in headless Chromium. "Painted" is the first task after the
frame that holds the change: key or pointer event → requestAnimationFrame → message posted to
the page itself, which arrives once the frame has been handed to the compositor. 5 warm-up
events, then the measured ones; median and 95th percentile.

The long text, of a decoder of 12 × 12 heads whose page holds few of them, is stepped through at its
end, where the most tokens are seen. What the main thread spends on a step is less changed by other
programs than how long the step takes. What the app sends of it is measured by itself: the first
payload, the weights of a head, which the first picture needs as well, and what is asked for later.
"""

import argparse
import statistics
import tempfile
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from playwright.sync_api import CDPSession, Page

from benchmarks.browser import PAINTED, chromium, new_page
from benchmarks.timing import percentile_95, processor_milliseconds
from explorer.components.player.payload import Offer, player_payload
from explorer.components.trace_questions import offered
from explorer.core.trace import Trace
from explorer.core.words import word_axes
from tests.support.example_traces import long_trace, random_trace

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


def show(page: Page, folder: Path, trace: Trace) -> None:
    """Show an exported trace."""
    file = folder / "player.html"
    trace.to_html(file)
    page.goto(file.as_uri())
    page.wait_for_selector(".plotted")


def open_page(page: Page, folder: Path, trace: Trace) -> None:
    """Show an exported trace at its second step."""
    show(page, folder, trace)
    page.get_by_test_id("first").click()
    page.keyboard.press("ArrowRight")
    page.mouse.move(1, 1)
    page.wait_for_timeout(300)


def measure_payloads(trace: Trace) -> None:
    """Print what a large trace of a decoder takes the app, each answer twice: only the first one of
    a trace looks for its largest weight."""
    questions = {one.name: one for one in offered(trace, None)}
    offer = Offer(names=tuple(questions))
    pieces, words = len(trace.target_tokens), len(word_axes(trace)["decoder"][0])
    half = f"{pieces // 4}-{3 * pieces // 4}"
    answers = {
        "weights of a head": ("head", "pieces/decoder/0/0"),
        "pictures of words": ("pictures", f"words/decoder/0-{words - 1}.0-{words - 1}"),
        "pictures of a quarter": ("pictures", f"pieces/decoder/{half}.{half}"),
        "checks": ("integrity", ""),
    }
    runs = {"first payload": lambda: player_payload(trace, offer=offer)}
    for label, (name, place) in answers.items():
        question = questions[name]
        runs[label] = partial(question.answer, trace, None, question.place(place, trace))
    for label, run in [*runs.items()] * 2:
        start = time.perf_counter()
        spent = processor_milliseconds(run) / 1000
        taken = time.perf_counter() - start
        print(f"{label:36} {taken:.2f} s, {spent:.2f} s of processor time")


def measure_long(page: Page, folder: Path, trace: Trace, steps: int) -> None:
    """Measure the page of a trace of a long text and 144 heads, and print each case."""
    tokens = len(trace.target_tokens)
    name = f"144 heads {tokens}×{tokens}"
    show(page, folder, trace)
    paint = "performance.getEntriesByName('first-contentful-paint')[0].startTime"
    print(f"{f'page, {name}':36} first paint {page.evaluate(paint) / 1000:.1f} s")
    page.mouse.move(1, 1)
    page.wait_for_timeout(300)
    client = page.context.new_cdp_session(page)
    client.send("Performance.enable")
    for kind, label, target in (("step", "Next", 33), ("hover", "hover link", 50)):
        before = main_thread_seconds(client)
        times = page.evaluate(MEASURE, {"kind": kind, "count": steps})
        each = 1000 * (main_thread_seconds(client) - before) / (steps + 5)
        report(f"{label}, {name}", times, target)
        print(f"{'':36} main thread {each:.1f} ms each")


def main_thread_seconds(client: CDPSession) -> float:
    """What the main thread of a page has spent on tasks."""
    metrics = client.send("Performance.getMetrics")["metrics"]
    return next(one["value"] for one in metrics if one["name"] == "TaskDuration")


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure every case and print it beside its target."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--seconds", type=float, default=4, help="how long to count Play's steps")
    parser.add_argument("--tokens", type=int, default=2048, help="of the long text")
    parser.add_argument("--long", action="store_true", help="what the app sends of the long text")
    options = parser.parse_args(arguments)
    long = long_trace(options.tokens)
    measure_payloads(long)
    if options.long:
        return
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
        measure_long(page, folder, long, options.steps)


if __name__ == "__main__":
    main()
