"""Runs that have ended, without a process: the folder that a short training leaves."""

import os
import time
from pathlib import Path

from explorer.jobs.status import Status
from explorer.jobs.training_run import Run, create_run
from explorer.model.checkpoint import to_bytes
from explorer.training.config import TrainingConfig
from explorer.training.trainer import Trainer

CONFIG = TrainingConfig(
    task="reverse", longest=8, d_model=16, heads=2, d_ff=16, steps=1, batch=2, device="cpu"
)


def finished_run(folder: Path, config: TrainingConfig = CONFIG, exact: float = 0.5) -> Run:
    """A run that is done, with an untrained model as its best and as its last checkpoint."""
    run = create_run(folder, config)
    data = to_bytes(Trainer(config).checkpoint({"exact_match": exact}))
    run.best_path.write_bytes(data)
    run.checkpoint_path.write_bytes(data)
    run.write_status(Status("done", config.steps, time.time(), os.getpid()))
    return run
