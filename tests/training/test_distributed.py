"""Two processes that train one model, compared with a single one."""

import subprocess
import sys
from dataclasses import asdict, fields, replace
from pathlib import Path

import pytest
import torch
from torch import nn

from explorer.core.errors import TrainingError
from explorer.jobs.training_run import Run, create_run
from explorer.jobs.training_worker import run_training
from explorer.model.checkpoint import load_checkpoint
from explorer.training import distributed
from explorer.training.config import TrainingConfig
from tests.support.short_runs import LONGER, losses

ROOT = Path(__file__).parents[2]


def settings(config: TrainingConfig) -> list[str]:
    options: list[str] = []
    for field in fields(config):
        value = asdict(config)[field.name]
        name = field.name.replace("_", "-")
        if isinstance(value, bool):
            options.append(f"--{name}" if value else f"--no-{name}")
        else:
            options += [f"--{name}", " ".join(value) if isinstance(value, tuple) else str(value)]
    return options


def test_a_single_process_has_world_size_1():
    assert (distributed.world_size(), distributed.rank()) == (1, 0)
    assert distributed.broadcast_decision(True)
    assert distributed.all_reduce_sum(torch.tensor(3.0)) == 3.0


def test_more_processes_than_gpus_are_refused(monkeypatch):
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    with pytest.raises(TrainingError, match="2 processes need a GPU each, and there are 1"):
        distributed.launch(["train"], 2)


def test_each_process_has_a_gpu_of_its_own(monkeypatch):
    monkeypatch.setenv("LOCAL_WORLD_SIZE", "3")
    assert list(distributed.gpu_numbers(torch.device("cpu"))) == [0]
    assert list(distributed.gpu_numbers(torch.device("cuda:1"))) == [1]
    monkeypatch.setattr(distributed, "local_device", lambda: torch.device("cuda:0"))
    assert list(distributed.gpu_numbers(torch.device("cuda"))) == [0, 1, 2]


@torch.no_grad()
def compare(ours: nn.Module, theirs: nn.Module) -> float:
    """The largest difference between two models' weights."""
    pairs = zip(ours.parameters(), theirs.parameters(), strict=True)
    return max(float((one - other).abs().max()) for one, other in pairs)


def test_two_processes_have_the_losses_and_weights_of_one(tmp_path):
    sizes = {"dropout": 0.0, "steps": 30, "warmup": 30, "rate": 0.3 * LONGER.rate, "accumulate": 2}
    config = TrainingConfig(**asdict(LONGER) | sizes)
    alone = create_run(tmp_path / "alone" / "one", config)
    run_training(alone)
    folder = tmp_path / "together" / "two"
    command = [sys.executable, "-m", "explorer", "train", "--run", str(folder)]
    both = settings(replace(config, processes=2))
    finished = subprocess.run(
        [*command, *both], cwd=ROOT, capture_output=True, text=True, timeout=300
    )
    assert finished.returncode == 0, finished.stdout + finished.stderr
    assert finished.stdout.count("done at step 30") == 1
    assert finished.stdout.count("2 processes train one model") == 1
    together = Run(folder)
    assert together.config.processes == 2
    ours, theirs = losses(together), losses(alone)
    assert [step for step, _ in ours] == [step for step, _ in theirs]
    assert [loss for _, loss in ours] == pytest.approx([loss for _, loss in theirs], rel=1e-3)
    models = [load_checkpoint(run.checkpoint_path).model for run in (together, alone)]
    assert compare(*models) < 5e-3
