"""What each step of the recipe for translators is worth, on the dev part of a file of pairs.

    python -m benchmarks.translation_recipe PAIRS [--columns 1,2] [--rows 40000] [--steps 1500]
        [--variants full plain swapped …] [--threads 1] [--patterned 0.05]
    python -m benchmarks.translation_recipe PAIRS [--columns 2,1] --checkpoint FILE

Each variant is one training with one seed on the first rows of the file in random order; "full"
has every step, "plain" none, any other name leaves that one out. The test part is not used.
Sentence patterns exist for English, French and Chinese; with other languages, --patterned 0.

    BLEU     greedy, all references, of the sources of the dev part
    loss     held-out loss, nats a token, with label smoothing
    names    dev pairs with a name, with another one from the list in its place (one that training
             may have seen): share of the outputs that contain it
    numbers  the same with numbers
    words    the same with words of a class: weekdays, countries, animals …
    three    100 texts of three dev sentences each: BLEU and length ratio
"""

import argparse
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from explorer.data.anchors import NUMBER, find_anchors
from explorer.data.augmentation import Augmentation
from explorer.data.name_lists import word_classes
from explorer.data.parallel_corpus import (
    Pair,
    ParallelCorpus,
    read_pairs,
    references,
    separator_of,
)
from explorer.model.checkpoint import Checkpoint, load_checkpoint
from explorer.training.config import TrainingConfig, translation
from explorer.training.trainer import Trainer
from explorer.training.translation_metrics import score, translate

SIZES = {"names": 200, "numbers": 200, "words": 200, "joined": 100}
JOINED = 3
STEPS: dict[str, Any] = {  # of the recipe: setting → its value in "plain"
    "swapped": 0.0,
    "copied": 0.0,
    "patterned": 0.0,
    "unpunctuated": 0.0,
    "subword_alpha": 0.0,
    "joined": 0.0,
    "average": 0,
}


@dataclass(frozen=True, slots=True)
class Quality:
    """bleu and joined_bleu: 0 to 100; names, numbers and words: shares."""

    bleu: float
    names: float
    numbers: float
    words: float
    joined_bleu: float
    joined_ratio: float


def variants(base: TrainingConfig, names: Sequence[str]) -> Iterator[tuple[str, TrainingConfig]]:
    """The config of each variant."""
    for name in names:
        if name == "full":
            yield name, base
        elif name == "plain":
            yield name, replace(base, **STEPS)
        else:
            yield f"without {name}", replace(base, **{name: STEPS[name]})


def quality(checkpoint: Checkpoint, corpus: ParallelCorpus) -> Quality:
    """What a model does on the dev part."""
    dev = corpus.part("dev")
    known = references(dev)
    outputs = _outputs(checkpoint, list(known))
    random = np.random.default_rng(0)
    sources = list(known)
    size = min(JOINED, len(sources))
    groups = [random.choice(len(sources), size, replace=False) for _ in range(SIZES["joined"])]
    separators = (
        separator_of(sources),
        separator_of([text for texts in known.values() for text in texts]),
    )
    joined = score(
        _outputs(checkpoint, [separators[0].join(sources[n] for n in group) for group in groups]),
        [[separators[1].join(known[sources[n]][0] for n in group)] for group in groups],
    )
    return Quality(
        bleu=score(outputs, list(known.values())).bleu,
        names=_carried_over(checkpoint, dev, "names"),
        numbers=_carried_over(checkpoint, dev, "numbers"),
        words=_carried_over(checkpoint, dev, "words"),
        joined_bleu=joined.bleu,
        joined_ratio=joined.length_ratio,
    )


def _carried_over(checkpoint: Checkpoint, pairs: Sequence[Pair], group: str) -> float:
    """The share of swapped names, numbers or words that the outputs contain."""
    chosen = [pair for pair in pairs if _only_group(pair) == group][: SIZES[group]]
    if not chosen:
        return float("nan")
    augmentation = Augmentation(chosen)
    random = np.random.default_rng(1)
    swapped = [augmentation.swapped(number, 1.0, random) for number in range(len(chosen))]
    expected = [
        _difference(old.target, new.target) for old, new in zip(chosen, swapped, strict=True)
    ]
    outputs = _outputs(checkpoint, [pair.source for pair in swapped])
    return sum(a in b for a, b in zip(expected, outputs, strict=True)) / len(chosen)


