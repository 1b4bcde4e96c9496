"""The progress of a measurement that somebody started, and the button that cancels it."""

from pathlib import Path

from explorer.app.server import access
from explorer.heads import measurement_jobs
from tests.support.app_pages import open_page

ROOT = Path(__file__).parents[3]


def test_another_visitor_sees_a_measurement_and_may_cancel_it(monkeypatch):
    job = measurement_jobs.Job(ROOT / "nowhere")
    monkeypatch.setattr(measurement_jobs.Job, "running", True)
    monkeypatch.setattr(measurement_jobs, "running_job", lambda digest: job)
    app = open_page("heads", part="metrics")
    assert "heads-cancel" in {button.key for button in app.button}
    monkeypatch.setenv(access.KEY_VARIABLE, "secret")
    app = open_page("heads", part="metrics")
    assert not app.exception
    assert "heads-cancel" not in {button.key for button in app.button}
