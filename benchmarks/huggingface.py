"""Traces of a model of the library transformers against the library's own attention weights.

    python -m benchmarks.huggingface [--tokens 32 128] [--layers 6] [--width 512] [--heads 8]
                                     [--rounds 10] [--warm-up 2] [--threads 2] [--processor]

A Marian model with random weights, opened from a directory as a person opens one; batch 1,
float32, as many source tokens as tokens decoded, and the end is never chosen.

pass      one pass over all tokens that captures every matrix, against the library's pass on its
          explicit attention with `output_attentions=True`; target at most 1.10 × its time
decoding  greedy decoding with a cache, and a pass that captures, against `generate` with
          `output_attentions=True`; target at least 1.0 × as fast at 32 tokens, 1.3 × at 128
trace     `model.trace`, which also measures its own integrity, against the same `generate`

The ways in turn, warm-up rounds first; medians, and the median of the ratios round by round. With
`--processor` the processor time of all threads, where other programs keep the machine busy.
"""

import argparse
import statistics
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
import transformers

from benchmarks.timing import milliseconds, processor_milliseconds
from explorer.model.huggingface.anatomy import Kind
from explorer.model.huggingface.capture.attention_calls import Call
from explorer.model.huggingface.capture.edits import Edits
from explorer.model.huggingface.capture.passes import encoded, full_pass, greedy_rows
from explorer.model.huggingface.decoding import DecodingRules
from explorer.model.huggingface.inputs import Inputs, padded_inputs
from explorer.model.huggingface.opening.loading import open_directory
from explorer.model.huggingface.traced_model import HuggingFaceModel

Clock = Callable[[Callable[[], object]], float]

VOCABULARY = 8000
PAD, START = 0, 1
COMPARED = (("pass", "library's pass"), ("decoding", "generate"), ("trace", "generate"))
"""Our way, and that of the library beside which it is printed."""


def save_random_marian(folder: Path, layers: int, width: int, heads: int, longest: int) -> None:
    """A Marian model with random weights, without an end token, as a directory."""
    torch.manual_seed(0)
    config = transformers.MarianConfig(
        vocab_size=VOCABULARY,
        d_model=width,
        encoder_layers=layers,
        decoder_layers=layers,
        encoder_attention_heads=heads,
        decoder_attention_heads=heads,
        encoder_ffn_dim=4 * width,
        decoder_ffn_dim=4 * width,
        max_position_embeddings=longest + 1,
        pad_token_id=PAD,
        decoder_start_token_id=START,
        eos_token_id=None,
        forced_eos_token_id=None,
    )
    transformers.MarianMTModel(config).save_pretrained(folder)


def decode_and_capture(model: HuggingFaceModel, source: Inputs, tokens: int) -> Inputs:
    """The inputs with the tokens chosen greedily."""
    edits, rules = Edits({}, {}), DecodingRules(first=1, last=tokens)
    calls: list[Call] = []
    seen = {"encoder": lambda index, call: calls.append(call)}
    memory = encoded(model.model, model.anatomy, source, edits, seen)
    steps = greedy_rows(model.model, model.kind, source, edits, rules, memory)
    whole = source.with_target([int(token) for _, token in steps][:-1])
    full_pass(model.model, model.anatomy, whole, record=True, memory=memory)
    return whole


def ways_of(model: HuggingFaceModel, library: Any, tokens: int) -> dict[str, Callable[[], object]]:
    """What is timed, by name."""
    ids = [START + 1 + position % 50 for position in range(tokens)]
    text = " ".join(map(str, ids))
    source = padded_inputs(Kind.ENCODER_DECODER, ids, (), START)
    whole = decode_and_capture(model, source, tokens)

    def generate() -> Any:
        return library.generate(
            input_ids=source.source,
            attention_mask=source.source_mask,
            max_new_tokens=tokens,
            num_beams=1,
            do_sample=False,
            output_attentions=True,
            return_dict_in_generate=True,
        )

    assert len(generate().decoder_attentions) == tokens
    assert len(model.trace(text, max_new_tokens=tokens).target_tokens) == tokens
    return {
        "pass": lambda: full_pass(model.model, model.anatomy, whole, record=True),
        "library's pass": lambda: full_pass(library, model.anatomy, whole, library=True),
        "decoding": lambda: decode_and_capture(model, source, tokens),
        "trace": lambda: model.trace(text, max_new_tokens=tokens),
        "generate": generate,
    }


def measured(
    ways: Mapping[str, Callable[[], object]], clock: Clock, warm_up: int, rounds: int
) -> dict[str, list[float]]:
    """Milliseconds of each way by this clock, all of them in turn."""
    times: dict[str, list[float]] = {name: [] for name in ways}
    for number in range(warm_up + rounds):
        for name, run in ways.items():
            elapsed = clock(run)
            if number >= warm_up:
                times[name].append(elapsed)
    return times


@torch.inference_mode()
def main(arguments: Sequence[str] | None = None) -> None:
    """Measure every way and print it beside the library's."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tokens", type=int, nargs="+", default=[32, 128])
    defaults = {"layers": 6, "width": 512, "heads": 8, "rounds": 10, "warm-up": 2, "threads": 2}
    for name, default in defaults.items():
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--processor", action="store_true", help="compare processor time")
    options = parser.parse_args(arguments)
    torch.set_num_threads(options.threads)
    transformers.logging.disable_progress_bar()
    with tempfile.TemporaryDirectory() as name:
        sizes = (options.layers, options.width, options.heads, max(options.tokens))
        save_random_marian(Path(name), *sizes)
        model = open_directory(Path(name), "random")
        library = transformers.MarianMTModel.from_pretrained(name, attn_implementation="eager")
    library.eval()
    clock = processor_milliseconds if options.processor else milliseconds
    for tokens in options.tokens:
        ways = ways_of(model, library, tokens)
        times = measured(ways, clock, options.warm_up, options.rounds)
        for ours, theirs in COMPARED:
            pairs = zip(times[ours], times[theirs], strict=True)
            ratio = statistics.median(own / other for own, other in pairs)
            print(
                f"{tokens} tokens  {ours:8} {statistics.median(times[ours]):8.1f} ms, {theirs} "
                f"{statistics.median(times[theirs]):8.1f} ms: {ratio:.2f} × its time, "
                f"{1 / ratio:.2f} × as fast"
            )


if __name__ == "__main__":
    main()
