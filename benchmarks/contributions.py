"""Contributions: their time beside a forward pass, and which agrees best with leave-one-out.

    python -m benchmarks.contributions [--model english-french] [--sentences 100]
                                       [--threads 1] [--rounds 20] [--warm-up 3] [--texts FILE]

Times of one sentence with a given output, the longest of the sentences: `pass` is a forward pass
that captures every attention, `trace` all that `model.trace` does, the others one method each,
their own pass included. All in turn in every round, medians, and the median of the ratios to `pass`
round by round. Then the agreement of each method with leave-one-out, with 95 % intervals over
sentences. The sentences are the first ones of --texts, one a line, before a tab; without it, for a
translator those with gold links, for a toy model drawn ones.
"""

import argparse
import random
import statistics
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import torch

from benchmarks.timing import milliseconds
from explorer.core import folders
from explorer.core.files import read_text
from explorer.heads.contributions.agreement import contribution_agreement
from explorer.heads.contributions.contributions import METHODS
from explorer.heads.contributions.layer_contributions import contribution_matrix
from explorer.heads.metrics.evaluation_batches import LARGEST_TEXTS, given_sentences
from explorer.model.evaluation_batch import EvaluationBatch
from explorer.model.explorable import ExplorableModel, load
from explorer.model.hooks import recorded

_COLUMNS = {
    "top": "top",
    "gain": "more than attention",
    "top_content": "top among content",
    "spearman": "rank correlation",
}


def sentences(model: ExplorableModel, count: int, texts: Path | None) -> list[str]:
    """Sources of a file, or with gold links of a translator, else sequences of 3 to 10 symbols."""
    path = texts or folders.shipped_checkpoints() / "gold" / f"{model.name}.tsv"
    if texts or path.is_file():
        rows = read_text(path, LARGEST_TEXTS).splitlines()
        return [row.split("\t")[0] for row in rows[:count]]
    generator = random.Random(0)
    symbols = [str(number) for number in range(1, 10)]
    lengths = [generator.randint(3, 10) for _ in range(count)]
    return [" ".join(generator.choices(symbols, k=length)) for length in lengths]


def captured_pass(model: ExplorableModel, sentence: EvaluationBatch) -> None:
    """The forward pass over one sentence and its output, with the weights of every attention."""
    assert sentence.source is not None
    assert sentence.queries is not None
    with torch.inference_mode(), recorded(model.transformer, "*.pattern"):
        model.transformer(sentence.source.ids, sentence.queries.ids)


def print_times(model: ExplorableModel, text: str, rounds: int, warm_up: int) -> None:
    """The time of each method, beside that of a pass."""
    sentence, output = model.passes.texts([text], "one"), model.trace(text).text
    ways: dict[str, Callable[[], object]] = {
        "pass": lambda: captured_pass(model, sentence),
        "trace": lambda: model.trace(text, target=output),
    }
    for method in METHODS:
        ways[method] = partial(contribution_matrix, model, sentence, method)
    times: dict[str, list[float]] = {name: [] for name in ways}
    for number in range(warm_up + rounds):
        for name, run in ways.items():
            elapsed = milliseconds(run)
            if number >= warm_up:
                times[name].append(elapsed)
    for name, own in times.items():
        ratios = [one / of_pass for one, of_pass in zip(own, times["pass"], strict=True)]
        print(
            f"{name:19} {statistics.median(own):8.2f} ms  "
            f"{statistics.median(ratios):6.2f} × the time of a pass"
        )


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", default="english-french")
    defaults = {"sentences": 100, "threads": 1, "rounds": 20, "warm-up": 3}
    for name, default in defaults.items():
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--texts", type=Path)
    options = parser.parse_args(arguments)
    torch.set_num_threads(options.threads)
    model = load(folders.shipped_checkpoints() / f"{options.model}.safetensors")
    texts = sentences(model, options.sentences, options.texts)
    longest = max(texts, key=lambda text: len(model.trace(text, max_new_tokens=1).source_tokens))
    print_times(model, longest, options.rounds, options.warm_up)
    table = contribution_agreement(model, given_sentences(model, texts))
    print(f"\n{options.model}, {len(texts)} sentences, {table.rows[0]} output tokens")
    for row in table.itertuples():
        cells = [
            f"{label} {getattr(row, name):.3f} "
            f"({getattr(row, f'{name}_low'):.3f} to {getattr(row, f'{name}_high'):.3f})"
            for name, label in _COLUMNS.items()
        ]
        print(f"{row.method:19} {'  '.join(cells)}")


if __name__ == "__main__":
    main()
