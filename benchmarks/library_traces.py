"""Traces of a library model against the library's own passes, alone, in batches and in a file.

    python -m benchmarks.library_traces [--tokens 128] [--sentences 1000] [--length 20] [--batch 32]
                                        [--layers 12] [--width 768] [--heads 12]
                                        [--vocabulary 50257] [--rounds 7] [--threads 1]
                                        [--processor]

A GPT-2 and a BERT with random weights, opened from directories as a person opens them; float32.

gpt2, bert   `trace` of one text whose tokens are given, checked once before or always, against one
             pass of the library with `output_attentions`; always is what `trace` did before; target
             once: at most 1.3 × its time
batches      `iter_traces` of many sentences of BERT, against plain passes of the library over
             batches that return attentions; baseline: `trace` of each text, always checked, on the
             first twentieth of the sentences; target at most 1.5 × the library's
saving       `Trace.save` of the GPT-2's trace against `numpy.savez` of its arrays into a file that
             is on the disk, too; baseline: `numpy.savez_compressed`; target at most 2 ×
memory       the largest resident memory after `load`, against loading by the library and a pass;
             a process each (Linux only); target at most 1.2 ×

The ways in turn, one warm-up round; medians, and the median of the ratios round by round.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers

from benchmarks.timing import milliseconds, processor_milliseconds
from explorer.core.trace import Trace
from explorer.model.huggingface.opening.loading import open_directory
from explorer.model.huggingface.traced_model import HuggingFaceModel

FIRST = 10
"""The first id of the texts; those before it may be special."""

_MEMORY = """
import resource, sys, torch, transformers
transformers.logging.disable_progress_bar()
if sys.argv[1] == "ours":
    import explorer
    model = explorer.load(sys.argv[2])
else:
    kind = transformers.GPT2LMHeadModel
    model = kind.from_pretrained(sys.argv[2], attn_implementation="eager").eval()
    with torch.inference_mode():
        model(torch.tensor([[10, 11, 12]]), output_attentions=True)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
