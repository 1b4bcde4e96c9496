"""Measuring in a process of its own."""

import time
from pathlib import Path

import pytest

from explorer import measuring
from explorer.errors import ExplorerError
from explorer.measuring import Batch, MeasuringError
from explorer.metrics import digest

PATIENCE = 120  # seconds


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(measuring.FINDINGS_VARIABLE, str(tmp_path))
    return tmp_path


def wait(job: measuring.Job) -> None:
    deadline = time.monotonic() + PATIENCE
    while job.going and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not job.going


def test_lines_are_measured_on_a_copy_and_found_by_the_digest(explorable):
    name = digest(explorable.transformer)
    batch = Batch("lines", text="1 2 3\n\n3 2\n", gradients=True, removal=False)
    job = measuring.start(explorable, None, batch, name)
    wait(job)
    assert job.done, job.reason
    (found,) = measuring.known(name)
    assert found.facts["digest"] == name
    assert found.facts["sentences"] == 2
    assert found.facts["targets"] == "greedy"
    assert "importance" in found.metrics
    assert job.share == 1.0
    assert measuring.start(explorable, None, batch, name) == job  # not twice
    assert not job.going


def test_cancelled_it_leaves_nothing_and_the_next_may_start(explorable):
    name = digest(explorable.transformer)
    batch = Batch("task", size=1024)
    job = measuring.start(explorable, None, batch, name)
    with pytest.raises(MeasuringError, match="Another measurement"):
        measuring.start(explorable, None, Batch("task", size=5), name)
    job.cancel()
    wait(job)
    assert job.cancelled
    assert not job.done
    assert measuring.known(name) == []


@pytest.mark.parametrize(
    ("batch", "words"),
    [
        (Batch("lines", text="1 2\n1 x"), "Line 2: .*“x”"),
        (Batch("lines", text=" \n"), "no sentence"),
        (Batch("pairs", text="1 2\t1 x"), "Line 1: .*“x”"),
        (Batch("pairs", text="1 2\n2 1"), "no sentence"),
        (Batch("lines", text="1 " * 40), "Line 1: .*at most 11"),
        (Batch("lines", text="1\n" * 2000), "At most 1024"),
    ],
)
def test_what_cannot_be_measured_is_said_before_it_is_begun(explorable, batch, words):
    with pytest.raises(ExplorerError, match=words):
        measuring.check(explorable, batch, "en")


def test_what_ships_is_found_by_its_digest_alone():
    path = Path(measuring.__file__).parent.parent / "checkpoints" / "heads" / "sort.json"
    name = measuring.Findings.load(path).facts["digest"]
    assert [found.facts["model"] for found in measuring.known(name)] == ["sort"]
    assert measuring.known("0" * 32) == []
