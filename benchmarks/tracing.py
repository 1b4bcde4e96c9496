"""`model.trace` against other ways to get the same matrices; same sizes, one run.

    python -m benchmarks.tracing [--sizes classroom|translation] [--tokens 16] [--threads 2]
                                 [--busy 0] [--ways trace threads recompute marian]
                                 [--rounds 40] [--warm-up 10] [--growth 1000] [--profile]

trace      decode with a cache, then one pass that captures every matrix, integrity measured;
           with at most --threads threads, as many as suit the size.
threads    the same with all --threads.
recompute  for every token run encoder and decoder again over all tokens so far, capturing; with
           all --threads, as the next one. With --threads 1 all ways compute alike.
marian     Hugging Face MarianMTModel.generate(output_attentions=True), greedy, its own cache;
           left out, with a line that says so, where transformers is not installed.

All random weights, batch 1, float32, `tokens` source tokens, exactly `tokens` decoded (the end
is never chosen). Warm-up rounds first; then the ways in turn, medians and the median of the
ratios round by round. With --busy: while so many other processes keep cores busy. With --growth:
how much resident memory the process gains over that many traces, counted after the first tenth
of them (Linux only). With --profile: the operators of torch in which trace spends most of its
time, and what is left for the loops in Python.
"""

import argparse
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import torch

from benchmarks.timing import milliseconds, resident_megabytes
from explorer.core.vocabulary import BOS, EOS, SPECIALS, TOY_VOCABULARY, SymbolVocabulary
from explorer.model import threads
from explorer.model.checkpoint import Checkpoint
from explorer.model.config import ModelConfig
from explorer.model.explorable import ExplorableModel
from explorer.model.hooks import recorded
from explorer.model.transformer import Transformer

if TYPE_CHECKING:
    from transformers import MarianMTModel

SIZES = {
    "classroom": ModelConfig(len(TOY_VOCABULARY), len(TOY_VOCABULARY)),
    "translation": ModelConfig(
        8000, 8000, d_model=256, heads=8, encoder_layers=3, decoder_layers=3, d_ff=1024,
        tied_embeddings=True,
    ),
}  # fmt: skip

WAYS = ("trace", "threads", "recompute", "marian")


def explorable(config: ModelConfig) -> ExplorableModel:
    """A model with random weights that never chooses the end."""
    torch.manual_seed(0)
    model = Transformer(config).eval()
    with torch.no_grad():
        model.logits.bias[EOS] = -1e9
    symbols = tuple(f"s{number}" for number in range(config.source_vocabulary - len(SPECIALS)))
    vocabulary = SymbolVocabulary(symbols)
    return ExplorableModel(Checkpoint(model, vocabulary, vocabulary, {}), "random")


def recompute(model: Transformer, source: torch.Tensor, tokens: int) -> list[dict[str, Any]]:
    """The patterns of each step, encoder and decoder run again for every token."""
    target, seen = torch.tensor([[BOS]]), []
    with torch.inference_mode():
        for _ in range(tokens):
            with recorded(model, "*.pattern") as patterns:
                logits = model(source, target)
            seen.append({name: pattern.numpy() for name, pattern in patterns.items()})
            target = torch.cat([target, logits[:, -1:].argmax(-1)], 1)
    return seen


def marian(sizes: ModelConfig) -> "MarianMTModel":
    """A MarianMT model of the same sizes with random weights."""
    from transformers import MarianConfig, MarianMTModel

    config = MarianConfig(
        vocab_size=sizes.source_vocabulary,
        d_model=sizes.d_model,
        encoder_layers=sizes.encoder_layers,
        decoder_layers=sizes.decoder_layers,
        encoder_attention_heads=sizes.heads,
        decoder_attention_heads=sizes.heads,
        encoder_ffn_dim=sizes.d_ff,
        decoder_ffn_dim=sizes.d_ff,
        max_position_embeddings=max(64, 2 * sizes.max_length),
        pad_token_id=0,
        eos_token_id=EOS,
        decoder_start_token_id=BOS,
        attn_implementation="eager",  # the one that returns its matrices
    )
    return MarianMTModel(config).eval()


