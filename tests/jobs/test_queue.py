"""The order of jobs in a lane, and how one of them waits for its turn."""

import json
import os
import time
from dataclasses import replace
from pathlib import Path

import pytest
from filelock import FileLock, Timeout

from explorer.jobs.heartbeat import carried_out
from explorer.jobs.queue import in_order, turn
from explorer.jobs.status import Status
from explorer.jobs.training_run import Run, create_run
from explorer.training.config import TrainingConfig

CONFIG = TrainingConfig(device="cpu")


def made(folder: Path, created: float, state: str, device: str = "cpu") -> Run:
    """A run without a process, created at this time."""
    run = create_run(folder, replace(CONFIG, device=device))
    data = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(data | {"created": created}))
    run = Run(folder)
    run.write_status(Status(state, 7, time.time(), os.getpid()))
    return run


def test_those_that_run_come_first_then_the_oldest_of_each_device(tmp_path):
    states = ["waiting", "waiting", "preparing", "stopped"]
    for created, (name, state) in enumerate(zip("cabd", states, strict=True)):
        made(tmp_path / name, created, state)
    made(tmp_path / "g", 9, "waiting", "cuda:1")
    lanes = [Run(tmp_path / name).lane() for name in "ag"]
    assert [[run.name for run in in_order(lane)] for lane in lanes] == [["b", "c", "a"], ["g"]]


def test_a_turn_comes_after_the_older_ones_and_when_the_device_is_free(tmp_path):
    older = made(tmp_path / "older", 1, "waiting")
    run = made(tmp_path / "one", 2, "new")
    device, told = FileLock(tmp_path / ".cpu0.lock"), []

    def ends_the_older() -> bool:
        """Asked at each look: then the older one ends, then the device is free."""
        if older.active:
            older.write_status(replace(older.status(), state="done"))
            device.acquire(timeout=0)
        elif device.is_locked:
            device.release()
        return False

    with (
        carried_out(run) as heartbeat,
        turn(run, heartbeat, ["cpu0"], ends_the_older, lambda: told.append(1)) as reserved,
    ):
        assert reserved
        assert not older.active
        with pytest.raises(Timeout):
            FileLock(tmp_path / ".cpu0.lock").acquire(timeout=0)
        assert run.status().state == "waiting"
    assert told == [1]


def test_a_request_to_stop_ends_the_wait(tmp_path):
    run = made(tmp_path / "one", 2, "new")
    run.request_stop()
    with carried_out(run) as heartbeat, turn(run, heartbeat, ["cpu0"]) as reserved:
        assert not reserved
    assert not (tmp_path / ".cpu0.lock").exists()
