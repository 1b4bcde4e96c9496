"""A training step as one CUDA graph: captured once, then replayed without launch overhead."""

from collections.abc import Callable

import torch

WARMUP_STEPS = 3
"""Steps to run one operation at a time, in this process, before a step is captured."""


class GraphedStep:
    """`step`, run one operation at a time at first, then captured as a CUDA graph and replayed.

    step: works on static tensors and reads no value back.
    generator: the random generator it uses, beside the GPU's default one.
    """

    def __init__(self, step: Callable[[], None], generator: torch.Generator) -> None:
        self._step = step
        self._generator = generator
        self._ran = 0
        self._graph: torch.cuda.CUDAGraph | None = None
        self._refused = False  # it cannot be captured
        # One stream for all eager steps and for the capture: each stream has memory of its own.
        self._stream = torch.cuda.Stream()  # type: ignore[no-untyped-call]

    @property
    def captured(self) -> bool:
        """Whether steps are now replays of a graph."""
        return self._graph is not None

    def __call__(self) -> None:
        """Take the step; by a replay if there is a graph."""
        if self._graph is None and self._ran >= WARMUP_STEPS and not self._refused:
            self._capture()
        if self._graph is None:
            self.run_eagerly(self._step)
        else:
            self._graph.replay()

    def run_eagerly(self, step: Callable[[], None]) -> None:
        """Take one `step`, which may read values back, in order with the work before and after."""
        outer = torch.cuda.current_stream()
        self._stream.wait_stream(outer)
        with torch.cuda.stream(self._stream):
            step()
        outer.wait_stream(self._stream)
        self._ran += 1

    def _capture(self) -> None:
        """Capture the step without running it; if that fails, steps go on without a graph."""
        graph = torch.cuda.CUDAGraph()
        graph.register_generator_state(self._generator)
        torch.cuda.synchronize()
        try:
            with torch.cuda.graph(graph, stream=self._stream):
                self._step()
        except RuntimeError:
            self._refused = True
            _end_capture_of(self._generator)
            _end_capture_of(torch.cuda.default_generators[torch.cuda.current_device()])
        else:
            self._graph = graph


def _end_capture_of(generator: torch.Generator) -> None:
    """Let `generator` draw again: after a failed capture it still waits for the end of the
    capture."""
    generator.graphsafe_set_state(generator.clone_state())