def trace_with_all_threads(model: ExplorableModel, text: str) -> object:
    """A trace without the choice of the number of threads."""
    small, threads.SMALL = threads.SMALL, 0
    try:
        return model.trace(text)
    finally:
        threads.SMALL = small


@contextmanager
def busy(processes: int) -> Iterator[None]:
    """A block during which so many other processes keep cores busy."""
    others = [
        subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(processes)
    ]
    try:
        yield
    finally:
        for other in others:
            other.kill()
            other.wait()


def growth(run: Callable[[], object], count: int) -> float:
    """MB by which `count` runs enlarge this process, the first tenth of them not counted."""
    for _ in range(count // 10):
        run()
    before = resident_megabytes()
    for _ in range(count - count // 10):
        run()
    return resident_megabytes() - before


def print_profile(run: Callable[[], object], count: int) -> None:
    """Print the operators of torch that take most of the time of `run`. Recording slows all down,
    the small operators most; so linear layers take at least the printed share."""
    with torch.profiler.profile() as recorded_calls:
        elapsed = milliseconds(lambda: [run() for _ in range(count)])
    operators = recorded_calls.key_averages()
    shares = {one.key: one.self_cpu_time_total / 1000 / elapsed for one in operators}
    shares["Python"] = 1 - sum(shares.values())
    for name, share in sorted(shares.items(), key=lambda item: -item[1])[:8]:
        print(f"{name:45} {share:6.1%}")


def marian_way(sizes: ModelConfig, source: torch.Tensor, tokens: int) -> Callable[[], object]:
    """Decode `tokens` tokens with every attention matrix, by transformers' own loop."""
    model = marian(sizes)

    def generate() -> Any:
        return model.generate(
            source,
            max_new_tokens=tokens,
            min_new_tokens=tokens,
            num_beams=1,
            do_sample=False,
            output_attentions=True,
            return_dict_in_generate=True,
        )

    assert len(generate().decoder_attentions) == tokens
    return generate


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure every way in turn and print it beside the first."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", choices=SIZES, default="classroom")
    defaults = {"tokens": 16, "threads": 2, "busy": 0, "rounds": 40, "warm-up": 10, "growth": 0}
    for name, default in defaults.items():
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--profile", action="store_true")
    parser.add_argument("--ways", nargs="+", choices=WAYS, default=WAYS)
    options = parser.parse_args(arguments)
    torch.set_num_threads(options.threads)
    tokens = options.tokens
    sizes = replace(SIZES[options.sizes], max_length=tokens)
    model = explorable(sizes)
    text = " ".join(f"s{position % 20}" for position in range(tokens - 1))
    source = torch.tensor([[*model.source_vocabulary.encode(text), EOS]])
    ways: dict[str, Callable[[], object]] = {
        "trace": lambda: model.trace(text),
        "threads": lambda: trace_with_all_threads(model, text),
        "recompute": lambda: recompute(model.transformer, source, tokens),
    }
    assert len(model.trace(text).target_tokens) == tokens
    installed = find_spec("transformers") is not None
    if installed and "marian" in options.ways:
        ways["marian"] = marian_way(sizes, source, tokens)
    ways = {name: run for name, run in ways.items() if name in ("trace", *options.ways)}
    times: dict[str, list[float]] = {name: [] for name in ways}
    with busy(options.busy):
        for number in range(options.warm_up + options.rounds):
            for name, run in ways.items():
                elapsed = milliseconds(run)
                if number >= options.warm_up:
                    times[name].append(elapsed)
    print(
        f"{tokens} → {tokens} tokens, {options.sizes} sizes, {options.threads} threads, "
        f"{options.busy} busy processes"
    )
    for name, own in times.items():
        ratios = [other / mine for other, mine in zip(own, times["trace"], strict=True)]
        print(
            f"{name:10} {statistics.median(own):7.2f} ms  "
            f"{statistics.median(ratios):5.2f} × the time of trace"
        )
    if "marian" in options.ways and not installed:
        print(
            "marian     not measured: transformers is not installed (benchmarks/requirements.txt)"
        )
    if options.profile:
        print_profile(ways["trace"], options.rounds)
    if options.growth:
        print(f"{options.growth} traces: {growth(ways['trace'], options.growth):+.1f} MB")


if __name__ == "__main__":
    main()
