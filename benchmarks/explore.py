"""Time from Enter to the painted attention of a new text on the page Explore.

    python -m benchmarks.explore [--texts 40]

"Painted" is the first task after the first frame with the tokens of the new text. "Typed" is a text
whose last key was pressed a quarter of a second before Enter, so that the page has asked for it by
then; "untyped", the baseline, one that comes with Enter, as an example does; they take turns at
random. No text is asked for twice, and all of a model have the same length. Medians with their
quartiles, and how many times as fast as untyped: the median of 1,000 bootstrap samples, with its
95 % interval.
"""

import argparse
import random
import statistics
from collections.abc import Sequence
from contextlib import ExitStack
from itertools import product

from playwright.sync_api import Page

from benchmarks.browser import PAINTED, chromium, new_page
from tests.support.app_server import running_app

WAYS = ("untyped", "typed")
REST = 250  # ms between the last key and Enter
SOURCE = "input[aria-label='Source']"
FIND = """
  const found = (selector, root = document) => {
    const own = root.querySelector(selector);
    if (own) return own;
    for (const { shadowRoot } of root.querySelectorAll("*")) {
      const inside = shadowRoot && found(selector, shadowRoot);
      if (inside) return inside;
    }
    return null;
  };
  const tokens = () => found("[data-testid=strip-source]")?.innerText;
"""
WATCH = f"""
() => {{{PAINTED}{FIND}
  const before = tokens();
  window.entered = new Promise((resolve) => {{
    const enter = async ({{ key }}) => {{
      if (key !== "Enter") return;
      removeEventListener("keydown", enter, true);
      const start = performance.now();
      let now = start;
      while (tokens() === before) {{
        if (now > start + 60000) throw new Error("no text within 60 s");
        now = await painted();
      }}
      resolve(now - start);
    }};
    addEventListener("keydown", enter, true);
  }});
}}
"""
UNTYPED = f"""
(text) => {{{FIND}
  const source = found("[data-testid=source]");
  source.value = text;
  source.focus();
}}
"""


def texts(model: str, count: int, generator: random.Random) -> list[str]:
    """Different texts of one length, of 9 symbols or some 10 pieces."""
    if model == "reverse":
        drawn = {" ".join(generator.choices("123456789abcdef", k=9)) for _ in range(2 * count)}
        return sorted(drawn)[:count]
    words = (
        ("old", "young", "small", "tall", "good"),
        ("man", "woman", "girl", "boy", "child"),
        ("red", "new", "large", "white", "black"),
        ("house", "car", "book", "table", "door"),
    )
    listed = [f"The {a} {b} sees the {c} {d} today." for a, b, c, d in product(*words)]
    return generator.sample(listed, count)


def time_of(page: Page, text: str, how: str) -> float:
    """Milliseconds from Enter to the painted text."""
    page.bring_to_front()
    source = page.locator(SOURCE).first
    source.click()
    page.evaluate(WATCH)
    if how == "typed":
        source.fill(text)
    else:
        page.evaluate(UNTYPED, text)
    page.wait_for_timeout(REST)
    page.keyboard.press("Enter")
    spent: float = page.evaluate("() => window.entered")
    page.wait_for_timeout(700)  # until the look is reported, and drawn by a run of the script
    return spent


def main(arguments: Sequence[str] | None = None) -> None:
    """Print a line for each model and way."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--texts", type=int, default=40)
    options = parser.parse_args(arguments)
    generator = random.Random(0)
    with ExitStack() as stack:
        page = new_page(stack.enter_context(chromium()))
        address = stack.enter_context(running_app())
        for model in ("reverse", "english-french"):
            page.goto(f"{address}?model={model}")
            page.locator(SOURCE).first.wait_for(timeout=60_000)
            page.get_by_test_id("strip-source").wait_for(timeout=60_000)
            page.wait_for_timeout(3000)
            report(model, measured(model, page, options.texts, generator))


def measured(
    model: str, page: Page, count: int, generator: random.Random
) -> dict[str, list[float]]:
    """Times by way, after two texts of each that are not counted."""
    warm, turns = [*WAYS] * 2, [*WAYS] * count
    generator.shuffle(turns)
    order = warm + turns
    times: dict[str, list[float]] = {way: [] for way in WAYS}
    for way, text in zip(order, texts(model, len(order), generator), strict=True):
        times[way].append(time_of(page, text, way))
    return {way: own[2:] for way, own in times.items()}


def report(model: str, times: dict[str, list[float]]) -> None:
    generator, baseline = random.Random(0), times["untyped"]
    for how, own in times.items():
        low, middle, high = statistics.quantiles(own, n=4)
        ratios = sorted(
            statistics.median(generator.choices(baseline, k=len(baseline)))
            / statistics.median(generator.choices(own, k=len(own)))
            for _ in range(1000)
        )
        print(
            f"{model:15} {how:8} {middle:6.0f} ms ({low:.0f} to {high:.0f})   "
            f"{statistics.median(ratios):.2f} × ({ratios[25]:.2f} to {ratios[974]:.2f})"
        )


if __name__ == "__main__":
    main()
