"""Two processes of one training, started by torchrun, against one process alone."""

import subprocess
import sys
from dataclasses import asdict, fields
from pathlib import Path

import pytest
import torch
from test_recording import LONGER, losses
from torch import nn

from explorer import parallel
from explorer.checkpoint import load_checkpoint
from explorer.recording import carry_out
from explorer.runs import Run, create_run
from explorer.settings import TrainingConfig

ROOT = Path(__file__).parent.parent


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


def test_alone_everything_is_as_if_nobody_else_were_there():
    assert (parallel.world(), parallel.rank()) == (1, 0)
    assert parallel.agreed(True)
    assert parallel.total(torch.tensor(3.0)) == 3.0


@torch.no_grad()
def compare(ours: nn.Module, theirs: nn.Module) -> float:
    """The largest difference between two models' weights."""
    pairs = zip(ours.parameters(), theirs.parameters(), strict=True)
    return max(float((one - other).abs().max()) for one, other in pairs)


def test_two_processes_learn_what_one_learns_from_the_same_batches(tmp_path):
    config = TrainingConfig(**asdict(LONGER) | {"dropout": 0.0, "steps": 30, "accumulate": 2})
    alone = create_run(tmp_path / "alone" / "one", config)
    carry_out(alone)
    folder = tmp_path / "together" / "two"
    torchrun = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", "-m", "--"]
    command = [sys.executable, *torchrun, "explorer", "train", "--run", str(folder)]
    finished = subprocess.run(
        [*command, *settings(config)], cwd=ROOT, capture_output=True, text=True, timeout=300
    )
    assert finished.returncode == 0, finished.stdout + finished.stderr
    assert finished.stdout.count("done at step 30") == 1
    together = Run(folder)
    ours, theirs = losses(together), losses(alone)
    assert [step for step, _ in ours] == [step for step, _ in theirs]
    assert [loss for _, loss in ours] == pytest.approx([loss for _, loss in theirs], rel=1e-3)
    models = [load_checkpoint(run.checkpoint_path).model for run in (together, alone)]
    assert compare(*models) < 5e-3
