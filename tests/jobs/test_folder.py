"""The folder of a job, of which a run is one."""

import os
import shutil
import time
from dataclasses import replace

import pytest

from explorer.core.errors import RunError
from explorer.jobs.folder import JobFolder
from explorer.jobs.queue import in_order
from explorer.jobs.status import ACTIVE_STATES, HEARTBEAT_TIMEOUT, START_TIMEOUT, Status
from explorer.jobs.training_run import Run, create_run
from explorer.training.config import TrainingConfig

CONFIG = TrainingConfig(device="cpu")


def status(state: str, *, age: float = 0.0, pid: int | None = None) -> Status:
    return Status(state, 7, time.time() - age, pid or os.getpid())


@pytest.fixture
def run(tmp_path) -> Run:
    return create_run(tmp_path / "runs" / "one", replace(CONFIG, seed=5))


@pytest.mark.parametrize("state", ACTIVE_STATES)
def test_a_stale_heartbeat_means_interrupted(run, state):
    run.write_status(status(state))
    assert run.status().state == state
    assert not run.resumable
    run.write_status(status(state, age=HEARTBEAT_TIMEOUT + 1))
    assert run.status().state == "interrupted"
    assert run.status().step == 7
    assert run.resumable


def test_a_launched_process_has_more_time_for_its_first_status(run):
    run.write_status(Status("waiting", 0, time.time() - HEARTBEAT_TIMEOUT - 1))
    assert run.status().state == "waiting"
    run.write_status(Status("waiting", 0, time.time() - START_TIMEOUT - 1))
    assert run.status().state == "interrupted"


def test_a_heartbeat_of_the_future_is_stale(run):
    """The clock was set back by two hours; nothing holds the lock."""
    for launched in (status("running", age=-7200), Status("waiting", 0, time.time() + 7200)):
        run.write_status(launched)
        assert run.status().state == "interrupted"
        assert in_order(run.lane()) == []
    with run.locked():
        assert run.status().state == "waiting"


WRITERS = {
    "status": lambda run: run.write_status(status("running")),
    "facts": lambda run: run.write_data_facts({}),
    "metrics": lambda run: run.append({"step": 1}),
    "discarded metrics": lambda run: run.discard_after(0),
    "checkpoint": lambda run: run.write(run.checkpoint_path, b""),
    "probe": lambda run: run.write(run.probe_path(1), b""),
    "stop": lambda run: run.request_stop(),
    "lock": lambda run: run.locked().__enter__(),
}


@pytest.mark.parametrize("writer", WRITERS)
def test_a_deleted_folder_is_not_made_anew(run, writer):
    assert not run.is_deleted
    shutil.rmtree(run.folder)
    with pytest.raises(RunError, match="“one” was deleted or moved"):
        WRITERS[writer](run)
    assert not run.folder.exists()


@pytest.mark.parametrize("writer", WRITERS)
def test_nothing_is_written_to_a_newer_run_of_the_same_name(run, writer):
    assert not run.is_deleted
    shutil.rmtree(run.folder)
    create_run(run.folder, CONFIG)
    with pytest.raises(RunError, match="“one” was deleted or moved"):
        WRITERS[writer](run)
    run.discard(with_folder=True)
    assert [path.name for path in run.folder.iterdir()] == ["config.json"]


def test_settings_that_cannot_be_read_for_a_moment_are_not_those_of_another_run(run):
    assert not run.is_deleted
    (run.folder / "config.json").write_text("{")
    assert not run.is_deleted


def test_a_dead_process_means_interrupted_at_once(run):
    run.write_status(status("running", pid=2**22 + 1))
    assert run.status().state == "interrupted"


@pytest.mark.parametrize("text", ["", "{", "[]", '{"state": "running"}', "null"])
def test_a_damaged_status_means_interrupted(run, text):
    (run.folder / "status.json").write_text(text)
    assert run.status().state == "interrupted"
    with run.locked():
        assert run.status().state == "running"


def test_a_folder_without_a_description_is_none_of_a_job(tmp_path):
    job = JobFolder(tmp_path)
    assert job.is_deleted
    assert job.status() == Status("new")
    assert not job.active
    with pytest.raises(RunError, match="cannot be read"):
        _ = job.description
    (tmp_path / "job.json").write_text('{"created": 5}')
    assert JobFolder(tmp_path).created == 5.0
    assert not JobFolder(tmp_path).is_deleted
