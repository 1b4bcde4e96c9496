"""Trainings on a GPU: to their end, resumed, killed, too large."""

import os
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
import torch

from explorer.core.errors import TrainingError
from explorer.data.task_names import TASK_NAMES
from explorer.jobs.training_run import Run, create_run
from explorer.jobs.training_worker import run_training
from explorer.model.explorable import ExplorableModel, load
from explorer.training.config import (
    TrainingConfig,
    preset,
    quick_demo,
    small_translation,
)
from explorer.training.schedule import learning_rate
from explorer.training.trainer import Moment, Trainer
from tests.support.short_runs import losses, wait_for

ROOT = Path(__file__).parents[2]
SHORT = replace(quick_demo("reverse", on_gpu=True), precision="float32", dropout=0.1, until=1.0)


@dataclass(frozen=True)
class Trained:
    """A training, its moments, and everything it would save."""

    trainer: Trainer
    moments: list[Moment]
    state: dict[str, torch.Tensor]


def trained(
    config: TrainingConfig,
    saved: Mapping[str, torch.Tensor] | None = None,
    *,
    until: int = 0,
    graph: bool = True,
) -> Trained:
    """Train to the end, or to step `until`. One training after the other: the generator of
    dropout belongs to the whole process, and a new trainer seeds it."""
    trainer = Trainer(config, saved)
    if not graph:
        trainer._graphed_step = None
    moments: list[Moment] = []
    for moment in trainer.run():
        moments += [moment] if moment else []
        if trainer.step == until:
            break
    return Trained(trainer, moments, trainer.state())


def has_graph(one: Trained) -> bool:
    graphed = one.trainer._graphed_step
    return graphed is not None and graphed.captured


def assert_equal(one: Trained, other: Trained, tolerance: float = 1e-3) -> None:
    """The same random numbers drawn, exactly; the same losses and weights, to rounding.

    The biases of the keys are left out: a softmax ignores them, so their gradient is rounding
    alone, which Adam makes as large as any other.
    """
    for name in ("random.data", "random.cuda", "random.cpu", "step"):
        assert torch.equal(one.state[name], other.state[name]), name
    known = {moment.step: moment.loss for moment in other.moments}
    for moment in one.moments:
        assert moment.loss == pytest.approx(known.get(moment.step, moment.loss), rel=tolerance)
    ours, theirs = flat_weights(one), flat_weights(other)
    assert float((ours - theirs).norm() / theirs.norm()) < tolerance


def flat_weights(done: Trained) -> torch.Tensor:
    """All weights that are saved, without the biases of the keys."""
    kept = []
    for name, value in done.state.items():
        if name.startswith(("model.", "averaged.")):
            if name.endswith("query_key_value.bias"):
                query, _, value_bias = value.chunk(3)
                kept += [query, value_bias]
            elif name.endswith("key_value.bias"):
                kept.append(value.chunk(2)[1])
            else:
                kept.append(value.flatten())
    return torch.cat(kept)


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
    graphed, eager = trained(config), trained(config, graph=False)
    assert has_graph(graphed)
    assert not has_graph(eager)
    assert_equal(graphed, eager, 1e-3 if precision == "float32" else 1e-2)
    for one, other in zip(graphed.moments, eager.moments, strict=True):
        assert one.gradient_norm == pytest.approx(other.gradient_norm, rel=1e-2)


def test_evaluating_often_keeps_the_graph_and_changes_nothing_that_is_learnt():
    config = replace(SHORT, steps=40, warmup=10, evaluate_every=2)
    often, seldom = trained(config), trained(replace(config, evaluate_every=40))
    assert has_graph(often)
    assert len(often.moments) == 20
    seldom = replace(seldom, moments=[])  # losses are means since the last moment
    assert_equal(often, seldom)


@pytest.mark.parametrize("stop", [2, 13, 20])
def test_a_resumed_training_gives_equal_results(stop):
    config = replace(SHORT, steps=40, warmup=10, evaluate_every=10, average=20)
    whole, first = trained(config), trained(config, until=stop)
    torch.manual_seed(99)  # whatever else happens meanwhile
    second = trained(config, first.state)
    trainer = second.trainer
    for weight in trainer.model.parameters():
        stored = trainer.optimizer.state[weight]
        assert {value.device.type for value in stored.values()} == {"cuda"}
    assert trainer.optimizer.param_groups[0]["lr"] is trainer.rate
    assert float(trainer.rate) == pytest.approx(learning_rate(config, 39), rel=1e-6)
    assert has_graph(second)
    seen = first.moments + second.moments
    assert [moment.step for moment in seen] == [10, 20, 30, 40]
    assert_equal(replace(second, moments=seen), whole)


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
    one, other = (trained(replace(config, precision=p)) for p in ("bfloat16", "float32"))
    assert one.moments[-1].loss == pytest.approx(other.moments[-1].loss, abs=0.05)
    assert {weight.dtype for weight in one.trainer.model.parameters()} == {torch.float32}


def test_pairs_of_sentences_train_and_translate(pairs_file):
    config = small_translation(str(pairs_file), ("1", "2"), on_gpu=True)
    config = replace(config, pieces=400, steps=400, warmup=40, evaluate_every=100)
    done = trained(config)
    assert done.moments[-1].loss < 0.5 * done.moments[0].loss
    model = ExplorableModel(done.trainer.checkpoint({}), "pairs")
    source, target = done.trainer.data_module.probe()
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
