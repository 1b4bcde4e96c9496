"""Runs in real processes: stopped, killed, out of memory, on a full disk."""

import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from filelock import FileLock, Timeout

from explorer.components.training_replay.status_text import run_report
from explorer.core.errors import RunError, TrainingError
from explorer.core.i18n import LANGUAGES
from explorer.jobs import training_worker
from explorer.jobs.heartbeat import INTERVAL
from explorer.jobs.status import Status
from explorer.jobs.training_run import Run, create_run
from explorer.jobs.training_worker import run_training
from explorer.model.checkpoint import load_checkpoint
from explorer.training import distributed
from explorer.training.data_modules import ToyDataModule
from explorer.training.run_metrics import best_moment
from explorer.training.trainer import Moment, Trainer
from tests.support.short_runs import LONGER, heartbeats, losses, wait_for

ROOT = Path(__file__).parents[2]
CPU = torch.device("cpu")
KILLS = int(os.environ.get("KILLS", "2"))


@contextmanager
def start(folder: Path, **options) -> Iterator[subprocess.Popen]:
    """A process that resumes the run; killed when the block ends."""
    command = [sys.executable, "-m", "explorer", "train", "--run", str(folder), "--resume"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    with subprocess.Popen(command, cwd=ROOT, **pipes, **options) as process:
        try:
            yield process
        finally:
            process.kill()


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory) -> Run:
    run = create_run(tmp_path_factory.mktemp("runs") / "whole", LONGER)
    assert run_training(run).state == "done"
    return run


def test_a_finished_run_has_all_its_files(uninterrupted):
    run = uninterrupted
    assert run.status().state == "done"
    assert run.status().step == 60
    moments = run.moments()
    assert [moment["step"] for moment in moments] == list(range(5, 61, 5))
    assert set(moments[0]) >= {"loss", "exact_match", "gold", "rate", "gradient_norms", "greedy"}
    for moment in moments:
        probe = run.probe(moment["step"])
        assert probe.source_tokens == (*ToyDataModule(LONGER, CPU).probe()[0].split(), "<eos>")
        assert probe.predicted_tokens == probe.source_tokens  # teacher-forced copy
        assert probe.integrity().ok.all()
    assert load_checkpoint(run.checkpoint_path).facts["steps"] == 60


def test_the_checkpoint_with_the_lowest_held_out_loss_is_kept_beside_the_last(tmp_path):
    config = replace(LONGER, rate=0.5, steps=600, clip=1e6, patience=4, warmup=10)
    run = create_run(tmp_path / "runs" / "early", config)
    assert run_training(run).state == "done"
    held_out = {moment["step"]: moment["held_out_loss"] for moment in run.moments()}
    best = min(held_out, key=held_out.__getitem__)
    last = load_checkpoint(run.checkpoint_path).facts["steps"]
    assert load_checkpoint(run.best_path).facts["steps"] == best
    assert last == run.status().step == best + 4 * config.evaluate_every


def test_a_stopped_and_resumed_run_has_the_same_losses_and_weights(uninterrupted, tmp_path):
    run = create_run(tmp_path / "runs" / "stopped", LONGER)

    def stop_at(moment) -> None:
        if moment.step == 20:
            run.request_stop()
            time.sleep(1.05)  # the request is checked once a second

    assert run_training(run, stop_at).state == "stopped"
    assert 20 <= run.status().step < 60
    assert run_training(run).state == "done"
    assert losses(run) == losses(uninterrupted)
    ours, theirs = (load_checkpoint(r.checkpoint_path).model for r in (run, uninterrupted))
    pairs = zip(ours.parameters(), theirs.parameters(), strict=True)
    assert all(torch.equal(one, other) for one, other in pairs)


