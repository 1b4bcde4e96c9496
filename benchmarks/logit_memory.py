"""The memory of a trace whose vocabulary is large, of a model of the library transformers.

    python -m benchmarks.logit_memory [--vocabulary 152000] [--tokens 2000] [--new-tokens 32]
                                      [--layers 2] [--heads 2] [--width 64] [--threads 2]

A Llama model with random weights, opened from a directory as a person opens one; batch 1, float32,
each way in a process of its own. Linux only.

blocks    the logits of a block of rows at a time; target at most 400 MB
at once   the logits of all rows with each pass, as where a family allows nothing else

Printed is the largest resident memory during the trace, less that before it, which has the weights,
and less the attention that the trace holds; and the processor time of the trace. Both ways give
the same candidates.
"""

import argparse
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import partial
from multiprocessing import get_context
from pathlib import Path

import torch
import transformers

from benchmarks.timing import (
    peak_megabytes,
    processor_milliseconds,
    reset_peak,
    resident_megabytes,
)
from explorer.core import trace_size
from explorer.core.trace import Trace
from explorer.model.huggingface.anatomy import OutputHead
from explorer.model.huggingface.opening.loading import open_directory
from explorer.model.huggingface.traced_model import HuggingFaceModel

WAYS = ("blocks", "at once")


def save_random_llama(folder: Path, options: argparse.Namespace) -> None:
    """A Llama model with random weights, without an end token, as a directory."""
    torch.manual_seed(0)
    config = transformers.LlamaConfig(
        vocab_size=options.vocabulary,
        hidden_size=options.width,
        intermediate_size=2 * options.width,
        num_hidden_layers=options.layers,
        num_attention_heads=options.heads,
        num_key_value_heads=options.heads,
        max_position_embeddings=options.tokens + options.new_tokens,
        tie_word_embeddings=True,
        eos_token_id=None,
        bos_token_id=None,
    )
    transformers.LlamaForCausalLM(config).save_pretrained(folder)


def at_once(model: HuggingFaceModel) -> HuggingFaceModel:
    """`model` as if nothing showed that some logits can be computed without the others, and nothing
    were refused in this process."""
    trace_size.largest_logits = lambda: sys.maxsize
    head = OutputHead(model.anatomy.head.width)
    return replace(model, anatomy=replace(model.anatomy, head=head))


def memory_of(
    folder: Path, options: argparse.Namespace, way: str
) -> tuple[float, float, list[float]]:
    """Megabytes beyond weights and attention, seconds of processor time, and the probabilities of
    all candidates."""
    torch.set_num_threads(options.threads)
    model = open_directory(folder)
    if way == "at once":
        model = at_once(model)
    model.trace("1 2 3", max_new_tokens=2)
    text = " ".join(str(1 + position % 50) for position in range(options.tokens))
    before = resident_megabytes()
    reset_peak()
    traces: list[Trace] = []
    run = partial(model.trace, text, max_new_tokens=options.new_tokens)
    spent = processor_milliseconds(lambda: traces.append(run()))
    beyond = peak_megabytes() - before - attention_megabytes(traces[0])
    return beyond, spent / 1000, traces[0].steps().probability.tolist()


def attention_megabytes(trace: Trace) -> float:
    return sum(trace.attention(site).nbytes for site in trace.sites) / 2**20


def main(arguments: Sequence[str] | None = None) -> None:
    description, _, usage = (__doc__ or "").partition("\n\n")
    parser = argparse.ArgumentParser(description=description, epilog=usage)
    parser.add_argument("--vocabulary", type=int, default=152_000)
    parser.add_argument("--tokens", type=int, default=2000)
    parser.add_argument("--new-tokens", type=int, default=32)
    parser.add_argument("--layers", type=int, default=2)
    parser.add_argument("--heads", type=int, default=2)
    parser.add_argument("--width", type=int, default=64)
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args(arguments)
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        save_random_llama(Path(folder), options)
        for way in WAYS:
            with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as process:
                found[way] = process.submit(memory_of, Path(folder), options, way).result()
    for way, (megabytes, seconds, _) in found.items():
        memory = f"{megabytes:7.0f} MB beyond weights and attention"
        print(f"{way:8} {memory}, {seconds:.1f} s of processor time")
    one, other = (torch.tensor(candidates) for _, _, candidates in found.values())
    print(f"candidates: probabilities differ by at most {float((one - other).abs().max()):.1e}")


if __name__ == "__main__":
    main()
