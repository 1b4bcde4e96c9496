"""Exact match of the shipped toy models on the alphabets that a class types.

    python -m benchmarks.toy_alphabets [--draws 300]

For copy, reverse and sort: `draws` sequences of each length from 1 to 16, uniform over the symbols
of an alphabet (all twenty, digits, letters, 甲 乙 丙 丁, 1 2 3), decoded greedily; the whole output
right to its end. From five symbols on they are held out of training, where an alphabet has a
hundred such sequences of a length. One line for each alphabet: the means over lengths 1 to 8 and
9 to 16, and the worst length.
"""

import argparse
from collections.abc import Sequence

import torch

from explorer.core import folders
from explorer.data.task_names import RULE_TASKS
from explorer.data.toy_data import find_task
from explorer.model.checkpoint import load_checkpoint
from explorer.training.toy_evaluation import (
    exact_match_by_length,
    mean_by_halves,
    typed_alphabets,
)

LONGEST = 16
TARGET = 98.5  # percent, on each half of the lengths


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=300, help="sequences of each length")
    draws = parser.parse_args(arguments).draws
    torch.set_num_threads(1)
    below = 0
    for name in RULE_TASKS:
        checkpoint = load_checkpoint(folders.shipped_checkpoints() / f"{name}.safetensors")
        symbols = checkpoint.source_vocabulary.labels(range(len(checkpoint.source_vocabulary)))[3:]
        for alphabet, numbers in typed_alphabets(symbols).items():
            lengths = range(1, LONGEST + 1)
            exact = exact_match_by_length(
                checkpoint.model, find_task(name), numbers, lengths, each=draws
            )
            halves = [100 * share for share in mean_by_halves(exact).values()]
            worst = min(exact, key=lambda length: exact[length])
            below += sum(share < TARGET for share in halves)
            shown = " ".join(f"{share:6.2f} %" for share in halves)
            print(
                f"{name:8} {shown}  worst {100 * exact[worst]:6.2f} % at {worst:2}  {alphabet}",
                flush=True,
            )
    print(f"{below} below the target of {TARGET} %")


if __name__ == "__main__":
    main()