@pytest.mark.parametrize("anew", [False, True])
def test_a_run_whose_folder_is_deleted_ends_and_writes_nothing_anew(tmp_path, anew):
    run = create_run(tmp_path / "runs" / "gone", replace(LONGER, steps=100_000))

    def delete_at(moment: Moment) -> None:
        if moment.step == 10:
            shutil.rmtree(run.folder)
            if anew:
                create_run(run.folder, LONGER)

    with pytest.raises(RunError, match="“gone” was deleted or moved"):
        run_training(run, delete_at)
    left = [path.name for path in run.folder.iterdir()] if anew else run.folder.exists()
    assert left == (["config.json"] if anew else False)
    assert not any("gone" in name for name in heartbeats())


def test_a_run_whose_folder_is_deleted_while_it_waits_ends(tmp_path):
    run = create_run(tmp_path / "runs" / "gone", LONGER)
    with (
        FileLock(run.folder.parent / ".cpu0.lock"),
        pytest.raises(RunError, match="“gone” was deleted or moved"),
    ):
        run_training(run, on_wait=lambda: shutil.rmtree(run.folder))
    assert not run.folder.exists()


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_saves_the_run_and_says_how_to_resume(tmp_path, number, code):
    run = create_run(tmp_path / "runs" / "signalled", replace(LONGER, steps=100_000))
    with start(run.folder) as process:
        wait_for(lambda: run.status().state == "running" and run.status().step > 20)
        process.send_signal(number)
        output = process.communicate(timeout=60)[0]
    status = run.status()
    assert status.state == "stopped"
    assert process.returncode == code
    assert f"stopped at step {status.step}; go on with --resume" in output
    assert "going on from step 0 of 100000" in output
    assert run.saved_step == status.step  # nothing is lost
    assert run.resumable
    with start(run.folder) as process:
        wait_for(lambda: run.status().step > status.step)
        process.send_signal(number)
        assert f"going on from step {status.step} of" in process.communicate(timeout=60)[0]


def test_a_run_of_several_processes_waits_until_all_its_devices_are_free(tmp_path, monkeypatch):
    run = create_run(tmp_path / "one", LONGER)
    monkeypatch.setattr(distributed, "gpu_numbers", lambda device: range(2))
    first, second = (FileLock(tmp_path / f".cpu{number}.lock") for number in range(2))
    asked = iter([False, True])
    with second:
        assert run_training(run, stops=lambda: next(asked)).state == "stopped"
        first.acquire(timeout=0)  # it was given back
        first.release()

    def looks(moment: Moment) -> None:
        for lock in (first, second):
            with pytest.raises(Timeout):
                lock.acquire(timeout=0)

    assert run_training(run, looks).state == "done"


def test_a_signal_ends_the_wait_for_the_device(tmp_path):
    run = create_run(tmp_path / "runs" / "one", LONGER)
    with FileLock(run.folder.parent / ".cpu0.lock"), start(run.folder) as waiting:
        wait_for(lambda: run.status().state == "waiting")
        waiting.terminate()
        assert "stopped at step 0" in waiting.communicate(timeout=60)[0]
    assert run.status().state == "stopped"


def test_a_killed_run_is_not_damaged_and_has_the_same_losses(tmp_path):
    """`kill -9`, each time a random while after the first heartbeat of the process."""
    config = replace(LONGER, steps=400)
    whole = create_run(tmp_path / "one" / "whole", config)
    run_training(whole)
    run = create_run(tmp_path / "two" / "killed", config)
    chance = random.Random(4)
    for _ in range(KILLS):
        before = run.status().heartbeat
        with start(run.folder):
            wait_for(lambda b=before: run.status().heartbeat > b)
            time.sleep(chance.uniform(0.0, 0.5))
        assert run.status().state in ("interrupted", "done")
        steps = [moment["step"] for moment in run.moments()]
        assert steps == sorted(set(steps))
        assert all(run.probe(step).integrity().ok.all() for step in steps)
        if run.checkpoint_path.exists():
            load_checkpoint(run.checkpoint_path)
    assert run_training(Run(run.folder)).state == "done"
    assert losses(run) == losses(whole)


