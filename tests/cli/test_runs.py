import time

import pytest

from explorer.__main__ import main
from explorer.core import folders
from explorer.jobs.status import Status
from explorer.jobs.training_run import Run, create_run
from tests.support.tiny_configs import TINY


@pytest.fixture
def run(tmp_path, monkeypatch) -> Run:
    monkeypatch.setenv(folders.RUNS_VARIABLE, str(tmp_path))
    run = create_run(tmp_path / "one", TINY)
    run.write_status(Status("done", 10, time.time()))
    for step, loss in ((5, 2.0), (10, 1.0)):
        run.append({"step": step, "loss": loss, "exact_match": 0.25, "seconds": 1.5})
    return run


def test_runs_are_listed_on_one_line_each(run, tmp_path, capsys):
    create_run(tmp_path / "two", TINY)
    assert main(["runs"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert sorted(line.split()[0] for line in lines) == ["one", "two"]
    (line,) = (line for line in lines if line.startswith("one"))
    assert "done" in line
    assert "step 10/40" in line
    assert "exact 25.0%" in line


def test_a_run_is_shown_with_what_differs_its_best_moment_and_its_evaluations(
    run, tmp_path, capsys
):
    run.append({"step": 15, "loss": 0.5, "training_loss": 0.25, "held_out_loss": 0.75})
    run.append({"step": 20, "loss": 0.4, "training_loss": 0.125, "held_out_loss": 1.5})
    assert main(["runs", "show", "one"]) == 0
    printed = capsys.readouterr().out
    assert "  symbols 1 2 3 4 (1 2 3 4 5" in printed
    assert "  steps 40 (400)\n" in printed
    assert "  task" not in printed  # as the preset has it
    assert "best moment: step 15, held-out loss 0.7500" in printed
    assert "       5       1.5   2.0000         –         –  exact 25.0%\n" in printed
    assert "      15         –   0.5000    0.2500    0.7500  exact –  best\n" in printed
    assert main(["runs", "show", str(run.folder)]) == 0
    assert capsys.readouterr().out == printed


def test_why_a_run_failed_is_shown(run, capsys):
    facts = {"step": "5", "loss": "31.4", "uniform": "3.1", "rate": "1"}
    run.write_status(Status("failed", 5, time.time(), error=("diverged", facts)))
    assert main(["runs", "show", "one"]) == 0
    assert "diverged at step 5: loss 31.4" in capsys.readouterr().out
    run.write_status(Status("failed", 5, time.time(), error=("no_such_sentence", {})))
    assert main(["runs", "show", "one"]) == 0
    assert "has no sentence for: no_such_sentence" in capsys.readouterr().out


def test_an_unknown_run_is_an_error(run, capsys):
    assert main(["runs", "show", "nowhere"]) == 2
    assert capsys.readouterr().err.startswith("error: ")


def test_where_there_are_no_runs_the_folder_is_named(tmp_path, monkeypatch, capsys):
    for folder in (tmp_path, tmp_path / "not-yet"):
        monkeypatch.setenv(folders.RUNS_VARIABLE, str(folder))
        assert main(["runs"]) == 0
        printed = capsys.readouterr()
        assert (printed.out, printed.err.count("\n")) == ("", 1)
        assert f"no runs in “{folder}”" in printed.err


def test_a_missing_folder_of_runs_and_a_missing_name_are_errors(run, tmp_path, capsys):
    (tmp_path / "file").touch()
    for root in (tmp_path / "nowhere", tmp_path / "file"):
        for show in ([], ["show", "one"]):
            assert main(["runs", *show, "--root", str(root)]) == 2
            assert f"no folder “{root}”" in capsys.readouterr().err
    assert main(["runs", "show"]) == 2
    assert "Name the run to show" in capsys.readouterr().err
    assert main(["runs", "show", str(run.folder)]) == 0
