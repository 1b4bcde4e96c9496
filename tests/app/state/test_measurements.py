"""What is remembered of a visitor's measurements."""

import pytest

from explorer.app.state import measurements
from explorer.app.state.measurements import EvaluationText
from explorer.jobs.measurement import MeasuredSentences, Measurement, QueuedMeasurement

FIRST, SECOND = (
    QueuedMeasurement(
        Measurement.of("heads", "digest", name), "reverse", MeasuredSentences("your lines", 2)
    )
    for name in "ab"
)


@pytest.fixture(autouse=True)
def session_state(monkeypatch: pytest.MonkeyPatch) -> None:
    """A session without a browser."""
    monkeypatch.setattr("streamlit.session_state", {})


def test_all_that_were_started_are_known_until_forgotten() -> None:
    assert measurements.current().started == ()
    for started in (FIRST, SECOND, FIRST):
        measurements.follow(started)
    assert measurements.current().started == (SECOND, FIRST)  # the newest last, none twice
    measurements.forget(SECOND.job)
    assert measurements.current().started == (FIRST,)


def test_nothing_more_is_told_of_one_s_own_that_is_cancelled(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    cancelled = []
    monkeypatch.setattr(Measurement, "cancel", lambda job: cancelled.append(job))
    measurements.follow(FIRST)
    measurements.cancel(FIRST.job)
    measurements.cancel(SECOND.job)
    assert cancelled == [FIRST.job, SECOND.job]
    assert measurements.current().started == ()


def test_files_and_the_report_of_each_kind_are_remembered_apart() -> None:
    measurements.set_pairs(EvaluationText("pairs.tsv", "1\t1"))
    measurements.show_report("index", "key")
    measurements.show_result(FIRST.job)
    now = measurements.current()
    assert now.pairs.name == "pairs.tsv"
    shown = {"index": "key", "heads": FIRST.job.report_key}
    assert now.shown == shown
