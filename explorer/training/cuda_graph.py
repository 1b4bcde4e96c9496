"""A training step as one CUDA graph: recorded once, then replayed without Python's delay."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import torch

WARM = 3
"""Steps that must have run, on the stream of the recording, before one can be recorded."""


class RecordedStep:
    """`step`, recorded on the GPU. Raises `RuntimeError` when it cannot be recorded.

    step: works on tensors that stay where they are; it has run `WARM` times in a
        `warm_stream`. Recording does not run it.
    generator: what it draws from beside the GPU's own generator.
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
def warm_stream() -> Iterator[None]:
    """A block whose work goes to a stream of its own, in order with what is around it."""
    around = torch.cuda.current_stream()
    stream = torch.cuda.Stream()  # type: ignore[no-untyped-call]
    stream.wait_stream(around)
    with torch.cuda.stream(stream):
        yield
    around.wait_stream(stream)
