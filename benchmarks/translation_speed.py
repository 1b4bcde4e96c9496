"""Tokens a second of a training on pairs of sentences, by how its batches are made.

    python -m benchmarks.translation_speed PAIRS [--columns 1,2] [--device cpu] [--threads 2]
        [--steps 12] [--blocks 5] [--ways ours sentences shuffled bfloat16] [--earlier FOLDER]

    ours       `translation`: rows of similar length, of at most `batch_tokens` tokens together,
               computed in bfloat16 where the device multiplies it itself, else in float32
    sentences  rows of similar length, 128 a batch
    shuffled   128 rows in random order, padded to the longest (a textbook's DataLoader)
    bfloat16   as ours, in bfloat16 whatever the device does with it; only on request, because a
               CPU that does not multiply it itself takes half a minute a step

    earlier    the code in another checkout, of the same sizes, else with its own default settings;
               where FOLDER is given

The ways take turns, a block of steps each, on the same rows; median over the blocks. Tokens are
those of both sides without padding. The first block of each way is not counted.
"""

import argparse
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path

import numpy as np
import torch

from explorer.training.config import TrainingConfig, translation
from explorer.training.trainer import Trainer

SENTENCES = 128
WAYS = ("ours", "sentences", "shuffled", "bfloat16")


def trainers(pairs: Path, options: argparse.Namespace) -> Iterator[tuple[str, Trainer]]:
    """A trainer for each way."""
    base = replace(
        translation(str(pairs)),
        columns=tuple(options.columns.split(",")),
        device=options.device,
        steps=10**6,
        evaluate_every=10**6,
        joined=options.joined,
        d_model=options.width,
        pieces=options.pieces,
    )
    for way in options.ways:
        in_tokens = way in ("ours", "bfloat16")
        config = base if in_tokens else replace(base, batch_tokens=0, batch=SENTENCES)
        trainer = Trainer(config)
        if way == "shuffled":
            _shuffle(trainer, config)
        if way == "bfloat16":
            trainer._bfloat16 = True
        yield way, trainer


def _shuffle(trainer: Trainer, config: TrainingConfig) -> None:
    """Draw the rows of each batch from all lengths."""
    data = trainer.data_module
    random = np.random.default_rng(config.seed)
    epochs = data._epochs  # type: ignore[attr-defined]
    rows = [row for batch in epochs._epoch_batches(0) for row in batch]

    def batch(step: int) -> list[object]:
        return [rows[place] for place in random.integers(len(rows), size=config.batch)]

    epochs.batch = batch


def block(steps: Iterator[object], count: int, trainer: Trainer) -> float:
    """Tokens a second of the next `count` steps of a training."""
    before, start = int(trainer._tokens), time.perf_counter()
    for _ in islice(steps, count):
        pass
    if torch.cuda.is_available():
        torch.cuda.synchronize()
    return (int(trainer._tokens) - before) / (time.perf_counter() - start)


_EARLIER = """
import sys, time, torch
from dataclasses import replace
from itertools import islice
from explorer.training.config import translation
from explorer.training.trainer import Trainer
pairs, columns, device, threads, width, pieces, joined = sys.argv[1:]
torch.set_num_threads(int(threads))
sizes = {"d_model": int(width), "pieces": int(pieces), "joined": float(joined)}
settings = {"columns": tuple(columns.split(",")), "device": device, **sizes}
config = replace(translation(pairs), **settings, steps=10**6, evaluate_every=10**6)
trainer = Trainer(config)
steps = trainer.run()
for line in sys.stdin:
    before, start = int(trainer._tokens), time.perf_counter()
    for _ in islice(steps, int(line)):
        pass
    if device != "cpu":
        torch.cuda.synchronize()
    print((int(trainer._tokens) - before) / (time.perf_counter() - start), flush=True)
"""


@contextmanager
def earlier_code(options: argparse.Namespace) -> Iterator[Callable[[], float]]:
    """What measures a block of steps of the code in another checkout, in a process of its own."""
    numbers = (options.threads, options.width, options.pieces, options.joined)
    arguments = (options.pairs.resolve(), options.columns, options.device, *numbers)
    with subprocess.Popen(
        [sys.executable, "-c", _EARLIER, *map(str, arguments)],
        cwd=options.earlier,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:

        def measure() -> float:
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write(f"{options.steps}\n")
            process.stdin.flush()
            return float(process.stdout.readline())

        yield measure


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("pairs", type=Path)
    parser.add_argument("--columns", default="1,2")
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--steps", type=int, default=12)
    parser.add_argument("--blocks", type=int, default=5)
    parser.add_argument("--joined", type=float, default=0.1)
    parser.add_argument("--width", type=int, default=256)
    parser.add_argument("--pieces", type=int, default=8000)
    parser.add_argument("--ways", nargs="+", choices=WAYS, default=[*WAYS[:3]])
    parser.add_argument("--earlier", type=Path)
    options = parser.parse_args(arguments)
    torch.set_num_threads(options.threads)
    ways: dict[str, Callable[[], float]] = {
        name: partial(block, trainer.run(), options.steps, trainer)
        for name, trainer in trainers(options.pairs, options)
    }
    with earlier_code(options) if options.earlier else nullcontext() as earlier:
        if earlier:
            ways["earlier"] = earlier
        found: dict[str, list[float]] = {name: [] for name in ways}
        for _ in range(1 + options.blocks):
            for name, measure in ways.items():
                found[name].append(measure())
    medians = {name: statistics.median(speeds[1:]) for name, speeds in found.items()}
    for name, speed in medians.items():
        print(f"{name:10} {speed:8.0f} tokens a second  ours {medians['ours'] / speed:5.2f} ×")


if __name__ == "__main__":
    main()
