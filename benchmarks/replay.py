"""Time of a scrub and of a live update of the training replay, in a real browser.

    python -m benchmarks.replay [--moments 400] [--steps 60] [--updates 14]

The component on the recorded training, stretched to `--moments` moments with 3 layers of 4 heads,
in headless Chromium: from an arrow key, or from the next moment of a training under way, to the
first task after the next frame. Probe traces come from disk, without a delay. The median and the
slowest but two of the scrubs, the median and the slowest of the updates.
"""

import argparse
import base64
import json
import statistics
from collections.abc import Sequence
from typing import Any

from playwright.sync_api import Page, Route

from benchmarks.browser import PAINTED, chromium, new_page
from explorer.components.bundle import PLOTLY, script, styles
from explorer.components.player.payload import player_payload
from explorer.components.training_replay.payload import replay_payload
from explorer.core.trace import Trace
from explorer.jobs import training_launcher

ADDRESS = "http://replay.test/"
PAGE = """<!doctype html><meta charset="utf-8"><style>body { margin: 0 } {styles}</style>
<main></main><script type="module">
const { training_replay: entry } = await import("data:text/javascript;base64,{script}");
window.send = (run) => entry({ parentElement: document.querySelector("main"),
  data: new TextEncoder().encode(run), setStateValue: () => {}, setTriggerValue: () => {} });
</script>"""
SCRUB = f"""
async (steps) => {{{PAINTED}
  const root = document.querySelector("[data-testid=training-replay]");
  const times = [];
  for (let step = 0; step < steps; step += 1) {{
    const start = performance.now();
    const key = step % 20 < 10 ? "ArrowLeft" : "ArrowRight";
    root.dispatchEvent(new KeyboardEvent("keydown", {{ key, bubbles: true, composed: true }}));
    times.push((await painted()) - start);
    await new Promise((resolve) => setTimeout(resolve, 60));
  }}
  return times;
}}
"""
UPDATE = f"""
async (runs) => {{{PAINTED}
  const times = [];
  for (const run of runs) {{
    const start = performance.now();
    send(run);
    times.push((await painted()) - start);
    await new Promise((resolve) => setTimeout(resolve, 150));
  }}
  return times;
}}
"""


def long_run(moments: int) -> dict[str, Any]:
    """The recorded run with `moments` moments, each head a little different at each of them."""
    run = training_launcher.find("recorded", "reverse")
    assert run is not None
    content: dict[str, Any] = json.loads(replay_payload("recorded/reverse", run))
    recorded = content["moments"]
    stretched = []
    for index in range(moments):
        moment = json.loads(json.dumps(recorded[index * len(recorded) // moments]))
        moment["step"] = 3 * (index + 1)
        moment["gold"] = [
            [
                (weight or 0) * (0.9 + 0.02 * ((7 * index + head) % 5))
                for head, weight in enumerate(row)
            ]
            for row in (2 * moment["gold"])[:3]
        ]
        stretched.append(moment)
    return content | {"moments": stretched, "steps": 3 * moments, "every": 3, "key": "runs/one@1"}


def under_way(content: dict[str, Any], moments: int) -> str:
    """The training when it has `moments` moments."""
    report = content["report"] | {"going": True, "state": "training"}
    return json.dumps(content | {"moments": content["moments"][:moments], "report": report})


def open_page(page: Page) -> None:
    """Load the component's script; probe traces are those of the recorded run."""
    source = base64.b64encode(script("components").encode()).decode()
    html = PAGE.replace("{styles}", styles("training_replay")).replace("{script}", source)
    run = training_launcher.find("recorded", "reverse")
    assert run is not None

    def answer(route: Route) -> None:
        path = route.request.url.removeprefix(ADDRESS).split("?")[0]
        if not path:
            route.fulfill(body=html, content_type="text/html")
        elif path == "plotly.min.js":
            route.fulfill(body=PLOTLY.read_bytes(), content_type="text/javascript")
        else:
            trace = Trace.load(run.probe_path(int(path.rsplit("/", 1)[-1])))
            route.fulfill(body=player_payload(trace, language=None))

    page.route(f"{ADDRESS}**", answer)
    page.goto(ADDRESS)
    page.wait_for_function("() => Boolean(window.send)")


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure scrubs and live updates and print both beside their targets."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--moments", type=int, default=400)
    parser.add_argument("--steps", type=int, default=60, help="of the scrub")
    parser.add_argument("--updates", type=int, default=14)
    options = parser.parse_args(arguments)
    content = long_run(options.moments)
    first = options.moments - options.updates
    with chromium() as browser:
        page = new_page(browser)
        open_page(page)
        page.evaluate("(run) => { send(run); }", under_way(content, first))
        page.wait_for_selector(".curve-plot .xy", state="attached")
        page.wait_for_selector(".plotted")
        page.wait_for_timeout(1000)
        scrub = sorted(page.evaluate(SCRUB, options.steps))
        later = range(first + 1, options.moments + 1)
        update = page.evaluate(UPDATE, [under_way(content, moments) for moments in later])
    print(f"scrub: {statistics.median(scrub):.1f} ms, {scrub[-3]:.1f} ms (target ≤ 33 ms)")
    print(
        f"live update: {statistics.median(update):.1f} ms, {max(update):.1f} ms (target ≤ 100 ms)"
    )


if __name__ == "__main__":
    main()
