"""Runs as the page starts them: real processes, found again by their files alone."""

import os
import signal
import sys
import time
from dataclasses import replace
from pathlib import Path
from unittest.mock import Mock

import pytest

from explorer.core import folders
from explorer.core.errors import ExplorerError, RunError
from explorer.jobs import training_launcher
from explorer.jobs.status import Status
from explorer.jobs.training_run import Run, create_run
from explorer.model.checkpoint import load_checkpoint
from explorer.training.config import TrainingConfig
from tests.support.short_runs import wait_for
from tests.support.tiny_configs import TINY
from tests.support.toy_sentences import TINY_PAIRS, as_chinese_table


@pytest.fixture(autouse=True)
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty run root."""
    monkeypatch.setenv(folders.RUNS_VARIABLE, str(tmp_path / "runs"))
    return tmp_path / "runs"


def made(config: TrainingConfig = TINY, **status) -> Run:
    """A run without a process, with a given status."""
    run = create_run(training_launcher.new_folder(config.task), config)
    if status:
        run.write_status(Status(heartbeat=time.time(), pid=os.getpid(), **status))
    return run


def children() -> list[int]:
    """The child processes of this one, zombies included."""
    path = Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children")
    return [int(word) for word in path.read_text().split()] if path.exists() else []


def test_sigterm_saves_a_run_that_the_page_started_and_its_log_says_how_to_resume():
    run = training_launcher.start(TrainingConfig.from_json(as_json(TINY) | {"steps": 100_000}))
    wait_for(lambda: run.status().state == "running" and run.status().step > 0)
    os.kill(run.status().pid, signal.SIGTERM)
    wait_for(lambda: run.status().state == "stopped")
    assert run.saved_step == run.status().step > 0
    assert run.resumable  # its process has ended
    told = f"stopped at step {run.saved_step}; go on with --resume"  # after the run is let go
    wait_for(lambda: told in (run.folder / "log.txt").read_text(encoding="utf-8"))


def test_a_run_starts_stops_on_request_and_resumes():
    before = set(children())
    run = training_launcher.start(TrainingConfig.from_json(as_json(TINY) | {"steps": 100_000}))
    assert run.status().is_starting
    assert training_launcher.active_runs() == [run]
    wait_for(lambda: len(run.moments()) >= 2)
    found = training_launcher.find("runs", run.name)  # as after a restart
    assert found.status().state == "running"
    assert found.status().pid not in (0, os.getpid())
    with pytest.raises(RunError):
        training_launcher.launch(found)
    with pytest.raises(RunError):
        found.delete()
    found.request_stop()
    wait_for(lambda: run.status().state == "stopped")
    stopped_at = run.status().step
    training_launcher.launch(run)
    wait_for(lambda: run.moments()[-1]["step"] > stopped_at)
    run.request_stop()
    wait_for(lambda: run.status().state == "stopped")
    assert (run.folder / "log.txt").stat().st_size > 0
    wait_for(lambda: set(children()) <= before)  # no zombie is left
    run.delete()
    assert not run.folder.exists()


def test_a_process_that_ends_without_a_status_means_interrupted(monkeypatch):
    monkeypatch.setattr(
        training_launcher, "command", lambda run: [sys.executable, "-c", "raise SystemExit(1)"]
    )
    run = training_launcher.start(TINY)
    wait_for(lambda: run.status().state == "interrupted", seconds=20)
    assert run.resumable


def test_a_process_that_ends_late_does_not_change_the_status_of_a_later_one(monkeypatch):
    def sleeps(seconds: float) -> None:
        code = f"import time; time.sleep({seconds})"
        monkeypatch.setattr(training_launcher, "command", lambda run: [sys.executable, "-c", code])

    before = set(children())
    sleeps(0.7)
    run = training_launcher.start(TINY)
    first = set(children()) - before
    run.write_status(Status("stopped", 5, time.time(), os.getpid()))  # it is about to exit
    sleeps(2.5)
    training_launcher.launch(run)
    wait_for(lambda: not first & set(children()))
    time.sleep(0.2)
    assert run.status().is_starting
    wait_for(lambda: run.status().state == "interrupted")


def test_a_locked_run_is_not_launched_and_keeps_its_status():
    run = made(state="stopped", step=7)
    with run.locked(), pytest.raises(RunError):
        training_launcher.launch(run)
    assert run.status().state == "stopped"


def test_a_run_that_diverged_is_not_launched():
    run = made(state="failed", step=7, error=("diverged", {"step": "7"}))
    with pytest.raises(RunError, match="would diverge again"):
        training_launcher.launch(run)
    assert run.status().state == "failed"


def test_a_preparing_run_comes_before_a_waiting_one():
    made(state="preparing")
    assert training_launcher.jobs_ahead(made(state="waiting")) == 1


def as_json(config: TrainingConfig) -> dict:
    return {name: getattr(config, name) for name in config.__dataclass_fields__}


def test_new_names_are_numbered_and_unique():
    names = [training_launcher.new_folder("sort").name for _ in range(3)]
    assert names == ["sort-1", "sort-2", "sort-3"]


def test_a_waiting_run_counts_the_runs_ahead_on_its_device():
    first = made(state="running")
    second, third = made(state="waiting"), made(state="waiting")
    elsewhere = made(TrainingConfig.from_json(as_json(TINY) | {"device": "cuda"}), state="waiting")
    assert [training_launcher.jobs_ahead(run) for run in (second, third, elsewhere)] == [1, 2, 0]
    assert set(training_launcher.active_runs()) == {first, second, third, elsewhere}


@pytest.mark.parametrize(
    ("root", "name"),
    [("runs", "../x"), ("runs", "none"), ("..", "reverse"), ("recorded", ".."), ("", "")],
)
def test_an_unknown_run_is_an_error(root, name):
    with pytest.raises(RunError):
        training_launcher.find(root, name)


@pytest.mark.parametrize("key", ["recorded/reverse", "runs/reverse-1"])
def test_a_key_names_the_run_that_it_is_found_by(key, runs):
    create_run(runs / "reverse-1", TINY)
    assert training_launcher.key_of(training_launcher.find(*key.split("/"))) == key


def test_the_shipped_run_is_complete_and_small():
    run = training_launcher.find("recorded", "reverse")
    moments = run.moments()
    assert 35 <= len(moments) <= 45
    for moment in moments:
        assert run.probe(moment["step"]).source_tokens[:5] == ("7", "3", "9", "1", "4")
    assert moments[-1]["exact_match"] > 0.99
    files = [path for path in run.folder.rglob("*") if path.is_file()]
    assert sum(path.stat().st_size for path in files) < 1.5e6
    assert not run.state_path.exists()
    assert run.status().state == "done"


def test_an_unwritable_folder_is_an_error(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv(folders.RUNS_VARIABLE, str(tmp_path / "file"))
    with pytest.raises(ExplorerError, match="cannot be written"):
        training_launcher.start(TINY)
    monkeypatch.setenv(folders.RUNS_VARIABLE, str(tmp_path / "file" / "deeper"))
    with pytest.raises(ExplorerError, match="cannot be written"):
        training_launcher.start(TINY)


def test_the_command_works_in_a_shell_and_leaves_a_core_to_the_server(monkeypatch):
    run = made()
    assert training_launcher.command(run)[1:4] == ["-m", "explorer", "train"]
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    assert int(training_launcher._environment()["OMP_NUM_THREADS"]) == max(
        1, (os.cpu_count() or 2) - 1
    )


def test_a_run_on_pairs_saves_its_file_and_trains_on_it(runs):
    config = replace(TINY_PAIRS, steps=4, evaluate_every=2)
    run = training_launcher.start_pairs(config, as_chinese_table().encode(), "../中文 (1).tsv")
    assert run.name == "中文-1-1"
    assert (run.folder / "pairs.tsv").read_text("utf-8") == as_chinese_table()
    wait_for(lambda: run.status().state == "done")
    assert run.data_facts()["pairs"]["kept"] == 240
    assert run.data_facts()["examples"]
    moment = run.moments()[-1]
    assert {"bleu", "chrf", "perplexity", "samples"} <= set(moment)
    assert any("今" in label for label in run.probe(4).predicted_tokens)
    assert load_checkpoint(run.checkpoint_path).facts["examples"] == run.data_facts()["examples"]


def test_a_failed_start_leaves_no_folder(runs, monkeypatch):
    monkeypatch.setattr(
        training_launcher, "create_run", Mock(side_effect=RunError("no_run", name="x"))
    )
    with pytest.raises(RunError):
        training_launcher.start_pairs(TINY_PAIRS, b"a\tb", "file.tsv")
    assert list(runs.iterdir()) == []
