"""Measuring in a process of its own."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from explorer.core import folders
from explorer.core.errors import ExplorerError
from explorer.heads import measurement_store
from explorer.heads.measure import digest
from explorer.heads.measurement_store import Batch, MeasuringError

PATIENCE = 120  # seconds


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(folders.REPORTS_VARIABLE, str(tmp_path))
    return tmp_path


def wait(job: measurement_store.Job) -> None:
    deadline = time.monotonic() + PATIENCE
    while job.going and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not job.going


def files(folder: Path) -> list[str]:
    """All that lies in a folder, in whatever depth."""
    return sorted(str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file())


def test_lines_are_measured_on_a_copy_and_found_by_the_digest(explorable, folder):
    name = digest(explorable.transformer)
    batch = Batch("lines", text="1 2 3\n\n3 2\n", gradients=True, removal=False)
    job = measurement_store.start(explorable, None, batch, name)
    wait(job)
    assert job.done, job.reason
    (kept,) = measurement_store.known(name)
    found = kept.findings
    assert kept.key == job.key
    assert files(folder) == [f"{name}/{job.folder.name}/findings.json"]
    assert found.facts["digest"] == name
    assert found.facts["sentences"] == 2
    assert found.facts["targets"] == "greedy"
    assert "importance" in found.metrics
    assert job.share == 1.0
    assert measurement_store.start(explorable, None, batch, name) == job  # not twice
    assert not job.going


def test_cancelled_it_leaves_nothing_and_the_next_may_start(explorable, folder):
    name = digest(explorable.transformer)
    batch = Batch("lines", size=1024, text="1 2 3\n" * 1000)
    assert measurement_store.under_way(name) is None
    job = measurement_store.start(explorable, None, batch, name)
    assert len(files(folder)) == 3  # the model, the lines and what the process says
    assert measurement_store.under_way(name) == job  # for whoever comes later
    assert measurement_store.under_way("other") is None
    with pytest.raises(MeasuringError, match="Another measurement"):
        measurement_store.start(explorable, None, Batch("task", size=5), name)
    job.cancel()
    wait(job)
    assert job.cancelled
    assert not job.done
    assert measurement_store.known(name) == []
    assert measurement_store.under_way(name) is None
    assert list(folder.iterdir()) == []


def test_what_failed_says_why_and_leaves_nothing(explorable, folder, tmp_path_factory):
    source = tmp_path_factory.mktemp("bad") / "no-model.safetensors"
    source.write_bytes(b"nothing")
    job = measurement_store.start(explorable, source, Batch("lines", text="1 2"), "some")
    wait(job)
    assert not job.done
    assert not job.cancelled
    assert "no-model" in job.reason
    assert list(folder.iterdir()) == []
    assert source.exists()


def test_with_the_server_its_measurement_ends(folder):
    script = """
import subprocess, sys
from pathlib import Path
from explorer.heads import measurement_store
job = measurement_store.Job(Path(sys.argv[1]) / "digest" / "batch")
job.work.mkdir(parents=True)
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
measurement_store._going[job.folder] = child
print(child.pid)
"""
    done = subprocess.run(
        [sys.executable, "-c", script, str(folder)],
        stdout=subprocess.PIPE,
        check=True,
        timeout=PATIENCE,
    )
    with pytest.raises(ProcessLookupError):
        os.kill(int(done.stdout), 0)
    assert list(folder.iterdir()) == []


def test_two_servers_never_share_what_they_work_with(folder, monkeypatch):
    job = measurement_store.Job(folder / "digest" / "batch")
    mine = job.work
    monkeypatch.setattr(os, "getpid", lambda: 1)
    assert job.work != mine


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
        measurement_store.check(explorable, batch, "en")


def test_what_ships_is_found_by_its_digest_alone():
    path = Path(__file__).parents[2] / "checkpoints" / "heads" / "sort.json"
    name = measurement_store.Findings.load(path).facts["digest"]
    assert [kept.findings.facts["model"] for kept in measurement_store.known(name)] == ["sort"]
    assert measurement_store.known("0" * 32) == []
