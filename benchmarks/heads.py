"""How long the head grid takes to paint, in a real browser.

    python benchmarks/heads.py

The head grid of the Heads page on traces made by `Trace.from_arrays`, opened from disk in headless
Chromium: from the call that opens it to the first task after the frame that shows every head, and
once more until Plotly has drawn the large map beside it. Five times each; the median.
"""

import base64
import statistics
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from playwright.sync_api import Page, sync_playwright

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from explorer.components.head_views.payload import head_grid_payload
from explorer.components.shared.bundle import PLOTLY, styles
from explorer.core.trace import Trace
from tests.support.chromium import find_chromium
from tests.support.player_page import entry_script

PAGE = """<!doctype html><meta charset="utf-8"><style>body {{ margin: 0 }} {styles}</style>
<main></main><script type="module">
{script}
window.bytes = Uint8Array.from(atob("{data}"), (letter) => letter.charCodeAt(0));
window.openGrid = () => entry({{ data: bytes, parentElement: document.querySelector("main"),
  setStateValue: () => {{}}, setTriggerValue: () => {{}} }});
window.ready = true;
</script>"""

MEASURE = """
async (heads) => {
  const painted = () => new Promise((resolve) => requestAnimationFrame(() => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => resolve(performance.now());
    port2.postMessage(0);
  }));
  const start = performance.now();
  const cleanup = openGrid();
  let end = await painted();
  while (document.querySelectorAll(".head-cell canvas").length < heads) end = await painted();
  while (!document.querySelector(".plotted")) await painted();
  const whole = performance.now();
  const dark = [...document.querySelectorAll(".head-cell canvas")].every((canvas) => {
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    return data.some((value) => value < 200);
  });
  cleanup();
  return [end - start, whole - start, dark];
}
"""
CASES = [((6, 8), 128, 700), ((12, 12), 128, 1500)]
"""Layers and heads, tokens, target in ms."""


def trace(layers: int, heads: int, tokens: int) -> Trace:
    """Causal attention of so many heads: softmax of noise around a diagonal of each head's own."""
    generator = np.random.default_rng(7)
    scores = generator.normal(size=(layers, heads, tokens, tokens)).astype(np.float32)
    for place in range(layers * heads):
        near = np.eye(tokens, k=-(place % 5), dtype=np.float32)
        scores[place // heads, place % heads] += 6 * near
    scores[..., np.triu(np.ones((tokens, tokens), dtype=np.bool_), 1)] = -np.inf
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    weights /= weights.sum(-1, keepdims=True)
    return Trace.from_arrays([], [f"t{place}" for place in range(tokens)], decoder=weights)


def opened(tab: Page, folder: Path, shown: Trace) -> None:
    """A page with the script and the data of the head grid, not yet opened."""
    data = base64.b64encode(head_grid_payload(shown, None)).decode()
    file = folder / "grid.html"
    file.write_text(
        PAGE.format(styles=styles("head_grid"), script=entry_script("head_grid"), data=data),
        "utf-8",
    )
    (folder / "plotly.min.js").write_bytes(PLOTLY.read_bytes())
    tab.goto(file.as_uri())
    tab.wait_for_function("window.ready")


def main() -> None:
    """Measure everything and print it."""
    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=find_chromium(), args=["--no-sandbox", "--disable-gpu"]
        )
        for (layers, heads), tokens, target in CASES:
            shown = trace(layers, heads, tokens)
            times = []
            for _ in range(5):  # a page of its own each: nothing is warm but the disk
                tab = browser.new_page(viewport={"width": 1440, "height": 900})
                opened(tab, Path(name), shown)
                times.append(tab.evaluate(MEASURE, layers * heads))
                tab.close()
            painted, whole, seen = zip(*times, strict=True)
            assert all(seen)
            print(
                f"{layers}×{heads} heads, {tokens} tokens: painted "
                f"{statistics.median(painted):.0f} ms (target ≤ {target} ms; "
                f"{min(painted):.0f} to {max(painted):.0f}), "
                f"with the zooming map {statistics.median(whole):.0f} ms"
            )
        browser.close()
    there = find_spec("bertviz") is not None
    print(
        f"BertViz is {'installed, but its' if there else 'not installed here, and its'} pages "
        "fetch their scripts from the internet: it was not measured."
    )


if __name__ == "__main__":
    main()