def test_a_second_run_waits_for_the_first_and_can_be_stopped(tmp_path):
    first = create_run(tmp_path / "runs" / "first", replace(LONGER, steps=100_000))
    second = create_run(tmp_path / "runs" / "second", LONGER)
    with start(first.folder) as one:
        wait_for(lambda: first.status().state == "running")
        with start(second.folder) as other:
            wait_for(lambda: second.status().state == "waiting")
            assert second.moments() == []
            second.request_stop()
            printed, _ = other.communicate(timeout=30)
            assert printed.count("waiting, because another run") == 1
            assert other.returncode == 0
        assert second.status().state == "stopped"
        first.request_stop()
        assert one.wait(timeout=30) == 0
        assert first.status().state == "stopped"


def test_a_run_is_carried_out_by_one_process(tmp_path):
    run = create_run(tmp_path / "runs" / "twice", replace(LONGER, steps=100_000))
    with start(run.folder):
        wait_for(lambda: run.status().state == "running")
        owner = run.status().pid
        with start(run.folder) as other:
            assert "another process" in other.communicate(timeout=60)[0]
            assert other.returncode == 2
        assert run.status().state == "running"
        assert run.status().pid == owner
        with pytest.raises(RunError):
            run_training(Run(run.folder))
        assert run.status().pid == owner


def test_the_heartbeat_continues_while_the_data_are_prepared(tmp_path, monkeypatch):
    """As long as reading and encoding a large file takes; meanwhile the run cannot be deleted."""
    seen: list[Status] = []
    run = create_run(tmp_path / "runs" / "slow", replace(LONGER, steps=5))

    def prepare(config, saved=None) -> training_worker.Trainer:
        for _ in range(3):
            time.sleep(1.2 * INTERVAL)
            seen.append(run.status())
        with pytest.raises(RunError):
            run.delete()
        assert not run.resumable
        return Trainer(config, saved)

    monkeypatch.setattr(training_worker, "Trainer", prepare)
    assert run_training(run).state == "done"
    assert {status.state for status in seen} == {"preparing"}
    assert len({status.heartbeat for status in seen}) == 3
    assert not heartbeats()


def test_the_heartbeat_continues_during_an_evaluation(tmp_path):
    """Its step is the one that was reached."""
    run = create_run(tmp_path / "runs" / "evaluated", replace(LONGER, steps=10))
    seen: list[Status] = []

    def evaluate(moment) -> None:
        before = run.status()
        wait_for(lambda: run.status().heartbeat > before.heartbeat, seconds=3 * INTERVAL)
        seen.append(run.status())

    run_training(run, evaluate)
    assert [(status.state, status.step) for status in seen] == [("running", 5), ("running", 10)]


@pytest.mark.parametrize("error", [KeyError("x"), RuntimeError("of torch"), ZeroDivisionError()])
def test_any_exception_is_written_to_the_status_and_raised(tmp_path, monkeypatch, error):
    def break_off(*anything: object) -> None:
        raise error

    run = create_run(tmp_path / "runs" / "broken", LONGER)
    with monkeypatch.context() as broken:
        broken.setattr(training_worker, "_record", break_off)
        with pytest.raises(type(error)):
            run_training(run)
    status = run.status()
    assert (status.state, status.step) == ("failed", 5)
    assert status.error == ("broke_off", {"name": "broken", "kind": type(error).__name__})
    assert not heartbeats()
    for language in LANGUAGES:
        problem = run_report(run, status, [], language).problem
        assert type(error).__name__ in problem
        assert "log.txt" in problem
    assert run_training(Run(run.folder)).state == "done"


def test_a_full_disk_fails_the_run_with_a_sentence(tmp_path):
    """No file may grow past 6 kB: the metrics or a probe no longer fits."""
    run = create_run(tmp_path / "runs" / "full", LONGER)

    def small_disk() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (6000, 6000))

    with start(run.folder, preexec_fn=small_disk) as process:
        output = process.communicate(timeout=60)[0]
        assert process.returncode == 2
    assert "cannot be written" in output
    status = run.status()
    assert status.state == "failed"
    assert status.error[0] == "unwritable_file"
    assert run.resumable
    assert run_training(Run(run.folder)).state == "done"


