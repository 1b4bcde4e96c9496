"""A training step as one CUDA graph: captured once, then replayed without launch overhead."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import torch

WARMUP_STEPS = 3
"""Steps that must have run in a `side_stream` before one can be captured."""


class GraphedStep:
    """`step`, captured as a CUDA graph. Raises `RuntimeError` when it cannot be captured.

    step: works on static tensors; has run `WARMUP_STEPS` times in a `side_stream`. Capturing
        does not run it.
    generator: the random generator it uses, beside the GPU's default one.
    """

    def __init__(self, step: Callable[[], None], generator: torch.Generator) -> None:
        self.graph = torch.cuda.CUDAGraph()
        self.graph.register_generator_state(generator)
        torch.cuda.synchronize()
        with torch.cuda.graph(self.graph):
            step()

    def __call__(self) -> None:
        self.graph.replay()


@contextmanager
def side_stream() -> Iterator[None]:
    """A block whose work runs on another stream, in order with the work before and after it."""
    outer = torch.cuda.current_stream()
    stream = torch.cuda.Stream()  # type: ignore[no-untyped-call]
    stream.wait_stream(outer)
    with torch.cuda.stream(stream):
        yield
    outer.wait_stream(stream)
