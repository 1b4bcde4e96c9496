"""`model.trace` against two ways to get the same matrices; same sizes, same threads, one run.

    python benchmarks/tracing.py [--sizes classroom|translation] [--tokens 16] [--threads 2]
                                 [--rounds 40] [--growth 1000]

trace      decode with a cache, then one pass that captures every matrix, integrity measured.
recompute  for every token run encoder and decoder again over all tokens so far, capturing.
marian     Hugging Face MarianMTModel.generate(output_attentions=True), greedy, its own cache.

All random weights, batch 1, float32, `tokens` source tokens, exactly `tokens` decoded (the end
is never chosen). Ten warm-up rounds; then the three in turn, medians and the median of the
ratios round by round. With --growth: by how much the process grows over that many traces, after
a tenth of them.
"""

import argparse
import os
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import torch
from transformers import MarianConfig, MarianMTModel

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT)]

from explorer.core.vocabulary import BOS, CLASSROOM, EOS, SPECIALS, SymbolVocabulary
from explorer.model.checkpoint import Checkpoint
from explorer.model.config import ModelConfig
from explorer.model.explorable import ExplorableModel
from explorer.model.hooks import capture
from explorer.model.transformer import Transformer

SIZES = {
    "classroom": ModelConfig(len(CLASSROOM), len(CLASSROOM)),
    "translation": ModelConfig(
        8000, 8000, d_model=256, heads=8, encoder_layers=3, decoder_layers=3, d_ff=1024,
        tied_embeddings=True,
    ),
}  # fmt: skip


def explorable(config: ModelConfig) -> ExplorableModel:
    torch.manual_seed(0)
    model = Transformer(config).eval()
    with torch.no_grad():
        model.logits.bias[EOS] = -1e9
    symbols = tuple(f"s{number}" for number in range(config.source_vocabulary - len(SPECIALS)))
    vocabulary = SymbolVocabulary(symbols)
    return ExplorableModel(Checkpoint(model, vocabulary, vocabulary, {}), "random")


def recompute(model: Transformer, source: torch.Tensor, tokens: int) -> list[dict]:
    """What a first version does: everything again for every token."""
    target, seen = torch.tensor([[BOS]]), []
    with torch.inference_mode():
        for _ in range(tokens):
            with capture(model, "*.pattern") as patterns:
                logits = model(source, target)
            seen.append({name: pattern.numpy() for name, pattern in patterns.items()})
            target = torch.cat([target, logits[:, -1:].argmax(-1)], 1)
    return seen


def marian(sizes: ModelConfig) -> MarianMTModel:
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


def clock(run: Callable[[], object]) -> float:
    start = time.perf_counter()
    run()
    return 1000 * (time.perf_counter() - start)


def grown(run: Callable[[], object], times: int) -> float:
    """MB that this process has more after `times` runs than after a tenth of them."""
    sizes = []
    for count in (times // 10, times - times // 10):
        for _ in range(count):
            run()
        pages = int(Path("/proc/self/statm").read_text().split()[1])
        sizes.append(pages * os.sysconf("SC_PAGE_SIZE") / 2**20)
    return sizes[1] - sizes[0]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--sizes", choices=SIZES, default="classroom")
    for name, default in (("tokens", 16), ("threads", 2), ("rounds", 40), ("growth", 0)):
        parser.add_argument(f"--{name}", type=int, default=default)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    tokens = options.tokens
    sizes = replace(SIZES[options.sizes], max_length=tokens)
    model, other = explorable(sizes), marian(sizes)
    text = " ".join(f"s{place % 20}" for place in range(tokens - 1))
    source = torch.tensor([[*model.source_vocabulary.encode(text), EOS]])
    generate = {
        "max_new_tokens": tokens,
        "min_new_tokens": tokens,
        "num_beams": 1,
        "do_sample": False,
        "output_attentions": True,
        "return_dict_in_generate": True,
    }
    ways: dict[str, Callable[[], object]] = {
        "trace": lambda: model.trace(text),
        "recompute": lambda: recompute(model.transformer, source, tokens),
        "marian": lambda: other.generate(source, **generate),
    }
    assert len(model.trace(text).target_tokens) == tokens
    assert len(ways["marian"]().decoder_attentions) == tokens
    times: dict[str, list[float]] = {name: [] for name in ways}
    for round_ in range(10 + options.rounds):
        for name, run in ways.items():
            elapsed = clock(run)
            if round_ >= 10:
                times[name].append(elapsed)
    print(f"{tokens} → {tokens} tokens, {options.sizes} sizes, {options.threads} threads")
    for name, own in times.items():
        ratios = [other / mine for other, mine in zip(own, times["trace"], strict=True)]
        print(
            f"{name:10} {statistics.median(own):7.2f} ms  "
            f"{statistics.median(ratios):5.2f} × the time of trace"
        )
    if options.growth:
        print(f"{options.growth} traces: {grown(ways['trace'], options.growth):+.1f} MB")


if __name__ == "__main__":
    main()
