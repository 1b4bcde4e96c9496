"""Trainings on a GPU: to their end, resumed, killed, too large."""

import os
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from explorer.core.errors import TrainingError
from explorer.data.task_names import TASK_NAMES
from explorer.model.explorable import ExplorableModel, load
from explorer.training.config import (
    TrainingConfig,
    learning_rate,
    preset,
    quick_demo,
    small_translation,
)
from explorer.training.run_directory import Run, create_run
from explorer.training.run_worker import run_training
from explorer.training.trainer import Moment, Trainer
from tests.support.short_runs import losses, wait_for

ROOT = Path(__file__).parents[2]
SHORT = replace(quick_demo("reverse", on_gpu=True), precision="float32", dropout=0.1, until=1.0)


def trained(trainer: Trainer, until: int = 0) -> list[Moment]:
    """The moments of `trainer`, to its end or to step `until`."""
    moments: list[Moment] = []
    for moment in trainer.run():
        moments += [moment] if moment else []
        if trainer.step == until:
            break
    return moments


def drawn_so_far(trainer: Trainer) -> list[torch.Tensor]:
    """The states of the generators of data and dropout."""
    state = trainer.state()
    return [state["random.data"], state["random.cuda"]]


def assert_close(one: Trainer, other: Trainer, tolerance: float) -> None:
    """Equal weights, to `tolerance`."""
    for ours, theirs in zip(one.model.parameters(), other.model.parameters(), strict=True):
        torch.testing.assert_close(ours, theirs, atol=tolerance, rtol=0)


@pytest.mark.parametrize("task", TASK_NAMES)
def test_the_quick_demo_of_each_task_reaches_99_percent(task, tmp_path, record_property):
    config = preset(TrainingConfig(task=task, device="cuda"))
    run = create_run(tmp_path / "runs" / task, replace(config, steps=2 * config.steps))
    before = time.perf_counter()
    assert run_training(run).state == "done"
    last = run.moments()[-1]
    record_property("seconds", round(time.perf_counter() - before, 1))
    print(
        f"\n{task}: step {last['step']}, {last['seconds']:.1f} s of training, "
        f"{time.perf_counter() - before:.1f} s in all, {last['exact_match']:.1%}, "
        f"{last['tokens_per_second'] / 1e6:.1f} M tokens/s, {last['memory']:.0f} MB"
    )
    assert last["exact_match"] >= 0.99
    on_cpu = load(run.checkpoint_path).trace("7 3 9 1 4")
    assert on_cpu.text == {"copy": "7 3 9 1 4", "reverse": "4 1 9 3 7", "sort": "1 3 4 7 9"}[task]
    assert run.probe(last["step"]).integrity().ok.all()


@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
def test_fifty_steps_of_the_graph_equal_fifty_one_operation_at_a_time(precision):
    config = replace(SHORT, steps=50, warmup=10, evaluate_every=25, precision=precision)
    graphed, eager = Trainer(config), Trainer(config)
    eager._graphed_step = None
    ours, theirs = trained(graphed), trained(eager)
    assert graphed._graphed_step is not None
    assert graphed._graphed_step.captured
    for one, other in zip(drawn_so_far(graphed), drawn_so_far(eager), strict=True):
        assert torch.equal(one, other)
    for one, other in zip(ours, theirs, strict=True):
        assert one.loss == pytest.approx(other.loss, rel=1e-5)
        assert one.gradient_norm == pytest.approx(other.gradient_norm, rel=1e-3)
    assert_close(graphed, eager, 1e-4)


def test_evaluating_often_keeps_the_graph_and_changes_nothing_that_is_learnt():
    often, seldom = (
        Trainer(replace(SHORT, steps=40, warmup=10, evaluate_every=every)) for every in (2, 40)
    )
    trained(often)
    trained(seldom)
    assert often._graphed_step is not None
    assert often._graphed_step.captured
    for one, other in zip(drawn_so_far(often), drawn_so_far(seldom), strict=True):
        assert torch.equal(one, other)
    assert_close(often, seldom, 1e-4)


