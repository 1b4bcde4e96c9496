"""The step as a CUDA graph."""

import torch

from explorer.training.cuda_graph import WARMUP_STEPS, GraphedStep


def test_a_replay_repeats_the_step_and_the_capture_does_not_run_it():
    total = torch.zeros((), device="cuda")

    def step() -> None:
        total.add_(torch.ones((), device="cuda"))

    graphed = GraphedStep(step, torch.Generator("cuda"))
    for taken in range(1, WARMUP_STEPS + 3):
        assert graphed.captured == (taken > WARMUP_STEPS + 1)
        graphed()
        assert total.item() == taken


def test_each_replay_draws_new_numbers_from_the_generator():
    drawn = torch.zeros(8, device="cuda")
    generator = torch.Generator("cuda").manual_seed(7)

    def step() -> None:
        drawn.uniform_(generator=generator)

    graphed = GraphedStep(step, generator)
    seen = []
    for _ in range(WARMUP_STEPS + 3):
        graphed()
        seen.append(drawn.clone())
    assert graphed.captured
    generator.manual_seed(7)  # the same numbers one operation at a time
    for ours in seen:
        assert torch.equal(ours, drawn.uniform_(generator=generator))


def test_a_step_that_cannot_be_captured_runs_without_a_graph_and_draws_the_same_numbers():
    generator = torch.Generator("cuda")
    drawn: list[float] = []

    def step() -> None:
        data = torch.rand((), generator=generator, device="cuda")
        dropout = torch.rand((), device="cuda")
        drawn.append(float(data + dropout))  # reads a value back

    torch.manual_seed(5)
    generator.manual_seed(7)
    graphed = GraphedStep(step, generator)
    for _ in range(WARMUP_STEPS + 3):
        graphed()
    assert not graphed.captured
    ours = list(drawn)
    drawn.clear()
    torch.manual_seed(5)
    generator.manual_seed(7)
    for _ in ours:
        step()
    assert ours == drawn
