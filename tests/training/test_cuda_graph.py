"""Only the refusal is tested without a GPU; the capture itself needs one."""

import pytest
import torch

from explorer.training.cuda_graph import WARMUP_STEPS, GraphedStep, side_stream

needs_gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")


@pytest.mark.skipif(torch.cuda.is_available(), reason="needs a machine without a GPU")
def test_without_a_gpu_a_capture_raises_what_the_trainer_falls_back_on():
    steps: list[int] = []
    with pytest.raises(RuntimeError):
        GraphedStep(lambda: steps.append(1), torch.Generator())
    assert not steps


@needs_gpu
def test_a_replay_repeats_the_step_and_the_capture_does_not_run_it():
    total = torch.zeros((), device="cuda")
    generator = torch.Generator("cuda")

    def step() -> None:
        total.add_(torch.ones((), device="cuda"))

    with side_stream():
        for _ in range(WARMUP_STEPS):
            step()
    graphed = GraphedStep(step, generator)
    assert total.item() == WARMUP_STEPS
    graphed()
    graphed()
    assert total.item() == WARMUP_STEPS + 2


@needs_gpu
def test_each_replay_draws_new_numbers_from_the_generator():
    drawn = torch.zeros(8, device="cuda")
    generator = torch.Generator("cuda").manual_seed(7)

    def step() -> None:
        drawn.uniform_(generator=generator)

    with side_stream():
        for _ in range(WARMUP_STEPS):
            step()
    graphed = GraphedStep(step, generator)
    graphed()
    first = drawn.clone()
    graphed()
    assert not torch.equal(first, drawn)
