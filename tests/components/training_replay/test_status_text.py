import time
from pathlib import Path

import pytest

from explorer.components.training_replay.status_text import RunReport, run_report
from explorer.core import folders
from explorer.jobs.status import Status
from explorer.jobs.training_run import Run, create_run
from explorer.training.config import TrainingConfig

LINE = {"step": 5, "seconds": 1.5, "loss": 0.5, "exact_match": 0.25, "gold": [[0.1, 0.2]]}
TRANSLATED = {"step": 50, "seconds": 9.0, "loss": 4.2, "bleu": 9.9, "chrf": 29.4}


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """A run with nothing in it yet."""
    monkeypatch.setenv(folders.RUNS_VARIABLE, str(tmp_path))
    return create_run(tmp_path / "reverse-1", TrainingConfig(steps=100, device="cpu"))


def set_status(run: Run, state: str, step: int = 0, error=None, age: float = 0.0) -> None:
    run.write_status(Status(state, step, time.time() - age, 0, error))


def report(run: Run, language: str = "en") -> RunReport:
    return run_report(run, run.status(), run.moments(), language)


@pytest.mark.parametrize(
    ("state", "age", "words"),
    [
        ("waiting", 0.0, "starting"),
        ("running", 0.0, "training"),
        ("preparing", 0.0, "preparing"),
        ("preparing", 60.0, "interrupted"),
        ("running", 60.0, "interrupted"),
        ("stopped", 0.0, "stopped"),
        ("done", 0.0, "done early: 50 %"),
    ],
)
def test_every_state_has_its_sentence(tmp_path, state, age, words):
    run = create_run(tmp_path / "run", TrainingConfig(steps=100, until=0.5, device="cpu"))
    set_status(run, state, 50, age=age)
    found = report(run)
    assert words in found.words
    assert found.going is (words in ("starting", "training", "preparing"))


@pytest.mark.parametrize(("exact", "words"), [(0.25, "2 evaluations"), (0.5, "50 % right")])
def test_a_run_that_ended_early_says_which_limit_ended_it(tmp_path, exact, words):
    config = TrainingConfig(steps=100, until=0.5, patience=2, device="cpu")
    run = create_run(tmp_path / "run", config)
    run.append(LINE | {"exact_match": exact})
    set_status(run, "done", 50)
    assert words in report(run).words


def test_the_reason_of_a_failure_is_in_the_language_of_the_visitor(run):
    facts = {"step": "7", "loss": "31.4", "uniform": "3.1", "rate": "1"}
    set_status(run, "failed", 7, ("diverged", facts))
    assert report(run).words == "diverged"
    assert "diverged at step 7: loss 31.4" in report(run).problem
    assert "第 7 步" in report(run, "zh").problem


def test_the_errors_of_older_runs_and_unknown_ones_have_a_sentence(run):
    set_status(run, "failed", 7, ("loss_not_finite", {"step": "7"}))
    assert report(run).words == "diverged"
    assert "At step 7 the loss was no longer a number" in report(run).problem
    assert "第 7 步" in report(run, "zh").problem
    for facts in ({"key": "x"}, {}, {"step": "7"}):
        set_status(run, "failed", 7, ("no_such_sentence", facts))
        assert report(run).words == "failed"
        assert "for a reason that this version has no sentence for" in report(run).problem
        assert "no_such_sentence" in report(run).problem


def test_the_figures_of_a_toy_task(run):
    run.append(LINE | {"tokens_per_second": 84_000.0, "memory": 410.2, "step": 50})
    set_status(run, "running", 50)
    found = report(run)
    assert " · ".join(found.facts) == "step 50/100 · 25.0 % right · 2 s left"
    assert " · ".join(found.details) == "84.0 k tokens/s · 410 MB · cpu · seed 0"


def test_the_time_of_a_recorded_run_is_that_of_another_machine(run):
    run.append(LINE | {"step": 50})
    set_status(run, "done", 100)
    told = [
        run_report(run, run.status(), run.moments(), "en", recorded=recorded).facts
        for recorded in (False, True)
    ]
    assert told == [["step 100/100", "25.0 % right", "took 2 s"], ["step 100/100", "25.0 % right"]]


def test_the_figures_of_a_translation_run(tmp_path):
    run = create_run(tmp_path / "pairs-1", TrainingConfig(pairs="x.tsv", until=0.4, steps=100))
    run.append(TRANSLATED)
    run.write_data_facts({"pairs": {"kept": 2000, "overlong": 12}})
    set_status(run, "done", 50)
    found = report(run)
    assert found.words == "done early: BLEU 40 reached"
    facts = " · ".join(found.facts)
    assert "BLEU 9.9 · chrF 29.4" in facts
    assert facts.endswith("1,988 pairs · 12 too long")
    assert "exact" not in facts
