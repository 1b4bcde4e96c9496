"""Time of a new trace while a training runs beside it, and without one.

    python -m benchmarks.trace_during_training [--rounds 100]

The shipped reverse model, "7 3 9 1 4", one thread as in the app; the training is the Train
page's quick demo, started as the page starts it: a separate process at low priority. Medians
of `rounds` traces before it, during it and after it.
"""

import argparse
import os
import statistics
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace

import torch

from benchmarks.timing import milliseconds
from explorer.core import folders
from explorer.jobs import training_launcher
from explorer.model.explorable import ExplorableModel, load
from explorer.training.config import quick_demo


def median_trace(model: ExplorableModel, rounds: int) -> float:
    """Median milliseconds of a trace, with a pause before each as between a visitor's clicks."""
    times = []
    for _ in range(rounds):
        times.append(milliseconds(lambda: model.trace("7 3 9 1 4", pad_to=8)))
        time.sleep(0.05)
    return statistics.median(times)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=100)
    rounds = parser.parse_args(arguments).rounds
    torch.set_num_threads(1)
    model = load(folders.shipped_checkpoints() / "reverse.safetensors")
    median_trace(model, 10)
    with tempfile.TemporaryDirectory() as folder:
        os.environ[folders.RUNS_VARIABLE] = folder
        before = median_trace(model, rounds)
        run = training_launcher.start(
            replace(quick_demo("reverse", on_gpu=False), until=1.0, steps=100_000)
        )
        while run.status().step < 50:
            time.sleep(0.2)
        during = median_trace(model, rounds)
        run.request_stop()
        while run.active:
            time.sleep(0.2)
        after = median_trace(model, rounds)
    idle = (before + after) / 2
    print(f"idle      {before:6.2f} ms, {after:6.2f} ms afterwards")
    print(f"training  {during:6.2f} ms  {during / idle:5.2f} × idle")


if __name__ == "__main__":
    main()
