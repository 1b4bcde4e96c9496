"""A new trace while a training runs beside it, and when nothing does.

    python benchmarks/beside.py [--rounds 100]

The shipped reverse model, "7 3 9 1 4", one thread as in the app; the training is the Train
page's quick demo, started as the page starts it: a process of its own at low priority. Medians
of `rounds` traces before it, during it and after it.
"""

import argparse
import os
import statistics
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import torch

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT)]

from explorer.core import folders
from explorer.model.explorable import ExplorableModel, load
from explorer.training import run_launcher
from explorer.training.config import quick_demo

SHIPPED = ROOT / "checkpoints" / "reverse.safetensors"


def milliseconds(model: ExplorableModel, rounds: int) -> float:
    """A trace's median time, asked for now and then, as by a person who clicks."""
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        model.trace("7 3 9 1 4", pad_to=8)
        times.append(1000 * (time.perf_counter() - start))
        time.sleep(0.05)
    return statistics.median(times)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=100)
    rounds = parser.parse_args().rounds
    torch.set_num_threads(1)
    model = load(SHIPPED)
    milliseconds(model, 10)
    with tempfile.TemporaryDirectory() as folder:
        os.environ[folders.RUNS_VARIABLE] = folder
        before = milliseconds(model, rounds)
        run = run_launcher.start(
            replace(quick_demo("reverse", on_gpu=False), until=1.0, steps=100_000)
        )
        while run.status().step < 50:
            time.sleep(0.2)
        during = milliseconds(model, rounds)
        run.request_stop()
        while run_launcher.is_active(run):
            time.sleep(0.2)
        after = milliseconds(model, rounds)
    idle = (before + after) / 2
    print(f"idle      {before:6.2f} ms, {after:6.2f} ms afterwards")
    print(f"training  {during:6.2f} ms  {during / idle:5.2f} × idle")


if __name__ == "__main__":
    main()
