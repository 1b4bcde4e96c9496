import json
import os
import time
from dataclasses import replace

import pytest

from explorer.core.errors import ExplorerError, RunError
from explorer.jobs import lock
from explorer.jobs.status import ACTIVE_STATES, HEARTBEAT_TIMEOUT, Status
from explorer.jobs.training_run import Run, create_run, find_run, list_runs
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
