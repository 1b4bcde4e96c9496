import json
import os
import shutil
import time
from dataclasses import replace

import pytest

from explorer.core.errors import ExplorerError, RunError
from explorer.jobs import lock
from explorer.jobs.queue import in_order
from explorer.jobs.run_directory import Run, create_run, find_run, list_runs
from explorer.jobs.status import ACTIVE_STATES, HEARTBEAT_TIMEOUT, START_TIMEOUT, Status
from explorer.training.config import TrainingConfig

CONFIG = TrainingConfig(device="cpu")


def status(state: str, *, age: float = 0.0, pid: int | None = None) -> Status:
    return Status(state, 7, time.time() - age, pid or os.getpid())


@pytest.fixture
def run(tmp_path) -> Run:
    return create_run(tmp_path / "runs" / "one", replace(CONFIG, seed=5))


def test_the_creation_of_a_run_is_undone_and_other_files_in_its_folder_are_kept(run):
    (run.folder / "notes.txt").write_text("mine")
    run.write_status(status("failed"))
    run.discard(with_folder=False)
    assert [path.name for path in run.folder.iterdir()] == ["notes.txt"]
    again = create_run(run.folder, CONFIG)
    assert again.status().state == "new"
    again.discard(with_folder=True)
    assert not run.folder.exists()


def test_a_run_stores_its_settings(run):
    assert find_run(run.folder.parent, "one").config == replace(CONFIG, seed=5)
    assert run.status().state == "new"
    assert run.moments() == []
    assert run.resumable


@pytest.mark.parametrize("name", ["..", ".hidden", "", "a" * 61, "a/b", "a b", "<b>"])
def test_an_invalid_name_is_refused(tmp_path, name):
    with pytest.raises(RunError):
        find_run(tmp_path, name)


def test_a_taken_name_is_refused(run):
    with pytest.raises(RunError) as caught:
        create_run(run.folder, CONFIG)
    assert caught.value.key == "run_exists"


def test_a_file_in_place_of_the_folder_is_refused(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(RunError) as caught:
        create_run(tmp_path / "file", CONFIG)
    assert (caught.value.key, caught.value.facts) == ("is_file", {"name": "file"})


@pytest.mark.parametrize("state", ACTIVE_STATES)
def test_a_stale_heartbeat_means_interrupted(run, state):
    run.write_status(status(state))
    assert run.status().state == state
    assert not run.resumable
    run.write_status(status(state, age=HEARTBEAT_TIMEOUT + 1))
    assert run.status().state == "interrupted"
    assert run.status().step == 7
    assert run.resumable


@pytest.mark.parametrize("age", [0.0, HEARTBEAT_TIMEOUT + 1])
@pytest.mark.parametrize("state", [*ACTIVE_STATES, "stopped", "failed"])
def test_a_locked_run_is_not_interrupted_resumable_or_deleted(run, state, age, monkeypatch):
    monkeypatch.setattr(lock, "_ACQUIRE_TIMEOUT", 0.1)
    run.write_status(status(state, age=age))
    with run.locked():
        assert run.status().state == state
        assert not run.resumable
        with pytest.raises(RunError) as caught:
            run.delete()
    assert caught.value.key == "run_busy"
    run.write_status(status(state, age=HEARTBEAT_TIMEOUT + 1))
    assert run.resumable
    run.delete()
    assert not run.folder.exists()
    run.delete()
    assert not run.folder.exists()


@pytest.mark.parametrize("key", ["diverged", "loss_not_finite", "broke_off"])
def test_a_run_that_diverged_is_not_resumable(run, key):
    run.write_status(replace(status("failed"), error=(key, {"step": "7"})))
    assert run.resumable is (key == "broke_off")
    if key == "broke_off":
        run.refuse_diverged()
        return
    with pytest.raises(RunError, match="would diverge again"):
        run.refuse_diverged()


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


def test_moments_after_a_step_are_discarded(run):
    for step in (10, 20, 30):
        run.append({"step": step})
        run.probe_path(step).parent.mkdir(exist_ok=True)
        run.probe_path(step).write_bytes(b"")
    foreign = [run.probe_path(30).with_name(f"{stem}.trace") for stem in ("²", "9" * 100, "notes")]
    for path in foreign:
        path.write_bytes(b"")
    run.discard_after(20)
    assert all(path.exists() for path in foreign)
    assert [moment["step"] for moment in run.moments()] == [10, 20]
    assert not run.probe_path(30).exists()
    assert run.probe_path(20).exists()


def test_runs_are_listed_newest_first_without_damaged_ones(tmp_path):
    for created, name in ((5, "b"), (9, "a"), (1, "c")):
        run = create_run(tmp_path / name, CONFIG)
        data = json.loads((run.folder / "config.json").read_text())
        (run.folder / "config.json").write_text(json.dumps(data | {"created": created}))
    (tmp_path / "c" / "config.json").write_text('{"settings": {"speed": 9}}')
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "config.json").write_text("{")
    assert [run.name for run in list_runs(tmp_path)] == ["a", "b"]


def test_waiting_runs_are_ordered_by_creation_per_device(tmp_path):
    for created, (name, device) in enumerate((("b", "cpu"), ("a", "cpu"), ("g", "cuda:1"))):
        run = create_run(tmp_path / name, replace(CONFIG, device=device))
        data = json.loads((run.folder / "config.json").read_text())
        (run.folder / "config.json").write_text(json.dumps(data | {"created": created}))
        Run(run.folder).write_status(status("waiting"))
    lanes = [Run(tmp_path / name).lane() for name in "bg"]
    assert [[run.name for run in in_order(lane)] for lane in lanes] == [["b", "a"], ["g"]]


def test_an_active_run_is_not_deleted(run):
    run.write_status(status("running"))
    with pytest.raises(RunError) as caught:
        run.delete()
    assert caught.value.key == "run_busy"
    run.write_status(status("stopped"))
    run.delete()
    assert not run.folder.exists()


def test_facts_of_the_data_are_stored(run):
    assert run.data_facts() == {}
    run.write_data_facts({"pairs": {"kept": 3}})
    assert run.data_facts() == {"pairs": {"kept": 3}}
    (run.folder / "lesson.json").write_text("[1")
    assert run.data_facts() == {}


def test_a_folder_that_cannot_be_created_is_an_error(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(ExplorerError) as caught:
        create_run(tmp_path / "file" / "x", CONFIG)
    assert caught.value.key == "unwritable_file"