"""


def save_random(folder: Path, options: argparse.Namespace) -> None:
    """A GPT-2 and a BERT with random weights in directories of their names."""
    torch.manual_seed(0)
    longest = max(options.tokens, options.length) + 1
    gpt2 = transformers.GPT2Config(
        vocab_size=options.vocabulary,
        n_positions=longest,
        n_embd=options.width,
        n_layer=options.layers,
        n_head=options.heads,
        bos_token_id=0,
        eos_token_id=1,
    )
    bert = transformers.BertConfig(
        vocab_size=options.vocabulary,
        hidden_size=options.width,
        num_hidden_layers=options.layers,
        num_attention_heads=options.heads,
        intermediate_size=4 * options.width,
        max_position_embeddings=longest,
    )
    transformers.GPT2LMHeadModel(gpt2).save_pretrained(folder / "gpt2")
    transformers.BertForMaskedLM(bert).save_pretrained(folder / "bert")


def library_pass(library: Any, ids: torch.Tensor) -> list[torch.Tensor]:
    """All weights of a pass over `ids` (N, S), by layer."""
    return list(library(ids, output_attentions=True).attentions)


def trace_ways(model: HuggingFaceModel, library: Any, tokens: int) -> dict[str, Any]:
    """One text: checked once before, checked always, and the library's pass."""
    ids = torch.arange(FIRST, FIRST + tokens)[None]
    words = [str(number) for number in ids[0].tolist()]
    options: dict[str, Any] = {}
    if model.decodes:  # half of the tokens is the target, whose end is not fed in
        options = {"target": " ".join(words[tokens // 2 :])}
        words = words[: tokens // 2]
    text = " ".join(words)
    trace = model.trace(text, **options)  # the proof
    assert trace.attention(trace.sites[0]).shape[2] == tokens
    return {
        "once": lambda: model.trace(text, **options),
        "always (baseline)": lambda: model.trace(text, check="always", **options),
        "library": lambda: library_pass(library, ids),
    }


def batch_ways(
    model: HuggingFaceModel, library: Any, options: argparse.Namespace
) -> dict[str, Callable[[], object]]:
    """Many sentences: in batches, one by one for the first twentieth, and by the library."""
    generator = torch.Generator().manual_seed(0)
    size = (options.sentences, options.length)
    ids = torch.randint(FIRST, options.vocabulary, size, generator=generator)
    texts = [" ".join(map(str, row)) for row in ids.tolist()]
    some = texts[: max(1, options.sentences // 20)]

    def plain() -> None:
        for part in torch.split(ids, options.batch):
            library_pass(library, part)

    return {
        "iter_traces": lambda: sum(1 for _ in model.iter_traces(texts)),
        "a twentieth one by one (baseline)": lambda: [
            model.trace(text, check="always") for text in some
        ],
        "library": plain,
    }


def save_ways(trace: Trace, folder: Path) -> dict[str, Callable[[], object]]:
    """The file of a trace: ours, that of NumPy, and deflated."""

    def saved_by(save: Callable[..., None]) -> None:
        with (folder / "arrays.npz").open("wb") as file:
            save(file, **trace.arrays)
            file.flush()
            os.fsync(file.fileno())

    return {
        "save": lambda: trace.save(folder / "x.trace"),
        "savez_compressed (baseline)": lambda: saved_by(np.savez_compressed),
        "savez": lambda: saved_by(np.savez),
    }


def peak(whose: str, folder: Path) -> float:
    """MB of the largest resident memory of a process that loads the model in `folder`."""
    command = [sys.executable, "-c", _MEMORY, whose, str(folder)]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def compare(
    title: str,
    ways: Mapping[str, Callable[[], object]],
    clock: Callable[[Callable[[], object]], float],
    rounds: int,
) -> None:
    """Time the ways in turn and print each beside the last one."""
    times: dict[str, list[float]] = {name: [] for name in ways}
    for number in range(rounds + 1):
        for name, run in ways.items():
            elapsed = clock(run)
            if number:
                times[name].append(elapsed)
    last = times[list(ways)[-1]]
    for name, own in times.items():
        ratio = statistics.median(one / other for one, other in zip(own, last, strict=True))
        print(f"{title:8} {name:34} {statistics.median(own):9.1f} ms  {ratio:6.2f} ×")


@torch.inference_mode()
def main(arguments: Sequence[str] | None = None) -> None:
    """Measure every way and print it beside the library's or NumPy's."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    sizes = {"tokens": 128, "sentences": 1000, "length": 20, "batch": 32, "rounds": 7, "threads": 1}
    sizes |= {"layers": 12, "width": 768, "heads": 12, "vocabulary": 50257}
    for name, default in sizes.items():
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--processor", action="store_true", help="compare processor time")
    options = parser.parse_args(arguments)
    torch.set_num_threads(options.threads)
    transformers.logging.disable_progress_bar()
    clock = processor_milliseconds if options.processor else milliseconds
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        save_random(folder, options)
        gpt2, bert = (open_directory(folder / family) for family in ("gpt2", "bert"))
        eager = {"attn_implementation": "eager"}
        libraries = (
            transformers.GPT2LMHeadModel.from_pretrained(folder / "gpt2", **eager).eval(),
            transformers.BertForMaskedLM.from_pretrained(folder / "bert", **eager).eval(),
        )
        for title, model, library in zip(("gpt2", "bert"), (gpt2, bert), libraries, strict=True):
            compare(title, trace_ways(model, library, options.tokens), clock, options.rounds)
        compare("batches", batch_ways(bert, libraries[1], options), clock, min(3, options.rounds))
        text = " ".join(str(FIRST + number) for number in range(options.tokens - 1))
        trace = gpt2.trace(text, max_new_tokens=1)
        compare("saving", save_ways(trace, folder), clock, options.rounds)
        own, other = (peak(whose, folder / "gpt2") for whose in ("ours", "library"))
        print(f"memory   load {own:.0f} MB, library {other:.0f} MB  {own / other:.2f} ×")


if __name__ == "__main__":
    main()
