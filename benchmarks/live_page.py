"""Time from a text to its painted attention on a page that needs no server.

    python -m benchmarks.live_page [--runs 8]

The static site, opened from disk in headless Chromium with the network off. "Opened" is from the
start of the navigation to the first painted map, plotly.js excluded, which follows. "Traced" is
from Enter to the first task after the frame that shows the new text, which nobody typed, as one of
the examples: the worker encodes, decodes step by step, captures in one pass and makes the payload
of the player; the checks of the trace and the drawing of Plotly follow. "Typed" is the same for a
text whose last key was pressed a quarter of a second before: the page has traced it by then. A text
is sent once all that is left of the one before is done.
"Slowed": the processor of the page, not of its worker, is throttled to a quarter, as DevTools does
it. "Step": another step of the text on screen, to compare with on a busy machine. Two texts in
turn; the first of each is not counted. Medians.
"""

import argparse
import statistics
import tempfile
from collections.abc import Sequence
from pathlib import Path

from playwright.sync_api import Page

from benchmarks.browser import PAINTED, chromium, new_page
from benchmarks.player import MEASURE
from explorer.app.static_site import write_static_site
from explorer.model.catalog import shipped_models

TEXTS = {  # 15 symbols and 14 pieces, with their ends
    "reverse": ("1 2 3 4 5 6 7 8 9 a b c d e f", "f e d c b a 9 8 7 6 5 4 3 2 1"),
    "english-french": (
        "The man who lives next door to us has bought a new car.",
        "The woman who lives next door to us has sold an old car.",
    ),
}
REST = 250  # ms between a drawn text, or the last key of a typed one, and Enter
OPENED = f"""
async () => {{{PAINTED}
  while (!document.querySelector("[data-testid=map] canvas")) await painted();
  return painted();
}}
"""
TRACED = f"""
async ({{ text, typed }}) => {{{PAINTED}
  while (document.querySelector(".redrawing")) await painted();
  const source = document.querySelector("[data-testid=source]");
  source.value = text;
  if (typed) source.dispatchEvent(new InputEvent("input"));
  await new Promise((resolve) => setTimeout(resolve, {REST}));
  const shown = new Promise((resolve) => {{
    history.pushState = (...to) => resolve(History.prototype.pushState.apply(history, to));
  }});
  const start = performance.now();
  source.form.requestSubmit();
  await shown; // the page writes its address in the task that draws
  return (await painted()) - start;
}}
"""
SLOWED = 4


def main(arguments: Sequence[str] | None = None) -> None:
    """Print a line for each model, as it is opened, traced and slowed down."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--runs", type=int, default=8)
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as name, chromium() as browser:
        out, listed = Path(name), shipped_models()
        write_static_site([listed[model] for model in TEXTS], out)
        for model, texts in TEXTS.items():
            page = new_page(browser)
            page.context.set_offline(True)
            page.goto((out / "index.html").as_uri() + f"#model={model}")
            report(f"{model}, opened", [page.evaluate(OPENED)])
            page.wait_for_selector(".plotted")
            for typed in (False, True):
                name = f"{model}, {'typed' if typed else 'traced'}"
                report(name, traced(page, texts, options.runs, typed))
            step = {"kind": "step", "count": options.runs}
            report(f"{model}, step", page.evaluate(MEASURE, step))
            session = page.context.new_cdp_session(page)
            session.send("Emulation.setCPUThrottlingRate", {"rate": SLOWED})
            report(f"{model}, slowed", traced(page, texts, options.runs))
            report(f"{model}, slowed, typed", traced(page, texts, options.runs, typed=True))
            page.context.close()


def traced(page: Page, texts: Sequence[str], runs: int, typed: bool = False) -> list[float]:
    """Milliseconds of `runs` traces of each text, after one of each: the last text differs from the
    first one, so that each trace is of another text than the one on screen."""
    asked = [{"text": text, "typed": typed} for text in [*texts] * (1 + runs)]
    return [page.evaluate(TRACED, one) for one in asked][len(texts) :]


def report(name: str, times: Sequence[float]) -> None:
    print(f"{name:30} {statistics.median(times):7.1f} ms")


if __name__ == "__main__":
    main()
