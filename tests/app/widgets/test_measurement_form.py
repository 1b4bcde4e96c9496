"""The form that starts a measurement, on the Heads page without a browser."""

import time
from pathlib import Path

import pytest

from explorer.app.state.measurements import EvaluationText
from explorer.core import folders
from explorer.core.errors import MeasurementError
from explorer.core.i18n import say
from explorer.jobs import measurement_jobs
from explorer.jobs.measurement_jobs import MeasurementSettings
from tests.support.app_pages import captions, open_page


@pytest.fixture(autouse=True)
def reports(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing was measured on this machine."""
    monkeypatch.setenv(folders.REPORTS_VARIABLE, str(tmp_path))


def test_only_what_can_work_is_offered_to_measure_on(monkeypatch):
    app = open_page("heads", part="metrics")
    assert app.radio(key="measure-kind-en").value == "task"
    monkeypatch.setattr("explorer.data.task_names.TASK_NAMES", ())  # as for a model that translates
    app = open_page("heads", part="metrics")
    assert app.radio(key="measure-kind-own-en").value == "lines"
    assert len(app.radio(key="measure-kind-own-en").options) == 2


def test_own_lines_are_checked_before_anything_starts():
    app = open_page("heads", part="metrics")
    app = app.radio(key="measure-kind-en").set_value("lines").run()
    app = app.text_area(key="measure-lines").set_value("1 2\n1 x").run()
    app = app.button(key="measure-start").click().run()
    assert "Line 2" in app.error[0].value
    assert app.text_area(key="measure-lines").value == "1 2\n1 x"


def test_what_is_typed_and_started_in_one_go_is_measured(monkeypatch):
    """The button was drawn with other values: those of the last run of the page."""
    begun = []

    def start(checkpoint, name, settings, digest):
        begun.append(settings)
        raise MeasurementError("queue_full", count=8)

    monkeypatch.setattr(measurement_jobs, "start", start)
    app = open_page("heads", part="metrics")
    app.number_input(key="measure-size").set_value(12)
    app.number_input(key="measure-seed").set_value(61)
    app.checkbox(key="measure-removal").set_value(False)
    app = app.button(key="measure-start").click().run()
    app = app.radio(key="measure-kind-en").set_value("lines").run()
    app.text_area(key="measure-lines").set_value("1 2")
    app.button(key="measure-start").click().run()
    assert begun == [
        MeasurementSettings(size=12, seed=61, removal=False),
        MeasurementSettings("lines", size=12, text="1 2", removal=False),
    ]


def test_a_file_of_pairs_is_read_and_a_binary_file_refused():
    app = open_page("heads", part="metrics")
    app = app.radio(key="measure-kind-en").set_value("pairs").run()
    app = app.file_uploader[0].set_value(("mine.tsv", b"1 2\t2 1\n3\t3\n", "")).run()
    assert not app.exception
    assert app.session_state["Measurements"].pairs == EvaluationText("mine.tsv", "1 2\t2 1\n3\t3\n")
    assert any("mine.tsv" in caption for caption in captions(app))
    refused = {
        b"\xff\xfe\x00": "“bad.tsv” is not UTF-8 in line 1;",
        b"1\t1\n\xe9\t2\n": "“bad.tsv” is not UTF-8 in line 2;",
        b"1\t1\n\0\t2\n": "“bad.tsv” is a binary file;",
        b"1 2\n": "“bad.tsv” has no pair;",
    }
    for contents, sentence in refused.items():
        app = app.file_uploader[0].set_value(("bad.tsv", contents, "")).run()
        assert sentence in app.error[0].value.replace("\\", "")
        assert app.session_state["Measurements"].pairs.name == "mine.tsv"
    app = app.file_uploader[0].set_value(("mine.csv", b'1 2,2 1\n"3, 3",3\n', "")).run()
    assert not app.error
    assert app.session_state["Measurements"].pairs.text == "1 2\t2 1\n3, 3\t3\n"


def test_why_a_file_is_refused_stays_when_nothing_is_measured():
    app = open_page("heads", part="metrics")
    app = app.radio(key="measure-kind-en").set_value("pairs").run()
    app = app.file_uploader[0].set_value(("bad.tsv", b"1\t1\n\0\t2\n", "")).run()
    app = app.button(key="measure-start").click().run()
    said = " ".join(error.value.replace("\\", "") for error in app.error)
    assert "There is no sentence to measure on" in said
    assert "“bad.tsv” is a binary file" in said


def test_the_heads_of_a_directory_are_measured_from_the_form(model_folder, monkeypatch):
    monkeypatch.setenv(folders.MODELS_VARIABLE, str(model_folder))
    app = open_page("heads", part="roles", model="gpt-tiny")
    app = app.text_area(key="measure-lines").set_value("a cat\n" + "a " * 900).run()
    app = app.button(key="measure-start").click().run()
    assert "Line 2" in app.error[0].value
    app = app.text_area(key="measure-lines").set_value("the cat sees\nyou want water").run()
    for part in ("gradients", "removal"):
        app = app.checkbox(key=f"measure-{part}").set_value(False).run()
    app = app.button(key="measure-start").click().run()
    assert not app.exception
    assert not app.error
    job = app.session_state["Measurements"].started[-1].job
    deadline = time.monotonic() + 120
    while job.active and time.monotonic() < deadline:
        time.sleep(0.1)
    assert job.done, job.failure
    app = open_page("heads", part="roles", model="gpt-tiny")
    assert not app.exception
    assert not any(say("heads.no_findings") in info.value for info in app.info)
