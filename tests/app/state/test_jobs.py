"""What is remembered of a visitor's own measurements."""

import pytest

from explorer.app.state import jobs
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
    assert jobs.own() == ()
    for started in (FIRST, SECOND, FIRST):
        jobs.follow(started)
    assert jobs.own() == (SECOND, FIRST)  # the newest last, none twice
    jobs.forget(SECOND.job)
    assert jobs.own() == (FIRST,)


def test_nothing_more_is_told_of_one_s_own_that_is_cancelled(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    cancelled = []
    monkeypatch.setattr(Measurement, "cancel", lambda job: cancelled.append(job))
    jobs.follow(FIRST)
    jobs.cancel(FIRST.job)
    jobs.cancel(SECOND.job)
    assert cancelled == [FIRST.job, SECOND.job]
    assert jobs.own() == ()
