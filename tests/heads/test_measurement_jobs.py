"""Processes that measure."""

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from explorer.core import folders
from explorer.core.errors import ExplorerError
from explorer.heads import measurement_jobs
from explorer.heads.measurement_jobs import Job, MeasurementError, MeasurementSettings
from explorer.heads.measurement_store import stored_reports
from explorer.model.checkpoint import to_bytes
from tests.support.short_runs import wait_for, wait_for_job

ROOT = Path(__file__).parents[2]
TIMEOUT = 120  # seconds


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(folders.REPORTS_VARIABLE, str(tmp_path))
    return tmp_path


@pytest.fixture
def start(explorable) -> Callable[[MeasurementSettings], Job]:
    """Start to measure the model from its bytes, as for an uploaded one."""

    def started(settings: MeasurementSettings) -> Job:
        name = explorable.digest
        return measurement_jobs.start(to_bytes(explorable.checkpoint), "tiny", settings, name)

    return started


def files(folder: Path) -> list[str]:
    """All files below a folder."""
    return sorted(str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file())


def test_lines_are_measured_and_the_report_is_found_by_the_digest(explorable, start, folder):
    name = explorable.digest
    settings = MeasurementSettings("lines", text="1 2 3\n\n3 2\n", gradients=True, removal=False)
    job = start(settings)
    wait_for_job(job)
    assert job.done, job.failure
    (stored,) = stored_reports(name)
    report = stored.report
    assert stored.key == job.report_key
    assert files(folder) == [f"{name}/{job.folder.name}/findings.json"]
    assert report.facts["digest"] == name
    assert report.facts["sentences"] == 2
    assert report.facts["targets"] == "greedy"
    assert "importance" in report.metrics
    assert job.progress == 1.0
    assert start(settings) == job  # not twice
    assert not job.running


def test_a_cancelled_job_leaves_no_files_and_the_next_may_start(explorable, start, folder):
    name = explorable.digest
    settings = MeasurementSettings("lines", size=1024, text="1 2 3\n" * 1000)
    assert measurement_jobs.running_job(name) is None
    job = start(settings)
    assert len(files(folder)) == 4  # the lock, the model, the lines and the log
    assert measurement_jobs.running_job(name) == job  # for other visitors
    assert measurement_jobs.running_job("other") is None
    with pytest.raises(MeasurementError, match="Another measurement"):
        start(MeasurementSettings("task", size=5))
    job.cancel()
    wait_for_job(job)
    assert job.cancelled
    assert not job.done
    assert stored_reports(name) == []
    assert measurement_jobs.running_job(name) is None
    assert list(folder.iterdir()) == []


def test_a_failed_job_gives_its_reason_and_leaves_no_files(explorable, folder, tmp_path_factory):
    source = tmp_path_factory.mktemp("bad") / "no-model.safetensors"
    source.write_bytes(b"nothing")
    job = measurement_jobs.start(source, "unused", MeasurementSettings("lines", text="1 2"), "some")
    wait_for_job(job)
    assert not job.done
    assert not job.cancelled
    assert "no-model" in job.failure
    assert list(folder.iterdir()) == []
    assert source.exists()


def test_a_job_ends_with_its_server(folder):
    script = """
import subprocess, sys
from pathlib import Path
from explorer.heads import measurement_jobs
job = measurement_jobs.Job(Path(sys.argv[1]) / "digest" / "batch")
job.work_folder.mkdir(parents=True)
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
measurement_jobs._running[job.folder] = child
print(child.pid)
"""
    done = subprocess.run(
        [sys.executable, "-c", script, str(folder)],
        stdout=subprocess.PIPE,
        check=True,
        timeout=TIMEOUT,
    )
    with pytest.raises(ProcessLookupError):
        os.kill(int(done.stdout), 0)
    assert list(folder.iterdir()) == []


def test_the_folder_of_a_model_goes_though_another_thread_deleted_that_of_the_batch(folder):
    job = Job(folder / "digest" / "batch")
    job.folder.parent.mkdir()
    measurement_jobs._clean(job)
    assert list(folder.iterdir()) == []


def test_two_servers_have_separate_work_folders(folder, monkeypatch):
    job = Job(folder / "digest" / "batch")
    mine = job.work_folder
    monkeypatch.setattr(os, "getpid", lambda: 1)
    assert job.work_folder != mine


def test_a_measuring_process_ends_with_a_killed_server_and_its_folder_is_deleted(folder):
    """`kill -9`: the server itself can do nothing."""
    with subprocess.Popen(
        [sys.executable, "-c", _SERVER, str(ROOT / "checkpoints" / "reverse.safetensors")],
        stdout=subprocess.PIPE,
        cwd=ROOT,
    ) as server:
        assert server.stdout is not None
        child = int(server.stdout.readline())
        (work,) = folder.glob("*/*/making-*")
        wait_for(lambda: "heads" in command_line(child))
        measurement_jobs.delete_abandoned()
        assert work.exists()  # its server lives
        server.kill()
    wait_for(lambda: not command_line(child))
    assert work.exists()
    measurement_jobs.delete_abandoned()
    assert list(folder.iterdir()) == []


_SERVER = """
import sys, time
from pathlib import Path
from explorer.heads import measurement_jobs
from explorer.heads.measurement_jobs import MeasurementSettings
job = measurement_jobs.start(Path(sys.argv[1]), "x", MeasurementSettings(size=1024), "digest")
print(measurement_jobs._running[job.folder].pid, flush=True)
time.sleep(600)
"""


def command_line(pid: int) -> str:
    """The command of a process; "" when it has ended."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_text()
    except OSError:
        return ""


def test_folders_without_a_lock_are_deleted_after_a_day(folder):
    old, new = (folder / "digest" / "batch" / f"making-{number}" for number in (1, 2))
    for path in (old, new):
        path.mkdir(parents=True)
    a_day_ago = time.time() - 25 * 3600
    os.utime(old, (a_day_ago, a_day_ago))
    measurement_jobs.delete_abandoned()
    assert (old.exists(), new.exists()) == (False, True)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (MeasurementSettings("lines", text="1 2\n1 x"), "Line 2: .*“x”"),
        (MeasurementSettings("lines", text=" \n"), "no sentence"),
        (MeasurementSettings("pairs", text="1 2\t1 x"), "Line 1: .*“x”"),
        (MeasurementSettings("pairs", text="1 2\n2 1"), "no sentence"),
        (MeasurementSettings("lines", text="1 " * 40), "Line 1: .*at most 11"),
        (MeasurementSettings("lines", text="1\n" * 2000), "At most 1024"),
    ],
)
def test_settings_the_process_would_refuse_are_refused_before(explorable, settings, message):
    with pytest.raises(ExplorerError, match=message):
        measurement_jobs.check(explorable, settings, "en")
