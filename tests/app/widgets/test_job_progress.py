"""All measurements of the server, and the buttons that cancel them."""

import re

import pytest
from streamlit.testing.v1 import AppTest

from explorer.app.state import measurements
from explorer.app.state.measurements import Measurements
from explorer.app.widgets import job_progress
from explorer.app.widgets.job_progress import follow_started
from explorer.core.i18n import say
from explorer.jobs.measurement import MeasuredSentences, Measurement, QueuedMeasurement
from tests.support.app_pages import open_page

JOBS = (
    QueuedMeasurement(
        Measurement.of("heads", "one", "batch"), "reverse", MeasuredSentences("task", 12, 61)
    ),
    QueuedMeasurement(
        Measurement.of("index", "two", "batch"), "my *model*", MeasuredSentences("mine.tsv", 2)
    ),
)


@pytest.fixture(autouse=True)
def queue(monkeypatch: pytest.MonkeyPatch) -> list[QueuedMeasurement]:
    """The jobs of the server."""
    queue = [*JOBS]
    monkeypatch.setattr(job_progress, "queued_measurements", lambda: [*queue])
    monkeypatch.setattr(
        Measurement, "active", property(lambda job: any(job == q.job for q in queue))
    )
    return queue


def texts(app) -> list[str]:
    """What the bars say, as Markdown shows it."""
    return [plain(element.proto.text) for element in app.get("progress")]


def cancels(app) -> list[str]:
    keys = [button.key or "" for button in app.button]
    return [key for key in keys if key.startswith("heads-cancel")]


def plain(text: str) -> str:
    """A text as Markdown shows it."""
    return re.sub(r"\\([^\w\s])", r"\1", text)


def more(count: int) -> list[QueuedMeasurement]:
    """Further jobs."""
    return [
        QueuedMeasurement(
            Measurement.of("index", f"m{number}", "batch"),
            f"m{number}",
            MeasuredSentences("your lines", 10 + number),
        )
        for number in range(count)
    ]


def opened_by_owner(*started: QueuedMeasurement) -> AppTest:
    """The page of a visitor who started these jobs."""
    app = open_page("heads", part="metrics", lang="en")
    app.session_state["Measurements"] = Measurements(started)
    return app.run()


@pytest.mark.parametrize("part", ["metrics", "search"])
def test_every_visitor_sees_all_measurements_and_what_each_waits_for(part):
    app = open_page("heads", part=part, lang="en")
    assert texts(app) == [
        "Measuring the heads of reverse (new sentences · 12, seed 61) … 0 %",
        "The index of my *model* (mine.tsv · 2): waiting, measurements before it: 1",
    ]
    assert r"\*model\*" in app.get("progress")[1].proto.text
    assert cancels(app) == ["heads-cancel-one-batch", "heads-cancel-two-index-batch"]
    assert texts(open_page("heads", part=part, lang="zh"))[0] == (
        "正在测量 reverse 的头（新句子 · 12，种子 61）…… 0 %"
    )


def test_all_of_ones_own_are_marked(queue):
    queue.extend(more(3))
    app = opened_by_owner(JOBS[0], *queue[2:4])
    assert [text.endswith(" (yours)") for text in texts(app)] == [True, True, False, True, False]


def test_what_runs_and_ones_next_are_shown_and_the_others_folded(queue):
    queue.extend(more(7))
    app = opened_by_owner(*queue[3:])
    (folded,) = app.expander
    assert folded.label == say("heads.more_jobs", count=7, yours=5)
    assert len(folded.get("progress")) == 7
    assert [text.split(" (")[1][:14] for text in texts(app)[:2]] == [
        "new sentences ",
        "typed lines · ",
    ]


def test_each_of_ones_own_that_ended_is_told_of(queue, monkeypatch):
    failed, cancelled, done, waits = more(4)
    queue[:] = [waits]
    monkeypatch.setattr(Measurement, "failure", property(lambda job: "no heads"))
    monkeypatch.setattr(Measurement, "cancelled", property(lambda job: job == cancelled.job))
    monkeypatch.setattr(Measurement, "done", property(lambda job: job == done.job))
    app = opened_by_owner(failed, cancelled, done, waits)
    assert [plain(one.value) for one in app.error] == [
        "Indexing the attention of m0 (typed lines · 10) did not finish: no heads",
        "Indexing the attention of m1 (typed lines · 11) did not finish: "
        "somebody else cancelled it.",
    ]
    assert "The index of m2 has been built" in app.info[0].value
    app = app.run()
    assert not app.error
    assert not app.info


def test_the_report_of_the_newest_is_shown_at_its_end(queue, monkeypatch):
    queue.clear()
    monkeypatch.setattr(Measurement, "done", property(lambda job: True))
    app = opened_by_owner(JOBS[0])
    assert not app.exception
    assert app.session_state["Measurements"].shown == {"heads": JOBS[0].job.report_key}
    assert not app.info


def test_what_is_measured_already_is_shown_and_said_to_be(monkeypatch):
    said = []
    monkeypatch.setattr("streamlit.session_state", {})
    monkeypatch.setattr(job_progress.messages, "notify", said.append)
    follow_started(JOBS[0], "en")
    assert measurements.current().started == (JOBS[0],)
    assert not measurements.current().shown
    monkeypatch.setattr(Measurement, "done", property(lambda job: True))
    follow_started(JOBS[1], "en")
    assert measurements.current().started == (JOBS[0],)
    assert measurements.current().shown == {"index": JOBS[1].job.report_key}
    assert said == ["Already measured, and now shown: mine.tsv · 2."]


def test_without_any_there_is_nothing(queue):
    queue.clear()
    assert texts(open_page("heads", part="metrics")) == []


def test_a_button_cancels_its_job(monkeypatch):
    cancelled = []
    monkeypatch.setattr(Measurement, "cancel", lambda job: cancelled.append(job))
    app = open_page("heads", part="metrics")
    app.button(key="heads-cancel-two-index-batch").click().run()
    assert cancelled == [JOBS[1].job]


def test_the_end_of_another_s_measurement_says_where_its_result_is(monkeypatch):
    looks = [[*JOBS], [JOBS[1]]]  # when the page is drawn, and a second later
    monkeypatch.setattr(
        job_progress, "queued_measurements", lambda: looks.pop(0) if len(looks) > 1 else looks[0]
    )
    monkeypatch.setattr(Measurement, "done", property(lambda job: job == JOBS[0].job))
    app = open_page("heads", part="metrics", lang="en")
    said = [one.value.replace("\\", "") for one in app.info]
    expected = "The heads of reverse have been measured; the result is in the list under"
    assert [text[: len(expected)] for text in said] == [expected]
    assert not app.run().info  # once


def test_the_end_of_a_cancelled_one_is_not_told(monkeypatch):
    looks = [[*JOBS], [JOBS[1]]]
    monkeypatch.setattr(
        job_progress, "queued_measurements", lambda: looks.pop(0) if len(looks) > 1 else looks[0]
    )
    assert not open_page("heads", part="metrics", lang="en").info