def test_out_of_memory_names_a_remedy(tmp_path):
    """8 GB of addresses for a step that asks for far more."""
    large = {"batch": 65_536, "longest": 64, "d_model": 512, "d_ff": 2048, "steps": 5}
    run = create_run(tmp_path / "runs" / "large", replace(LONGER, **large))

    def little_memory() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (8 * 2**30, 8 * 2**30))

    with start(run.folder, preexec_fn=little_memory) as process:
        output = process.communicate(timeout=60)[0]
        assert process.returncode == 2, output
    assert "lower the batch" in output
    assert run.status().error[0] == "out_of_memory"


def test_a_run_from_before_the_newer_settings_and_losses_goes_on_exactly(tmp_path):
    """Its settings lack the betas, its metrics the training loss."""
    config = replace(LONGER, small_alphabets=0.0)
    whole, old = (create_run(tmp_path / "runs" / name, config) for name in ("new", "old"))
    run_training(whole)
    asked = iter([False] * 29 + [True])
    assert run_training(old, stops=lambda: next(asked)).state == "stopped"
    written = json.loads((old.folder / "config.json").read_text())
    for name in ("beta1", "beta2", "small_alphabets"):
        del written["settings"][name]
    (old.folder / "config.json").write_text(json.dumps(written))
    lines = [{k: v for k, v in m.items() if k != "training_loss"} for m in old.moments()]
    (old.folder / "metrics.jsonl").write_text("".join(json.dumps(m) + "\n" for m in lines))
    old = Run(old.folder)
    assert old.config == config
    assert run_training(old).state == "done"
    assert losses(old) == losses(whole)
    assert best_moment(old.moments())["step"] == best_moment(whole.moments())["step"]
    assert load_checkpoint(old.best_path).facts["steps"] == best_moment(old.moments())["step"]


def test_a_run_that_diverges_keeps_what_was_best_before(tmp_path, monkeypatch):
    class Exploding(training_worker.Trainer):
        def _loss(self, source: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
            return super()._loss(source, target) * (1e3 if self.step >= 10 else 1.0)

    monkeypatch.setattr(training_worker, "Trainer", Exploding)
    run = create_run(tmp_path / "runs" / "high", replace(LONGER, rate=1e-3))
    with pytest.raises(TrainingError, match=r"diverged at step 15: loss .* lower the rate"):
        run_training(run)
    assert [moment["step"] for moment in run.moments()] == [5, 10]
    assert load_checkpoint(run.best_path).facts["steps"] == best_moment(run.moments())["step"]


def test_a_loss_that_is_not_finite_names_the_step(tmp_path, monkeypatch):
    class Broken(training_worker.Trainer):
        def _loss(self, source: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
            return super()._loss(source, target) * float("nan")

    monkeypatch.setattr(training_worker, "Trainer", Broken)
    run = create_run(tmp_path / "runs" / "nan", LONGER)
    with pytest.raises(TrainingError, match="step 5: loss nan"):
        run_training(run)
    key, facts = run.status().error
    assert (key, facts["step"], facts["loss"]) == ("diverged", "5", "nan")
    assert not run.best_path.exists()


def test_a_damaged_state_is_an_error_and_no_moment_is_lost(uninterrupted, tmp_path):
    run = create_run(tmp_path / "runs" / "damaged", LONGER)
    run.append({"step": 5, "loss": 1.0})
    run.state_path.write_bytes(b"nothing of the kind")
    with pytest.raises(RunError, match="cannot be read"):
        run_training(run)
    assert losses(run) == [(5, 1.0)]


def test_losses_are_finite_and_fall(uninterrupted):
    values = np.array([loss for _, loss in losses(uninterrupted)])
    assert np.isfinite(values).all()
    assert values[-1] < values[0]
