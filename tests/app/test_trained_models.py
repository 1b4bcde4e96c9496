"""The models of the runs of this machine."""

import json
import os
import shutil
from pathlib import Path

import pytest

from explorer.app.trained_models import model_of_run, probe_request, trained_models
from explorer.app.uploads import visitor_catalog
from explorer.components.labels import describe
from explorer.core import folders
from explorer.core.errors import ExplorerError
from explorer.jobs.training_run import Run
from explorer.model.catalog import shipped_models
from explorer.model.explorable import load
from tests.support.finished_runs import finished_run


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two finished runs, the older one called as a model that ships."""
    monkeypatch.setenv(folders.RUNS_VARIABLE, str(tmp_path))
    for created, name in ((1.0, "reverse"), (2.0, "own-2")):
        set_created(finished_run(tmp_path / name), created)
    return tmp_path


def set_created(run: Run, created: float) -> None:
    path = run.folder / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"created": created}))


@pytest.fixture
def run(root: Path) -> Run:
    return Run(root / "own-2")


def test_runs_stand_after_the_shipped_models_the_newest_first(root):
    assert list(trained_models()) == ["own-2", "reverse"]
    assert list(visitor_catalog()) == [*shipped_models(), "own-2", "runs/reverse"]


def test_a_trained_model_has_the_name_of_its_run(root):
    shown = describe(trained_models({"own-2"})["runs/own-2"], "en")
    assert shown == "own-2 · 2+2 layers · 2 heads · 50.0 % exact · trained here"
    assert "本机训练" in describe(trained_models({"own-2"})["runs/own-2"], "zh")


def test_the_best_checkpoint_comes_first(run):
    assert model_of_run(run).path == run.best_path
    run.best_path.unlink()
    assert model_of_run(run).path == run.checkpoint_path


def test_a_run_that_goes_on_training_has_another_stamp(run):
    before = model_of_run(run)
    os.utime(run.best_path, ns=(1, 1))
    assert model_of_run(run).stamp != before.stamp


def test_a_run_without_a_model_or_with_damaged_files_is_not_listed(root, run):
    run.best_path.write_bytes(b"half a file")
    (root / "reverse" / "config.json").write_text("[]")
    assert trained_models() == {}
    with pytest.raises(ExplorerError):
        model_of_run(run)
    shutil.rmtree(run.folder)
    assert trained_models() == {}
    with pytest.raises(ExplorerError):
        model_of_run(run)


def test_a_name_that_no_run_has_is_not_listed(root):
    shutil.copytree(root / "own-2", root / "a b")
    assert "a b" not in trained_models()


def test_the_probe_of_a_run_is_asked_for_with_its_right_answer_fed_in(run):
    """Without the causal mask a model may write nothing itself: one row, which looks at bos."""
    trained = Run(Path(__file__).parents[1] / "frozen" / "runs" / "done")
    stored = trained.probe(trained.moments()[-1]["step"])
    request = probe_request(trained, "runs/done")
    trace = load(trained.checkpoint_path).trace(request.text, force=dict(request.forced))
    assert trace.target_tokens == stored.target_tokens
    assert (request.model, request.pad) == ("runs/done", 0)
    assert probe_request(run, "own-2") is None  # it has recorded no moment