def _only_group(pair: Pair) -> str:
    """Of what the only anchor of a pair is one; "" where there are none or several."""
    anchors = find_anchors(pair)
    if len(anchors) != 1:
        return ""
    kind = anchors[0].kind
    return "numbers" if kind == NUMBER else "words" if kind in word_classes() else "names"


def _difference(old: str, new: str) -> str:
    """The part of `new` between the beginning and the end that it shares with `old`; whole
    words, so that no shared letter of a name is missing."""
    words, others = new.split(" "), old.split(" ")
    start = 0
    while start < min(len(words), len(others)) and words[start] == others[start]:
        start += 1
    end = 0
    while end < min(len(words), len(others)) - start and words[-1 - end] == others[-1 - end]:
        end += 1
    return " ".join(words[start : len(words) - end])


def _outputs(checkpoint: Checkpoint, texts: Sequence[str]) -> list[str]:
    source, target = checkpoint.source_vocabulary, checkpoint.target_vocabulary
    return translate(checkpoint.model, source, target, texts)


def _some_rows(path: Path, count: int, folder: Path) -> Path:
    """A file of `count` random rows of another."""
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    chosen = np.random.default_rng(0).permutation(len(lines))[:count]
    some = folder / "some.tsv"
    some.write_text("".join(lines[number] for number in chosen), encoding="utf-8")
    return some


def _show(name: str, found: Quality, rest: str = "") -> None:
    print(
        f"{name:<22} BLEU {found.bleu:5.2f}  names {found.names:4.0%}  numbers "
        f"{found.numbers:4.0%}  words {found.words:4.0%}  three {found.joined_bleu:5.2f}, "
        f"ratio {found.joined_ratio:.3f}{rest}",
        flush=True,
    )


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("pairs", type=Path)
    parser.add_argument("--columns", default="1,2")
    parser.add_argument("--checkpoint", type=Path)
    parser.add_argument("--rows", type=int, default=40_000)
    parser.add_argument("--steps", type=int, default=1500)
    parser.add_argument("--batch-tokens", type=int, default=2500)
    parser.add_argument("--width", type=int, default=256)
    parser.add_argument("--pieces", type=int, default=8000)
    parser.add_argument("--patterned", type=float, default=0.05)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--variants", nargs="+", default=["full", "plain", *STEPS])
    options = parser.parse_args(arguments)
    columns = tuple(options.columns.split(","))
    torch.set_num_threads(options.threads)
    if options.checkpoint is not None:
        corpus = read_pairs(options.pairs, columns)
        _show(options.checkpoint.stem, quality(load_checkpoint(options.checkpoint), corpus))
        return
    with tempfile.TemporaryDirectory() as folder:
        some = _some_rows(options.pairs, options.rows, Path(folder))
        corpus = read_pairs(some, columns)
        base = replace(
            translation(str(some)), columns=columns, steps=options.steps, device="cpu",
            batch_tokens=options.batch_tokens, d_model=options.width, pieces=options.pieces,
            warmup=max(1, options.steps // 5), average=options.steps // 10,
            evaluate_every=options.steps, patterned=options.patterned,
        )  # fmt: skip
        for name, config in variants(base, options.variants):
            start = time.process_time()
            trainer = Trainer(config)
            for _ in trainer.run():
                pass
            assert trainer.moment is not None
            loss, minutes = trainer.moment.measured["held_out_loss"], time.process_time() - start
            rest = f"  loss {loss:.3f}  {minutes / 60:.1f} min of processor time"
            _show(name, quality(trainer.checkpoint({}), corpus), rest)


if __name__ == "__main__":
    main()
