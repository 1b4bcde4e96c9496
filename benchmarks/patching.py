"""Activation patching of every head, against one trace of the same text.

    python -m benchmarks.patching [--model english-french] [--layers 12] [--width 768] [--heads 12]
                                  [--tokens 20] [--threads 2] [--rounds 10] [--warm-up 2]

own       `model.patch` of every head of a model that ships, against `model.trace` of the clean text
          with as much output given; target at most 10 × its time for 24 heads
library   every head of a GPT-2 with random weights and the sizes given, for two random texts;
          target at most 60 s on two cores for 12 × 12 heads and 20 tokens

The two ways of `own` in turn, warm-up rounds first; medians, and the median of the ratios round by
round. `library` runs once.
"""

import argparse
import statistics
import tempfile
from collections.abc import Sequence
from pathlib import Path

import torch
import transformers

import explorer
from benchmarks.timing import milliseconds

PAIRS = {
    "english-french": ("The black cat is asleep.", "The white cat is asleep.", "Le chat"),
    "reverse": ("7 3 9 1 4", "7 3 9 1 5", None),
    "induction": ("7 3 9 1 5 7", "9 3 7 1 5 7", None),
}
"""By model, a clean and a corrupted text, and the beginning of the output."""


def print_own(name: str, rounds: int, warm_up: int) -> None:
    """The time of patching all heads beside that of a trace."""
    model = explorer.load(name)
    clean, corrupted, prefix = PAIRS[name]
    new = None if prefix is None else len(model.trace(clean, target=prefix).target_tokens)

    def trace() -> object:
        return model.trace(clean, prefix=prefix, max_new_tokens=new or 1)

    times: list[tuple[float, float]] = []
    for _ in range(warm_up + rounds):
        times.append(
            (
                milliseconds(trace),
                milliseconds(lambda: model.patch(clean, corrupted, prefix=prefix)),
            )
        )
    traced, patched = zip(*times[warm_up:], strict=True)
    ratio = statistics.median(own / of_trace for of_trace, own in times[warm_up:])
    print(
        f"own      {name}, {len(model.passes.heads)} heads: {statistics.median(patched):8.2f} ms, "
        f"{ratio:6.2f} × a trace ({statistics.median(traced):.2f} ms)"
    )


def save_random_gpt2(folder: Path, layers: int, width: int, heads: int, tokens: int) -> None:
    """A GPT-2 with random weights, as a directory."""
    torch.manual_seed(0)
    config = transformers.GPT2Config(
        n_layer=layers, n_embd=width, n_head=heads, n_positions=tokens + 1
    )
    transformers.GPT2LMHeadModel(config).save_pretrained(folder)


def print_library(layers: int, width: int, heads: int, tokens: int) -> None:
    """The time of patching all heads of a model of the library."""
    with tempfile.TemporaryDirectory() as folder:
        save_random_gpt2(Path(folder), layers, width, heads, tokens)
        model = explorer.load(folder)
        drawn = torch.randint(1000, 5000, (2, tokens), generator=torch.Generator().manual_seed(0))
        clean, corrupted = (" ".join(map(str, row)) for row in drawn.tolist())
        taken = milliseconds(lambda: model.patch(clean, corrupted)) / 1000
    count = len(model.passes.heads)
    print(f"library  {layers} × {heads} = {count} heads, {tokens} tokens: {taken:.2f} s")


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", choices=PAIRS, default="english-french")
    sizes = {"layers": 12, "width": 768, "heads": 12, "tokens": 20}
    for name, default in (sizes | {"threads": 2, "rounds": 10, "warm-up": 2}).items():
        parser.add_argument(f"--{name}", type=int, default=default)
    options = parser.parse_args(arguments)
    torch.set_num_threads(options.threads)
    print_own(options.model, options.rounds, options.warm_up)
    print_library(*(getattr(options, name) for name in sizes))


if __name__ == "__main__":
    main()
