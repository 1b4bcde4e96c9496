"""Time from Next to the painted step in the running app, and with Streamlit's own chart.

    python -m benchmarks.stepping [--steps 40] [--warm-up 5]

One trace (2 layers × 4 heads at each site, cross attention 32×32), shown in two apps served the
same way, opened in one browser, measured in turns of one step each so that a busy machine slows
both alike:

    player     the app with the trace uploaded; a click on Next
    baseline   a page whose fragment draws the 8 heads as `st.plotly_chart` (one figure of 2×4
               heatmaps, rows not yet decoded left empty, the title naming the step, a stable
               key); a click on its Next button

"Painted" is the first task after the first frame in which the step's number is on screen.
Warm-up steps, then the measured ones: median and 95th percentile. Messages to the server are
counted during the player's steps only, up to the end of the last one: the player reports a step
after half a second of rest, never while stepping.
"""

import argparse
import statistics
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from playwright.sync_api import Browser, Page

from benchmarks.browser import chromium, new_page
from benchmarks.timing import percentile_95
from tests.support.app_server import running_app
from tests.support.example_traces import random_trace

SIZE = 32
BASELINE = """
import plotly.graph_objects as go
import streamlit as st
from plotly.subplots import make_subplots
from explorer.core.trace import Trace

st.set_page_config(layout="wide")

@st.cache_resource
def trace():
    return Trace.load({path!r})

@st.fragment
def stepper():
    step = st.session_state.setdefault("step", 1)
    if st.button("Next"):
        step = st.session_state.step = step % {size} + 1
    weights = trace().attention("cross").reshape(8, {size}, {size}).copy()
    weights[:, step:] = float("nan")
    figure = make_subplots(2, 4)
    for head in range(8):
        heat = go.Heatmap(z=weights[head], zmin=0, zmax=1, showscale=False)
        figure.add_trace(heat, head // 4 + 1, head % 4 + 1)
    figure.update_yaxes(autorange="reversed")
    figure.update_layout(title=f"step {{step}}/{size}", height=600)
    st.plotly_chart(figure, key="heads")

stepper()
"""
STEP = """
async ({ button, counter }) => {
  const player = [...document.querySelectorAll(".st-key-explore *")].find((e) => e.shadowRoot);
  const root = player?.shadowRoot ?? document;
  const shown = () => root.querySelector(counter)?.textContent;
  const before = shown();
  const start = performance.now();
  root.querySelector(button).click();
  while (shown() === before || !shown()) {
    if (performance.now() > start + 60000) throw new Error("no step within 60 s");
    await new Promise(requestAnimationFrame);
  }
  await new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = resolve;
    port2.postMessage(0);
  });
  return performance.now() - start;
}
"""
PLAYER = {"button": "[data-testid=next]", "counter": "[data-testid=step-count]"}
CHART = {"button": ".stButton button", "counter": ".gtitle"}
COUNT_MESSAGES = """
() => {
  window.messages = 0;
  const send = WebSocket.prototype.send;
  WebSocket.prototype.send = function (data) {
    window.messages += 1;
    return send.call(this, data);
  };
}
"""


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure both and print them beside the targets."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--warm-up", type=int, default=5)
    options = parser.parse_args(arguments)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        trace = folder / "random.trace"
        random_trace(SIZE, SIZE).save(trace)
        browser = stack.enter_context(chromium())
        player = open_player(browser, stack.enter_context(running_app()), trace)
        script = folder / "baseline.py"
        script.write_text(BASELINE.format(path=str(trace), size=SIZE), encoding="utf-8")
        baseline = new_page(browser)
        baseline.goto(stack.enter_context(running_app(script)))
        baseline.wait_for_selector(".gtitle")
        times: dict[str, list[float]] = {"player": [], "baseline": []}
        messages = 0
        for _ in range(options.warm_up + options.steps):
            messages += step(player, times["player"])
            baseline.bring_to_front()
            baseline.wait_for_timeout(200)
            times["baseline"].append(baseline.evaluate(STEP, CHART))
    report({name: own[options.warm_up :] for name, own in times.items()}, messages)


def step(player: Page, times: list[float]) -> int:
    """Time one step, from the first again after the last; the number of messages it caused."""
    player.bring_to_front()
    if player.get_by_test_id("step-count").inner_text() == f"step {SIZE}/{SIZE}":
        player.get_by_test_id("first").click()
    player.wait_for_timeout(700)  # until the step before has been reported
    player.evaluate("window.messages = 0")
    times.append(player.evaluate(STEP, PLAYER))
    return int(player.evaluate("window.messages"))


def report(times: dict[str, list[float]], messages: int) -> None:
    """Print the times beside the targets."""
    for name, own in times.items():
        print(
            f"{name:9} median {statistics.median(own):6.1f} ms  "
            f"p95 {percentile_95(own):6.1f} ms  n {len(own)}"
        )
    ratio = statistics.median(times["baseline"]) / statistics.median(times["player"])
    print(f"targets: player ≤ 35 ms median, ≤ 60 p95; {ratio:.1f} times as fast (target ≥ 5)")
    print(f"messages to the server while stepping: {messages} (target 0)")


def open_player(browser: Browser, address: str, trace: Path) -> Page:
    """The app with the trace uploaded, at its first step."""
    page = new_page(browser)
    page.add_init_script(f"({COUNT_MESSAGES.strip()})()")
    page.goto(address)
    page.get_by_test_id("step-count").wait_for()
    page.get_by_role("button", name="Files").click()
    page.locator("input[type=file]").set_input_files(trace)
    page.get_by_test_id("step-count").filter(has_text=f"/{SIZE}").wait_for()
    page.keyboard.press("Escape")
    page.wait_for_selector(".plotted")
    page.get_by_test_id("first").click()
    return page


if __name__ == "__main__":
    main()
