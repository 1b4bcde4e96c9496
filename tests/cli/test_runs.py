import time

import pytest

from explorer.__main__ import main
from explorer.core import folders
from explorer.training.run_directory import Run, Status, create_run
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


def test_a_run_is_shown_with_its_settings_and_moments(run, tmp_path, capsys):
    assert main(["runs", "show", "one", "--root", str(tmp_path)]) == 0
    printed = capsys.readouterr().out
    assert "  symbols          1 2 3 4\n" in printed
    assert "  step      5  loss 2.0000  exact 25.0%  1.5 s\n" in printed


def test_an_unknown_run_is_an_error(run, capsys):
    assert main(["runs", "show", "nowhere"]) == 2
    assert capsys.readouterr().err.startswith("error: ")
