"""A training in the browser: time, processor time, and how soon the page answers meanwhile.

    python -m benchmarks.browser_training [--task reverse] [--seeds 3] [--moments 0]

The static site's page of trainings, opened from disk in headless Chromium with the network off; a
visitor starts the task. "Drawn" is from the click on Start to the frame that shows the last moment,
with its heads, at an exact match of 99 %. "Answers" is the longest time for which the page ran no
other task meanwhile; "processor" is that of all processes of the browser. "Demo" is the processor
time of the app's *Quick demo*, a larger model on longer sequences, in PyTorch, to the same exact
match, on one thread: several wait for each other, which counts. One seed after the other, both ways
in turn; medians.

--moments: end after so many moments (0: at 99 %).
"""

import argparse
import os
import statistics
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import torch
from playwright.sync_api import Page

from benchmarks.browser import PAINTED, chromium, new_page
from explorer.app.static_site import write_static_site
from explorer.model.catalog import shipped_models
from explorer.training.config import quick_demo
from explorer.training.trainer import Trainer

WATCH = """
() => {
  window.longest = 0;
  let before = performance.now();
  const { port1, port2 } = new MessageChannel();
  port1.onmessage = () => {
    const now = performance.now();
    window.longest = Math.max(window.longest, now - before);
    before = now;
    setTimeout(() => port2.postMessage(0), 5);
  };
  port2.postMessage(0);
}
"""
TRAIN = f"""
async ({{ task, seed, moments }}) => {{{PAINTED}
  const part = (name) => document.querySelector(`[data-testid=${{name}}]`);
  const going = () => document.querySelector(".progress").dataset.state;
  const shown = () => Number(/\\d+/.exec(part("moment-count").textContent)?.[0] ?? 0);
  part("train-task").value = task;
  part("train-seed").value = seed;
  window.longest = 0;
  const start = performance.now();
  part("train-start").click();
  await painted();
  while (["starting", "running"].includes(going()) && !(moments && shown() >= moments))
    await painted();
  await painted();
  const drawn = performance.now() - start;
  const facts = part("run-facts").textContent;
  if (going() === "running") part("train-stop").click();
  return {{ drawn, longest: window.longest, facts }};
}}
"""
_TICKS = os.sysconf("SC_CLK_TCK")  # of processor time, a second


def main(arguments: Sequence[str] | None = None) -> None:
    """Print a line for each seed and the medians."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--task", default="reverse")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--moments", type=int, default=0)
    options = parser.parse_args(arguments)
    rows: list[tuple[float, float, float, float]] = []
    with tempfile.TemporaryDirectory() as name, chromium() as browser:
        out = Path(name)
        write_static_site([shipped_models()["reverse"]], out)
        page = new_page(browser)
        page.context.set_offline(True)
        page.goto((out / "training.en.html").as_uri())
        page.wait_for_selector(".training-replay .plotted")
        page.evaluate(WATCH)
        for seed in range(options.seeds):
            demo = demo_time(options.task, seed, options.moments)
            drawn, processor, longest, facts = trained(page, options.task, seed, options.moments)
            rows.append((drawn, processor, longest, demo))
            print(f"seed {seed}: {line(*rows[-1])} ({facts})", flush=True)
    print(f"median: {line(*map(statistics.median, zip(*rows, strict=True)))}")


def line(drawn: float, processor: float, longest: float, demo: float) -> str:
    return (
        f"drawn {drawn:.1f} s, answers within {longest:.0f} ms, "
        f"processor {processor:.1f} s, demo {demo:.1f} s, {processor / demo:.2f} ×"
    )


def trained(page: Page, task: str, seed: int, moments: int) -> tuple[float, float, float, str]:
    """Seconds until drawn, seconds of processor, longest wait in ms, and what the page says."""
    before = sum(processor_times())
    told = page.evaluate(TRAIN, {"task": task, "seed": seed, "moments": moments})
    used = sum(processor_times()) - before
    return told["drawn"] / 1000, used, told["longest"], told["facts"]


def demo_time(task: str, seed: int, moments: int) -> float:
    """Seconds of processor that the app's quick demo takes."""
    torch.set_num_threads(1)
    trainer = Trainer(replace(quick_demo(task, on_gpu=False), seed=seed))
    start, seen = time.process_time(), 0
    for moment in trainer.run():
        seen += moment is not None
        if moments and seen >= moments:
            break
    return time.process_time() - start


def processor_times() -> Iterator[float]:
    """Seconds of each process that this one, or a process below it, has started."""
    parents: dict[int, int] = {}
    used: dict[int, float] = {}
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = status.read_text(encoding="utf-8").rpartition(")")[2].split()
        except OSError:
            continue  # it has ended
        process = int(status.parent.name)
        parents[process] = int(fields[1])
        used[process] = (int(fields[11]) + int(fields[12])) / _TICKS
    for process, seconds in used.items():
        above = parents[process]
        while above in parents and above != os.getpid():
            above = parents[above]
        if above == os.getpid():
            yield seconds


if __name__ == "__main__":
    main()
