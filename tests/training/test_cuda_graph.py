"""When the step is captured, with a stand-in for CUDA; `tests/gpu` runs the real one."""

from contextlib import contextmanager, nullcontext
from types import SimpleNamespace

import pytest
import torch

from explorer.training.cuda_graph import WARMUP_STEPS, GraphedStep
from explorer.training.trainer import Trainer
from tests.support.tiny_configs import TINY


class Generator:
    """Counts how often its state was set anew."""

    def __init__(self) -> None:
        self.renewed = 0

    def clone_state(self) -> str:
        return "state"

    def graphsafe_set_state(self, state: str) -> None:
        assert state == "state"
        self.renewed += 1


@pytest.fixture
def cuda(monkeypatch) -> SimpleNamespace:
    """CUDA without a GPU: a graph whose capture works or `fails`, and counts of what was called."""
    seen = SimpleNamespace(fails=False, captures=0, replays=0, default=Generator())

    class Graph:
        def register_generator_state(self, generator: Generator) -> None: ...

        def replay(self) -> None:
            seen.replays += 1

    @contextmanager
    def capture(graph, stream):
        seen.captures += 1
        yield
        if seen.fails:
            raise RuntimeError("cannot be captured")

    stream = SimpleNamespace(wait_stream=lambda other: None)
    for name, value in {
        "CUDAGraph": Graph,
        "Stream": lambda: stream,
        "current_stream": lambda: stream,
        "current_device": lambda: 0,
        "default_generators": (seen.default,),
        "graph": capture,
        "stream": lambda stream: nullcontext(),
        "synchronize": lambda: None,
    }.items():
        monkeypatch.setattr(torch.cuda, name, value)
    return seen


def test_a_step_is_captured_once_it_is_warm_and_then_replayed(cuda):
    ran: list[str] = []
    graphed = GraphedStep(lambda: ran.append("step"), Generator())
    for _ in range(WARMUP_STEPS - 1):
        graphed()
    graphed.run_eagerly(lambda: ran.append("look"))  # warms up as well
    assert ran == ["step"] * (WARMUP_STEPS - 1) + ["look"]
    assert not graphed.captured
    graphed()
    graphed()
    graphed.run_eagerly(lambda: ran.append("look"))
    assert graphed.captured
    assert (cuda.captures, cuda.replays) == (1, 2)
    assert ran[WARMUP_STEPS:] == ["step", "look"]  # the capture records the step once


def test_a_step_that_cannot_be_captured_goes_on_without_a_graph(cuda):
    cuda.fails = True
    generator, ran = Generator(), []
    graphed = GraphedStep(lambda: ran.append("step"), generator)
    for _ in range(WARMUP_STEPS + 3):
        graphed()
    assert not graphed.captured
    assert (cuda.captures, cuda.replays) == (1, 0)
    assert len(ran) == WARMUP_STEPS + 1 + 3  # one of them recorded by the capture that failed
    assert (generator.renewed, cuda.default.renewed) == (1, 1)


def test_a_cpu_has_no_graph():
    assert Trainer(TINY)._graphed_step is None
