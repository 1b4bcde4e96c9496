import gzip
import json
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.routing import Route
from starlette.testclient import TestClient

from explorer.app.server import paths, probe_route
from explorer.components.player.payload import player_payload
from explorer.components.training_replay.own_choices import with_own_choices
from explorer.components.training_replay.payload import replay_payload
from explorer.core import folders
from explorer.jobs import training_launcher
from explorer.jobs.training_run import Run, create_run
from explorer.training.config import TrainingConfig


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """A run with nothing in it yet."""
    monkeypatch.setenv(folders.RUNS_VARIABLE, str(tmp_path))
    return create_run(tmp_path / "reverse-1", TrainingConfig(steps=100, device="cpu"))


@pytest.fixture(scope="module")
def browser() -> TestClient:
    return TestClient(Starlette(routes=[Route(paths.PROBE, probe_route.serve)]))


def test_a_browser_gets_each_probe_trace_once_and_caches_it(browser):
    run = training_launcher.find("recorded", "reverse")
    address = json.loads(replay_payload("recorded/reverse", run))["moments"][0]["probe"]
    answer = browser.get(f"/{address}")
    assert answer.status_code == 200
    assert "max-age" in answer.headers["cache-control"]
    assert answer.headers["content-encoding"] == "gzip"
    trace = run.probe(run.moments()[0]["step"])
    assert answer.content == player_payload(with_own_choices(trace), language=None)
    plain = browser.get(f"/{address}", headers={"Accept-Encoding": "identity"})
    assert plain.content == answer.content
    assert len(gzip.compress(answer.content)) < 5_000


@pytest.mark.parametrize(
    "path",
    [
        "runs/reverse-1/5",
        "runs/..%2f..%2fetc/5",
        "recorded/../5",
        "recorded/reverse/7",
        "recorded/reverse/-25",
        "recorded/reverse/" + "9" * 5_000,
        "recorded/reverse/２５",
        "other/reverse/25",
    ],
)
def test_anything_else_is_not_found(browser, run, path):
    assert browser.get(f"/moments/{path}").status_code == 404


def test_a_damaged_probe_trace_is_not_found(browser, run):
    path = run.probe_path(5)
    path.parent.mkdir()
    path.write_bytes(b"PK\x03\x04 nothing")
    assert browser.get("/moments/runs/reverse-1/5").status_code == 404
