"""All measurements of the server, and the buttons that cancel them."""

import re
from pathlib import Path

import pytest

from explorer.app.server import access
from explorer.app.state import heads as heads_state
from explorer.app.widgets import job_progress
from explorer.heads.job_queue import Job, QueuedJob
from tests.support.app_pages import open_page

NOWHERE = Path(__file__).parent / "nowhere"
JOBS = (
    QueuedJob(Job(NOWHERE / "one" / "batch"), "heads", "reverse"),
    QueuedJob(Job(NOWHERE / "two" / "batch"), "alignment", "my *model*"),
)


@pytest.fixture(autouse=True)
def queue(monkeypatch: pytest.MonkeyPatch) -> list[QueuedJob]:
    """The jobs of the server."""
    queue = [*JOBS]
    monkeypatch.setattr(job_progress, "queued_jobs", lambda: [*queue])
    monkeypatch.setattr(Job, "active", property(lambda job: any(job == q.job for q in queue)))
    return queue


def texts(app) -> list[str]:
    """What the bars say, as Markdown shows it."""
    texts = [element.proto.text for element in app.get("progress")]
    return [re.sub(r"\\([^\w\s])", r"\1", text) for text in texts]


def cancels(app) -> list[str]:
    keys = [button.key or "" for button in app.button]
    return [key for key in keys if key.startswith("heads-cancel")]


@pytest.mark.parametrize("part", ["metrics", "alignment"])
def test_every_visitor_sees_all_measurements_and_what_each_waits_for(part):
    app = open_page("heads", part=part, lang="en")
    assert texts(app) == [
        "Measuring the heads of reverse … 0 %",
        "The alignment of my *model*: waiting, measurements before it: 1",
    ]
    assert r"\*model\*" in app.get("progress")[1].proto.text
    assert cancels(app) == ["heads-cancel-one-batch", "heads-cancel-two-batch"]
    assert texts(open_page("heads", part=part, lang="zh"))[0] == "正在测量 reverse 的头…… 0 %"


def test_ones_own_is_marked(monkeypatch):
    monkeypatch.setattr(heads_state, "job", lambda: JOBS[0].job)
    assert texts(open_page("heads", part="metrics", lang="en"))[0].endswith("0 % (yours)")


def test_a_guest_of_a_class_sees_them_and_cancels_none(monkeypatch):
    monkeypatch.setenv(access.KEY_VARIABLE, "secret")
    app = open_page("heads", part="metrics")
    assert not app.exception
    assert len(texts(app)) == 2
    assert cancels(app) == []


def test_without_any_there_is_nothing(queue):
    queue.clear()
    assert texts(open_page("heads", part="metrics")) == []


def test_a_button_cancels_its_job(monkeypatch):
    cancelled = []
    monkeypatch.setattr(Job, "cancel", lambda job: cancelled.append(job))
    app = open_page("heads", part="metrics")
    app.button(key="heads-cancel-two-batch").click().run()
    assert cancelled == [JOBS[1].job]


def test_the_end_of_another_s_measurement_says_where_its_result_is(monkeypatch):
    looks = [[*JOBS], [JOBS[1]]]  # when the page is drawn, and a second later
    monkeypatch.setattr(
        job_progress, "queued_jobs", lambda: looks.pop(0) if len(looks) > 1 else looks[0]
    )
    monkeypatch.setattr(Job, "done", property(lambda job: job == JOBS[0].job))
    app = open_page("heads", part="metrics", lang="en")
    said = [one.value.replace("\\", "") for one in app.info]
    expected = "The heads of reverse have been measured; the result is in the list under"
    assert [text[: len(expected)] for text in said] == [expected]
    assert not app.run().info  # once


def test_the_end_of_a_cancelled_one_is_not_told(monkeypatch):
    looks = [[*JOBS], [JOBS[1]]]
    monkeypatch.setattr(
        job_progress, "queued_jobs", lambda: looks.pop(0) if len(looks) > 1 else looks[0]
    )
    assert not open_page("heads", part="metrics", lang="en").info
