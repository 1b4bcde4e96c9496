"""The controls of the Train page alone; no training is started."""

import os
import time
from dataclasses import replace
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from explorer.core import folders
from explorer.core.errors import RunError
from explorer.jobs import training_launcher
from explorer.jobs.status import Status
from explorer.jobs.training_run import Run, create_run
from explorer.training.config import TrainingConfig, quick_demo


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder of runs."""
    monkeypatch.setenv(folders.RUNS_VARIABLE, str(tmp_path / "runs"))
    return tmp_path / "runs"


def page() -> None:
    """The controls of the run on screen, the newest one."""
    import streamlit as st

    from explorer.app.state import train as train_state
    from explorer.app.widgets.messages import show_reported
    from explorer.app.widgets.run_controls import choose_runs, open_and_delete, start_row

    runs = train_state.list_all_runs()
    key = train_state.shown_run(runs)
    start_row(runs[key], train_state.is_recorded(key), "en")
    others = choose_runs(runs, key, "en")
    st.session_state["opened"] = open_and_delete(runs[key], train_state.is_recorded(key), "en")
    st.session_state["others"] = [other.name for other in others]
    show_reported("en", st.container())


def shown() -> AppTest:
    app = AppTest.from_function(page, default_timeout=60).run()
    assert not app.exception
    return app


def made(folder: Path, name: str, state: str, step: int = 0) -> Run:
    run = create_run(folder / name, TrainingConfig(steps=100, device="cpu"))
    run.write_status(Status(state, step, time.time(), os.getpid()))
    return run


def disabled(app: AppTest) -> set[str]:
    return {str(button.key) for button in app.button if button.disabled}


def test_start_trains_the_quick_demo_of_the_chosen_task(monkeypatch):
    started: list[TrainingConfig] = []

    def refuse(config: TrainingConfig) -> Run:
        started.append(config)
        raise RunError("unwritable_file", name="runs", reason="full")

    monkeypatch.setattr(training_launcher, "start", refuse)
    app = shown().selectbox(key="train-task-en").set_value("sort").run()
    assert not app.button(key="start").help  # it would stay over the name of the run that begins
    app = app.button(key="start").click().run()
    assert [config.task for config in started] == ["sort"]
    assert "full" in app.error[0].value


def test_a_quick_demo_trains_without_the_causal_mask(folder, monkeypatch):
    monkeypatch.setattr(training_launcher, "launch", lambda run: None)
    app = shown()
    demos = app.selectbox(key="train-task-en")
    names = ("reverse", "copy", "induction (a decoder alone)", "sort", "reverse without mask")
    assert demos.options == [f"Quick demo: {name}" for name in names]
    app = demos.set_value("no_mask").run()
    app = app.button(key="start").click().run()
    assert not app.exception
    run = training_launcher.find("runs", "reverse-without-mask-1")
    assert run.config == replace(
        quick_demo("reverse", on_gpu=run.config.device != "cpu"),
        causal=False,
        seed=run.config.seed,
    )
    assert run.resumable
    assert any("reverse-without-mask-1" in name for name in app.selectbox(key="train-run").options)


def test_an_active_run_can_be_stopped_and_not_deleted(folder):
    run = made(folder, "reverse-1", "running", 5)
    assert not run.stop_requested()
    app = shown()
    assert disabled(app) >= {"resume", "delete-idle", "open"}
    assert "stop" not in disabled(app)
    app.button(key="stop").click().run()
    assert run.stop_requested()


def test_a_stopped_run_can_be_deleted_and_compared_with_another(folder):
    made(folder, "reverse-1", "stopped", 5)
    app = shown()
    app = app.selectbox(key="train-run").set_value("runs/reverse-1").run()
    assert disabled(app) >= {"stop", "open"}
    assert app.session_state["others"] == []
    app = app.multiselect(key="train-others").set_value(["recorded/reverse"]).run()
    assert app.session_state["others"] == ["reverse"]
    app = app.button(key="delete-yes").click().run()
    assert not app.exception
    assert not (folder / "reverse-1").exists()
    assert app.selectbox(key="train-run").value == "recorded/reverse"
