"""`model.trace` against two ways to get the same matrices; same sizes, same threads, one run.

    python benchmarks/tracing.py [--tokens 16] [--threads 2] [--rounds 40]

trace      decode with a cache, then one pass that captures every matrix, integrity measured.
recompute  for every token run encoder and decoder again over all tokens so far, capturing.
marian     Hugging Face MarianMTModel.generate(output_attentions=True), greedy, its own cache.

All random weights, batch 1, float32, `tokens` source tokens, exactly `tokens` decoded (the end
is never chosen). Ten warm-up rounds; then the three in turn, medians and the median of the
ratios round by round.
"""

import argparse
import statistics
import time
from collections.abc import Callable

import torch
from transformers import MarianConfig, MarianMTModel

from explorer.checkpoint import Checkpoint
from explorer.hooks import capture
from explorer.model import ModelConfig, Transformer
from explorer.tracing import ExplorableModel
from explorer.vocabulary import BOS, CLASSROOM, EOS

ENTRIES = len(CLASSROOM)


def explorable(tokens: int) -> ExplorableModel:
    torch.manual_seed(0)
    model = Transformer(ModelConfig(ENTRIES, ENTRIES, max_length=tokens)).eval()
    with torch.no_grad():
        model.logits.bias[EOS] = -1e9
    return ExplorableModel(Checkpoint(model, CLASSROOM, CLASSROOM, {}), "random")


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


def marian(tokens: int) -> MarianMTModel:
    config = MarianConfig(
        vocab_size=ENTRIES,
        d_model=128,
        encoder_layers=2,
        decoder_layers=2,
        encoder_attention_heads=4,
        decoder_attention_heads=4,
        encoder_ffn_dim=512,
        decoder_ffn_dim=512,
        max_position_embeddings=max(64, 2 * tokens),
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


def main() -> None:
    parser = argparse.ArgumentParser()
    for name, default in (("tokens", 16), ("threads", 2), ("rounds", 40)):
        parser.add_argument(f"--{name}", type=int, default=default)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    tokens = options.tokens
    text = " ".join(CLASSROOM.symbols[place % 20] for place in range(tokens - 1))
    model, other = explorable(tokens), marian(tokens)
    source = torch.tensor([[*CLASSROOM.encode(text), EOS]])
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
    print(f"{tokens} → {tokens} tokens, 2+2 layers, width 128, 4 heads, {options.threads} threads")
    for name, own in times.items():
        ratios = [other / mine for other, mine in zip(own, times["trace"], strict=True)]
        print(
            f"{name:10} {statistics.median(own):7.2f} ms  "
            f"{statistics.median(ratios):5.2f} × the time of trace"
        )


if __name__ == "__main__":
    main()
