"""Time from a click to the painted calculation of a weight, in the app.

    python -m benchmarks.inside [--cells 40] [--openings 8]

Explore with the model english-french, headless Chromium. Opening the panel captures a layer in full
and fetches the queries, keys and values of a head; each opening is of a text not seen before. So is
each first look at another view of the panel, in the order of `VIEWS`: the path of the tokens, the
predictions after the other layers, and the model decoded without its scaling. A cell of a head that
is here, or a view seen before, needs no server. Beside them stands one step with the panel closed,
the baseline of the same run.
"""

import argparse
import statistics
from collections.abc import Sequence

from playwright.sync_api import Page

from benchmarks.browser import PAINTED, chromium, new_page
from benchmarks.timing import percentile_95
from tests.support.app_server import running_app

SENTENCE = "The black cat is sleeping on the red chair."
QUERY = "?lang=en&model=english-french&site=cross&layer=1&head=0&step=4&text="

VIEWS = {
    "before": "path-query",
    "after": "path-heads",
    "depth": "depth-table",
    "without": "without-other",
    "cell": "inside-sentence",
}
"""By the view of the panel, what is on screen once it is painted."""

CLICK_CELLS = f"""
async (player, {{ count, step }}) => {{{PAINTED}
  const map = player.querySelector("[data-testid=map]");
  const frame = map.querySelector(".clip").getBoundingClientRect();
  const sentence = player.querySelector("[data-testid=inside-sentence]");
  const times = [];
  for (let turn = 0; turn < count + 5; turn += 1) {{
    const before = sentence.textContent;
    await new Promise((resolve) => setTimeout(resolve, 37));
    const start = performance.now();
    if (step) {{
      const key = turn % 2 ? "ArrowLeft" : "ArrowRight";
      document.dispatchEvent(new KeyboardEvent("keydown", {{ key, bubbles: true }}));
    }} else {{
      const clientX = frame.left + frame.width * ((turn % 8) + 0.5) / 11;
      const clientY = frame.top + frame.height * 3.5 / 9;
      const where = {{ clientX, clientY, bubbles: true, composed: true }};
      for (const kind of ["pointerdown", "pointerup"])
        map.dispatchEvent(new PointerEvent(kind, where));
    }}
    const end = await painted();
    if (!step && sentence.textContent === before) throw new Error("nothing changed");
    if (turn >= 5) times.push(end - start);
  }}
  return times;
}}
"""
OPEN = f"""
async (player) => {{{PAINTED}
  const start = performance.now();
  player.querySelector("[data-testid=inside-open]").click();
  const sentence = player.querySelector("[data-testid=inside-sentence]");
  while (!sentence.checkVisibility())
    await new Promise((resolve) => requestAnimationFrame(resolve));
  return (await painted()) - start;
}}
"""


SHOW = f"""
async (player, {{ view, shown }}) => {{{PAINTED}
  const start = performance.now();
  player.querySelector(`[data-testid=inside_part-${{view}}]`).click();
  const found = player.querySelector(`[data-testid=${{shown}}]`);
  do await new Promise((resolve) => requestAnimationFrame(resolve));
  while (!found.checkVisibility() || !found.textContent);
  return (await painted()) - start;
}}
"""


def main(arguments: Sequence[str] | None = None) -> None:
    """Print a line for opening the panel, for each of its views, first and again, for a cell in it,
    and for a step without it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cells", type=int, default=40)
    parser.add_argument("--openings", type=int, default=8)
    options = parser.parse_args(arguments)
    with running_app() as address, chromium() as browser:
        page = new_page(browser)
        player = page.get_by_test_id("player")
        openings: list[float] = []
        first: list[dict[str, float]] = []
        again: list[dict[str, float]] = []
        for number in range(options.openings, -1, -1):
            openings.append(opening(page, address, number))
            for looks in (first, again):
                looks.append({view: look(page, view) for view in VIEWS})
        cells = player.evaluate(CLICK_CELLS, {"count": options.cells, "step": False})
        page.get_by_test_id("inside-close").click()
        steps = player.evaluate(CLICK_CELLS, {"count": options.cells, "step": True})
    report("opening Inside", openings[1:], 500)
    for view in VIEWS:
        if view != "cell":  # it was open before
            report(f"view {view}, first", [one[view] for one in first[1:]], 500)
    for view in VIEWS:
        report(f"view {view}, again", [one[view] for one in again[1:]], 500)
    report("another cell", cells, 50)
    report("one step, Inside closed", steps, 50)


def opening(page: Page, address: str, number: int) -> float:
    """Milliseconds until the calculation of a text not seen before is painted."""
    page.goto(f"{address}{QUERY}{SENTENCE} {'I know. ' * (number % 4)}{'Yes. ' * (number // 4)}")
    page.wait_for_selector(".plotted")
    page.wait_for_timeout(700)
    spent: float = page.get_by_test_id("player").evaluate(OPEN)
    return spent


def look(page: Page, view: str) -> float:
    """Milliseconds until a view of the open panel is painted."""
    wanted = {"view": view, "shown": VIEWS[view]}
    spent: float = page.get_by_test_id("player").evaluate(SHOW, wanted)
    return spent


def report(name: str, times: Sequence[float], target: int) -> None:
    """Print one line: times and target in ms."""
    print(
        f"{name:24} median {statistics.median(times):5.0f} ms  "
        f"p95 {percentile_95(times):5.0f} ms  target ≤ {target} ms"
    )


if __name__ == "__main__":
    main()