@pytest.mark.parametrize("stop", [2, 13, 20])
def test_a_resumed_training_gives_equal_results(stop):
    config = replace(SHORT, steps=40, warmup=10, evaluate_every=10, average=20)
    whole, first = Trainer(config), Trainer(config)
    expected = trained(whole)
    seen = trained(first, until=stop)
    state = first.state()
    torch.manual_seed(99)  # whatever else happens meanwhile
    second = Trainer(config, state)
    for weight in second.model.parameters():
        stored = second.optimizer.state[weight]
        assert {value.device.type for value in stored.values()} == {"cuda"}
    seen += trained(second)
    assert second.optimizer.param_groups[0]["lr"] is second.rate
    assert float(second.rate) == pytest.approx(learning_rate(config, 39), rel=1e-6)
    assert second._graphed_step is not None
    assert second._graphed_step.captured
    for one, other in zip(drawn_so_far(second), drawn_so_far(whole), strict=True):
        assert torch.equal(one, other)
    assert [moment.step for moment in seen] == [moment.step for moment in expected]
    for one, other in zip(seen, expected, strict=True):
        assert one.loss == pytest.approx(other.loss, rel=1e-4)
    assert_close(second, whole, 1e-3)


def start(folder: Path, **environment: str) -> subprocess.Popen[str]:
    """A process that resumes the run in `folder`."""
    return subprocess.Popen(
        [sys.executable, "-m", "explorer", "train", "--run", str(folder), "--resume"],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=os.environ | environment,
    )


def test_a_killed_run_goes_on_from_its_last_saved_step(tmp_path):
    config = replace(SHORT, steps=4000, evaluate_every=100)
    run = create_run(tmp_path / "runs" / "killed", config)
    with start(run.folder) as process:
        wait_for(lambda: run.state_path.exists() and len(run.moments()) > 2, 90)
        process.kill()
    saved = run.saved_step
    assert 0 < saved < 4000
    with start(run.folder) as process:
        output = process.communicate(timeout=120)[0]
    assert process.returncode == 0, output
    assert run.status().state == "done"
    steps = [step for step, _ in losses(Run(run.folder))]
    assert steps == list(range(100, 4001, 100))


def test_out_of_memory_names_a_remedy_and_the_next_run_trains(tmp_path):
    sizes = {"batch": 4096, "longest": 64, "d_model": 1024, "d_ff": 4096, "steps": 5, "warmup": 5}
    large = create_run(tmp_path / "runs" / "large", replace(SHORT, evaluate_every=5, **sizes))
    torch.cuda.set_per_process_memory_fraction(2 / 80)
    try:
        with pytest.raises(TrainingError, match="lower the batch"):
            run_training(large)
    finally:
        torch.cuda.set_per_process_memory_fraction(1.0)
    assert large.status().error is not None
    assert large.status().error[0] == "out_of_memory"
    small = create_run(
        tmp_path / "runs" / "small", replace(SHORT, steps=20, warmup=5, evaluate_every=10)
    )
    assert run_training(small).state == "done"


def test_bfloat16_learns_as_float32_does():
    config = replace(quick_demo("copy", on_gpu=True), steps=200, until=1.0)
    ours, theirs = (Trainer(replace(config, precision=p)) for p in ("bfloat16", "float32"))
    one, other = trained(ours)[-1], trained(theirs)[-1]
    assert one.loss == pytest.approx(other.loss, abs=0.05)
    assert {weight.dtype for weight in ours.model.parameters()} == {torch.float32}


def test_pairs_of_sentences_train_and_translate(pairs_file):
    config = small_translation(str(pairs_file), ("1", "2"), on_gpu=True)
    config = replace(config, pieces=400, steps=400, warmup=40, evaluate_every=100)
    trainer = Trainer(config)
    moments = trained(trainer)
    assert moments[-1].loss < 0.5 * moments[0].loss
    model = ExplorableModel(trainer.checkpoint({}), "pairs")
    source, target = trainer.data_module.probe()
    assert model.trace(source, target=target).integrity().ok.all()


def test_two_processes_train_one_model_on_a_machine_whose_gpu_is_hidden():
    """`torchrun` with Gloo, as on machines without a GPU."""
    tests = "tests/training/test_distributed.py"
    finished = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-o", "filterwarnings=default", tests],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
        env=os.environ | {"CUDA_VISIBLE_DEVICES": ""},
    )
    assert finished.returncode == 0, finished.stdout
