"""Traces of many texts at once against one after another; same texts, one run.

    python -m benchmarks.batched_traces [--model english-french] [--texts 500] [--alone 50]
                                        [--threads 2]

The texts are those held out in the file of the model and sums of them, of all lengths. All go
through `model.traces`; the first `--alone` of them, in random order, through `model.trace` one by
one, and their time is scaled to all.
"""

import argparse
import random
from collections.abc import Sequence

import torch

import explorer
from benchmarks.timing import milliseconds
from explorer.core import folders


def texts_of(model: explorer.ExplorableModel, count: int) -> list[str]:
    """So many different texts, in random order."""
    generator = random.Random(0)
    held_out = list(model.facts["examples"])
    found: dict[str, None] = dict.fromkeys(held_out)
    while len(found) < count:
        found[" ".join(generator.sample(held_out, generator.randint(2, 3)))] = None
    chosen = list(found)[:count]
    generator.shuffle(chosen)
    return chosen


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--model", default="english-french")
    parser.add_argument("--texts", type=int, default=500)
    parser.add_argument("--alone", type=int, default=50)
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args(arguments)
    torch.set_num_threads(options.threads)
    model = explorer.load(folders.shipped_checkpoints() / f"{options.model}.safetensors")
    assert isinstance(model, explorer.ExplorableModel)
    texts = texts_of(model, options.texts)
    some = texts[: options.alone]
    model.traces(some[:2])  # warm-up
    model.trace(some[0])
    together = milliseconds(lambda: model.traces(texts)) / 1000
    alone = milliseconds(lambda: [model.trace(text) for text in some]) / 1000
    alone *= len(texts) / len(some)
    print(f"{len(texts)} texts, {options.model}, {options.threads} threads")
    print(f"traces  {together:6.1f} s  1.00 ×")
    print(f"trace   {alone:6.1f} s  {alone / together:.2f} ×")


if __name__ == "__main__":
    main()
