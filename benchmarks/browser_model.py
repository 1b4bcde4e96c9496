"""Time to decode and capture a text in JavaScript, as a browser without a server would.

    python -m benchmarks.browser_model [--runs 9]

For each text, in turns, so that a busy machine slows both alike:

    node    `trace` and `measured` of `explorer/components/browser_model/js/explorableModel.ts`,
            one thread
    python  `trace` of the same model, with its usual threads

Both decode step by step, capture all weights in one pass and make the passes of the integrity
checks. The first run of each is not counted. Medians.
"""

import argparse
import statistics
from collections.abc import Sequence
from pathlib import Path

import explorer
from benchmarks.timing import milliseconds
from tests.support.browser_model import browser_model

CHECKPOINTS = Path(__file__).parents[1] / "checkpoints"
TEXTS = {
    "reverse": "1 2 3 4 5 6 7 8 9 a b c d e f g",
    "english-french": "The man who lives next door to us has bought a new car.",
}


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--runs", type=int, default=9)
    options = parser.parse_args(arguments)
    for name, text in TEXTS.items():
        report(name, text, options.runs)


def report(name: str, text: str, runs: int) -> None:
    """Measure one model and print its line."""
    path = CHECKPOINTS / f"{name}.safetensors"
    model = explorer.load(path)
    node: list[float] = []
    python: list[float] = []
    with browser_model(path) as browser:
        for _ in range(1 + runs):
            node += browser.ask("time", text=text, runs=1)[0]["times"]
            python.append(milliseconds(lambda: model.trace(text)))
    trace = model.trace(text)
    size = f"{len(trace.source_tokens)}→{len(trace.target_tokens)}"
    one, other = statistics.median(node[1:]), statistics.median(python[1:])
    print(
        f"{name:15} {size:>6} tokens  node {one:6.1f} ms  python {other:6.1f} ms  "
        f"{one / other:5.2f} ×"
    )


if __name__ == "__main__":
    main()
