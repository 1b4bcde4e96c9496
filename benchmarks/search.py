"""An index of attention over a corpus, and its answers: the times, and the size of the file.

    python -m benchmarks.search [--model english-french] [--pairs tatoeba-eng-fra.tsv]
                                [--sentences 5000] [--threads 2] [--rounds 5]

The texts are distinct sources of --pairs, evenly spread over the file; without it, those held out
in the file of the model and sums of them. `build` decodes them and writes the file, in
brackets its processor time, which a busy machine changes less with one thread. `open` reads it.
`first` is the first search of a site, `search` the median of those that follow, of all heads in
turn with questions of each kind.
"""

import argparse
import itertools
import statistics
import tempfile
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import torch

import explorer
from benchmarks.batched_traces import texts_of
from benchmarks.timing import milliseconds, processor_milliseconds
from explorer.core import folders
from explorer.data.parallel_corpus import read_sources
from explorer.heads.search.index_building import Corpus, attention_index

QUESTIONS: tuple[dict[str, Any], ...] = (
    {},
    {"offset": -1},
    {"part": "end"},
    {"part": "punctuation"},
)


def sentences(model: explorer.ExplorableModel, pairs: Path | None, count: int) -> list[str]:
    """So many different texts."""
    if pairs is None:
        return texts_of(model, count)
    every = list(dict.fromkeys(read_sources(pairs)))
    most = min(count, len(every))
    return [every[number * len(every) // most] for number in range(most)]


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--model", default="english-french")
    parser.add_argument("--pairs", type=Path)
    for name, default in {"sentences": 5000, "threads": 2, "rounds": 5}.items():
        parser.add_argument(f"--{name}", type=int, default=default)
    options = parser.parse_args(arguments)
    torch.set_num_threads(options.threads)
    model = explorer.load(folders.shipped_checkpoints() / f"{options.model}.safetensors")
    assert isinstance(model, explorer.ExplorableModel)
    texts = sentences(model, options.pairs, options.sentences)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "some.index"

        def build() -> None:
            attention_index(model, Corpus.of(model, texts), path)

        print(f"{len(texts)} texts, {options.model}, {options.threads} threads")
        taken: list[float] = []
        used = processor_milliseconds(lambda: taken.append(milliseconds(build))) / 1000
        size = path.stat().st_size / 1e6
        print(f"build   {taken[0] / 1000:6.1f} s  ({used:.1f} s)  {size:.1f} MB")
        print(f"open    {milliseconds(lambda: explorer.open_index(path)):6.1f} ms")
        index = explorer.open_index(path)
        firsts = dict.fromkeys(head.site for head in index.heads)
        for site in firsts:
            head = next(head for head in index.heads if head.site == site)
            print(f"first   {milliseconds(partial(index.search, head)):6.1f} ms  {site}")
        asked = list(itertools.product(range(options.rounds), index.heads, QUESTIONS))
        times = [milliseconds(partial(index.search, head, **more)) for _, head, more in asked]
        print(f"search  {statistics.median(times):6.1f} ms  at most {max(times):.1f} ms")


if __name__ == "__main__":
    main()
