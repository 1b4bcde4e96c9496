"""What passes between the pass of a long text and its first picture in the app.

    python -m benchmarks.long_text [--layers 12] [--width 768] [--heads 12] [--tokens 2048]

A GPT-2 with random weights and the sizes given reads a random text, all layers captured:

trace     `model.trace`, the passes included
finished  of it the checks of the arrays and the digest, which follow the last pass
payload   what the app sends first, twice; target 2 s with `finished` and the first paint of the
          page, which `benchmarks.player` measures
memory    the largest resident memory of the process
"""

import argparse
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from unittest.mock import patch

import torch

import explorer
from benchmarks.patching import save_random_gpt2
from benchmarks.timing import milliseconds, peak_megabytes
from explorer.components.player.payload import Offer, player_payload
from explorer.core.trace import Trace

OFFER = Offer(names=("head", "integrity", "pictures"))


@contextmanager
def timed_finish() -> Iterator[list[float]]:
    """The time that each trace takes to be checked and hashed, ms."""
    times: list[float] = []
    finish = Trace.__post_init__
    with patch.object(
        Trace, "__post_init__", lambda trace: times.append(milliseconds(lambda: finish(trace)))
    ):
        yield times


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    sizes = {"layers": 12, "width": 768, "heads": 12, "tokens": 2048}
    for name, default in sizes.items():
        parser.add_argument(f"--{name}", type=int, default=default)
    options = parser.parse_args(arguments)
    ids = torch.randint(1000, 5000, (options.tokens,), generator=torch.Generator().manual_seed(0))
    text = " ".join(map(str, ids.tolist()))
    with tempfile.TemporaryDirectory() as folder:
        save_random_gpt2(Path(folder), *(getattr(options, name) for name in sizes))
        model = explorer.load(folder)
        traces: list[Trace] = []
        with timed_finish() as finished:
            spent = milliseconds(lambda: traces.append(model.trace(text, max_new_tokens=1)))
    weights = traces[0].attention("decoder")
    print(f"{weights.shape}, {weights.nbytes / 1e9:.2f} GB")
    print(f"trace     {spent / 1000:.2f} s")
    print(f"finished  {finished[-1] / 1000:.2f} s")
    for _ in range(2):
        sent = milliseconds(lambda: player_payload(traces[0], offer=OFFER))
        print(f"payload   {sent / 1000:.2f} s")
    print(f"memory    {peak_megabytes() / 1000:.2f} GB")


if __name__ == "__main__":
    main()
