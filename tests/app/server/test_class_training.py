"""The training on the host's screen, as guests of a class get it."""

import json
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.routing import Route
from starlette.testclient import TestClient

from explorer.app.limited_cache import LimitedCache
from explorer.app.server import class_route, class_training, probe_route
from explorer.app.server.class_session import ClassSession, Screen
from explorer.components.training_replay.payload import guest_payload
from explorer.core import folders
from explorer.jobs import training_launcher
from explorer.jobs.training_run import Run, create_run
from explorer.training.config import TrainingConfig

RECORDED = "recorded/reverse"
LINE = {"step": 5, "seconds": 1.5, "loss": 0.5, "exact_match": 0.25, "gold": [[0.1, 0.2]]}
ADDRESS = f"{class_training.PATH}?lang=en"


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """A run of this machine with one moment."""
    monkeypatch.setenv(folders.RUNS_VARIABLE, str(tmp_path))
    run = create_run(tmp_path / "reverse-1", TrainingConfig(steps=100, device="cpu"))
    run.append(LINE)
    return run


@pytest.fixture
def browser(run, monkeypatch) -> TestClient:
    monkeypatch.setattr(class_route, "session", ClassSession())
    monkeypatch.setattr(class_training, "_payloads", LimitedCache(10**7))
    return TestClient(Starlette(routes=[Route(class_training.PATH, class_training.serve)]))


def show(run: str, *others: str, revision: int = 1) -> None:
    """Let the host show a run beside others."""
    training = {"run": run, "others": list(others), "revision": revision}
    view = {"query": {}, "shown": {}, "trace": "", "training": training}
    class_route.session.show(Screen(view=view))


def test_the_run_on_the_host_s_screen_is_sent_with_its_newest_probe(browser):
    show(RECORDED, "runs/reverse-1")
    answer = browser.get(ADDRESS)
    assert answer.headers["content-encoding"] == "gzip"
    line, _, probe = answer.content.partition(b"\n")
    recorded = training_launcher.find("recorded", "reverse")
    other = training_launcher.find("runs", "reverse-1")
    assert line == guest_payload(RECORDED, recorded, "en", [other])
    path = recorded.probe_path(json.loads(line)["moments"][-1]["step"])
    assert probe == probe_route.payloads(path, 0, 0)[0]
    assert [one["name"] for one in json.loads(line)["others"]] == ["reverse-1"]


def test_a_run_whose_newest_moment_has_no_probe_is_sent_too(browser):
    show("runs/reverse-1")
    line, _, probe = browser.get(ADDRESS).content.partition(b"\n")
    assert (json.loads(line)["moments"][0]["probe"], probe) == (None, b"")


def test_each_guest_gets_the_run_in_their_language(browser):
    show(RECORDED)
    words = {
        language: json.loads(
            browser.get(f"{class_training.PATH}?lang={language}").content.partition(b"\n")[0]
        )["report"]["words"]
        for language in ("en", "zh")
    }
    assert words == {"en": "done", "zh": "已完成"}
    for other in ("", "?lang=", "?lang=xx"):
        assert browser.get(f"{class_training.PATH}{other}").status_code == 404


def test_a_payload_is_made_once_for_a_revision(browser, run, monkeypatch):
    show("runs/reverse-1")
    first = browser.get(ADDRESS).content
    made: list[str] = []

    def make(key: str, *rest: object) -> bytes:
        made.append(key)
        return guest_payload(key, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(class_training, "guest_payload", make)
    run.append(LINE | {"step": 10})
    assert browser.get(ADDRESS).content == first
    show("runs/reverse-1", revision=2)
    second = browser.get(ADDRESS).content
    assert browser.get(ADDRESS).content == second
    assert made == ["runs/reverse-1"]
    moments = json.loads(second.partition(b"\n")[0])["moments"]
    assert [moment["step"] for moment in moments] == [5, 10]


def test_a_current_copy_is_not_sent_again(browser, run):
    show("runs/reverse-1")
    etag = browser.get(ADDRESS).headers["etag"]
    show("runs/reverse-1", revision=2)  # of the same state: the host has loaded the page again
    again = browser.get(ADDRESS, headers={"If-None-Match": etag})
    assert (again.status_code, again.content) == (304, b"")
    run.append(LINE | {"step": 10})
    show("runs/reverse-1", revision=3)
    assert browser.get(ADDRESS, headers={"If-None-Match": etag}).status_code == 200


def test_what_is_not_on_the_screen_or_no_longer_there_is_not_found(browser, run):
    assert browser.get(ADDRESS).status_code == 404
    class_route.session.show(Screen(view={"query": {}, "shown": {}, "trace": "a" * 64}))
    assert browser.get(ADDRESS).status_code == 404
    show("runs/reverse-1", "runs/gone-1")
    line, _, _ = browser.get(ADDRESS).content.partition(b"\n")
    assert json.loads(line)["others"] == []
    show("runs/gone-1")
    assert browser.get(ADDRESS).status_code == 404
    show("runs/reverse-1")
    assert browser.get(ADDRESS).status_code == 200
    run.delete()
    refused = browser.get(ADDRESS)
    assert (refused.status_code, refused.headers["cache-control"]) == (404, "no-store")


def test_one_run_is_on_the_screen(browser):
    assert not class_training.is_on_screen(RECORDED)
    show(RECORDED, "runs/reverse-1")
    assert class_training.is_on_screen(RECORDED)
    assert not class_training.is_on_screen("runs/reverse-1")
