"""The form of all training settings, on the Train page without a browser."""

import time
from dataclasses import fields, replace
from pathlib import Path

import pytest

from explorer.app.widgets import training_form
from explorer.app.widgets.training_form import GROUPS
from explorer.core import folders
from explorer.jobs import training_launcher
from explorer.jobs.status import Status
from explorer.training.config import TrainingConfig
from tests.support.app_pages import open_page


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder of runs, and no process: a launch only writes the status."""
    monkeypatch.setenv(folders.RUNS_VARIABLE, str(tmp_path / "runs"))
    monkeypatch.setattr(
        training_launcher,
        "launch",
        lambda run: run.write_status(Status("waiting", 0, time.time(), 0)),
    )
    return tmp_path / "runs"


def test_every_setting_is_in_the_form():
    listed = [name for names in GROUPS.values() for name in names]
    assert sorted(listed) == sorted(field.name for field in fields(TrainingConfig))


def test_the_form_refuses_what_cannot_be_and_starts_the_rest(folder):
    app = open_page("train")
    app.button(key="settings").click().run()
    assert not app.exception
    app.number_input(key="setting-heads-0").set_value(5).run()
    assert "cannot be shared by 5 heads" in app.error[0].value
    assert app.button(key="start-these").disabled
    app.number_input(key="setting-heads-0").set_value(2).run()
    app.checkbox(key="setting-causal-0").uncheck().run()
    assert not app.error
    app.button(key="start-these").click().run()
    assert not app.exception
    config = training_launcher.find("runs", "reverse-without-mask-1").config
    assert (config.heads, config.causal) == (2, False)


def test_an_error_in_a_setting_names_its_label_on_screen(folder):
    for language, sentence in (("en", "Learning rate is 100"), ("zh", "学习率 为 100")):
        app = open_page("train", lang=language)
        app.button(key="settings").click().run()
        app.number_input(key="setting-rate-0").set_value(100.0).run()
        assert app.error[0].value.startswith(sentence)


def test_the_form_refuses_a_warm_up_or_an_evaluation_after_the_last_step(folder):
    for name, sentences in (
        ("warmup", ("Warm-up: 401 steps are more than the 400 of", "预热步数：401 步超过了")),
        ("evaluate_every", ("Evaluate every: 401 steps are more than", "评估间隔：401 步超过了")),
    ):
        for language, sentence in zip(("en", "zh"), sentences, strict=True):
            app = open_page("train", lang=language)
            app.button(key="settings").click().run()
            app.number_input(key=f"setting-{name}-0").set_value(401).run()
            assert app.error[0].value.replace("\\", "").startswith(sentence)
            assert app.button(key="start-these").disabled


def test_processes_are_offered_only_where_there_are_several_gpus(folder, monkeypatch):
    app = open_page("train")
    app.button(key="settings").click().run()
    keys = {number.key for number in app.number_input}
    assert "setting-processes-0" not in keys
    monkeypatch.setattr(training_form, "available_devices", lambda: ("cuda", "cuda:1", "cpu"))
    app.run()
    app.number_input(key="setting-processes-0").set_value(2).run()
    app.button(key="start-these").click().run()
    assert not app.exception
    assert training_launcher.find("runs", "reverse-1").config.processes == 2


def test_changed_settings_stay_while_the_form_is_closed_and_can_be_reset(folder):
    app = open_page("train")
    app.button(key="settings").click().run()
    app.number_input(key="setting-heads-0").set_value(2).run()
    app.session_state["TrainState"] = replace(app.session_state["TrainState"], form=None)
    app.run()
    app.button(key="settings").click().run()
    assert app.number_input(key="setting-heads-0").value == 2
    app.button(key="defaults").click().run()
    assert app.number_input(key="setting-heads-1").value == 4
