"""Time until the head grid of the Heads page is painted, in a real browser.

    python -m benchmarks.head_grid [--rounds 5] [--tokens 128]

The component on traces made by `Trace.from_arrays`, opened from disk in headless Chromium: from
the call of its entry to the first task after the frame that shows every head, and on until
Plotly has drawn the large map beside it. Each round has a page of its own, so only the disk
cache is warm; the median.
"""

import argparse
import base64
import statistics
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from playwright.sync_api import Page

from benchmarks.browser import PAINTED, chromium, new_page
from explorer.components.bundle import PLOTLY, script, styles
from explorer.components.head_views.payload import head_grid_payload
from explorer.core.trace import Trace

PAGE = """<!doctype html><meta charset="utf-8"><style>body { margin: 0 } {styles}</style>
<main></main><script type="module">
const { head_grid: entry } = await import("data:text/javascript;base64,{script}");
const data = Uint8Array.from(atob("{data}"), (letter) => letter.charCodeAt(0));
window.openGrid = () => entry({ parentElement: document.querySelector("main"), data,
  setStateValue: () => {}, setTriggerValue: () => {} });
window.ready = true;
</script>"""

MEASURE = f"""
async (heads) => {{{PAINTED}
  const canvases = () => [...document.querySelectorAll(".head-cell canvas")];
  const start = performance.now();
  const until = async (condition) => {{
    let now = await painted();
    while (!condition()) {{
      if (now > start + 60000) throw new Error("not painted within 60 s");
      now = await painted();
    }}
    return now - start;
  }};
  const close = openGrid();
  const grid = await until(() => canvases().length >= heads);
  const whole = await until(() => document.querySelector(".plotted"));
  const drawn = canvases().every((canvas) => {{
    const {{ data }} = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    return data.some((value) => value < 200);
  }});
  close();
  return [grid, whole, drawn];
}}
"""
CASES = [((6, 8), 700), ((12, 12), 1500)]
"""Layers and heads, target in ms at 128 tokens."""


def decoder_trace(layers: int, heads: int, tokens: int) -> Trace:
    """Causal attention: softmax of noise plus a diagonal at an offset that differs by head."""
    generator = np.random.default_rng(7)
    scores = generator.normal(size=(layers, heads, tokens, tokens)).astype(np.float32)
    for index in range(layers * heads):
        diagonal = np.eye(tokens, k=-(index % 5), dtype=np.float32)
        scores[index // heads, index % heads] += 6 * diagonal
    scores[..., np.triu(np.ones((tokens, tokens), dtype=np.bool_), 1)] = -np.inf
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    weights /= weights.sum(-1, keepdims=True)
    return Trace.from_arrays([], [f"t{index}" for index in range(tokens)], decoder=weights)


def open_page(page: Page, folder: Path, trace: Trace) -> None:
    """Load the component's script and data, without calling its entry."""
    source = base64.b64encode(script("components").encode()).decode()
    data = base64.b64encode(head_grid_payload(trace, None)).decode()
    html = PAGE.replace("{styles}", styles("head_grid"))
    file = folder / "grid.html"
    file.write_text(html.replace("{script}", source).replace("{data}", data), "utf-8")
    (folder / "plotly.min.js").write_bytes(PLOTLY.read_bytes())
    page.goto(file.as_uri())
    page.wait_for_function("window.ready")


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure every case and print it beside its target."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--tokens", type=int, default=128)
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder, chromium() as browser:
        for (layers, heads), target in CASES:
            trace = decoder_trace(layers, heads, options.tokens)
            times = []
            for _ in range(options.rounds):
                page = new_page(browser)
                open_page(page, Path(folder), trace)
                times.append(page.evaluate(MEASURE, layers * heads))
                page.context.close()
            painted, whole, drawn = zip(*times, strict=True)
            assert all(drawn)
            print(
                f"{layers}×{heads} heads, {options.tokens} tokens: painted "
                f"{statistics.median(painted):.0f} ms (target ≤ {target} ms; "
                f"{min(painted):.0f} to {max(painted):.0f}), "
                f"with the zooming map {statistics.median(whole):.0f} ms"
            )


if __name__ == "__main__":
    main()
