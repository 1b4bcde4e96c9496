"""Measurements, with processes that sleep or end at once in place of those that measure."""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from filelock import FileLock

from explorer.core import folders
from explorer.core.errors import MeasurementError
from explorer.core.i18n import say
from explorer.heads.reports.report_files import ReportKind
from explorer.jobs import measurement, process
from explorer.jobs.measurement import (
    MeasuredSentences,
    Measurement,
    QueuedMeasurement,
    delete_abandoned,
    queued_measurements,
    submit,
)
from explorer.jobs.queue import in_order
from explorer.jobs.status import HEARTBEAT_TIMEOUT, Status
from tests.support.short_runs import wait_for, wait_for_job

ROOT = Path(__file__).parents[2]
MODEL = ROOT / "checkpoints" / "reverse.safetensors"

SLEEP = "import time; time.sleep(600)"
WRITE = "report.write_text('{}')"
KILLED = f"print('18 % |\\u2588\\u2588 | 00:58', flush=True); {SLEEP}"
SILENT = "import os; os.write(1, b'\\r 18 % |## | 00:58\\n'); raise SystemExit(3)"
FAIL = "print('error: no heads'); raise SystemExit(2)"
REFUSE = "from explorer.core.errors import FileError; raise FileError('empty_path')"
LATE = f"from explorer.jobs import measurement; measurement.MOST_SECONDS = 0.2; {SLEEP}"
END_WHEN_STOPPED = """
import threading, time
from explorer.jobs.measurement import Measurement
stopping, clear = threading.Event(), Measurement.clear
def clear_slowly(job):
    if threading.current_thread() is not threading.main_thread():
        stopping.set()
        time.sleep(0.3)
    clear(job)
Measurement.clear = clear_slowly
report.write_text('{}')
stopping.wait()
"""
SENTENCES = MeasuredSentences("your lines", 2)

_PROCESS = """
import sys
from pathlib import Path
from explorer.jobs.measurement import Measurement, carry_out

def measure():
    exec(sys.argv[2], {"report": Path(sys.argv[3])})
    return 0

sys.exit(carry_out(Measurement.at(Path(sys.argv[1])), measure))
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where reports go; all that is measured there ends with the test."""
    monkeypatch.setenv(folders.REPORTS_VARIABLE, str(tmp_path))
    yield tmp_path
    for one in reversed(queued_measurements()):
        one.job.cancel()
    wait_for(lambda: not queued_measurements())


@pytest.fixture
def put(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Measurement]:
    """Put a measurement of a model of this name in the queue, whose process runs this code."""

    def command(job: Measurement, arguments: Sequence[str]) -> list[str]:
        return [sys.executable, "-c", _PROCESS, str(job.folder), *arguments]

    def put_in(name: str, code: str, kind: ReportKind = "heads") -> Measurement:
        job = Measurement.of(kind, name, "batch")
        queued = QueuedMeasurement(job, name, SENTENCES)
        submit(queued, b"weights", lambda work, checkpoint, report: [code, str(report)])
        return job

    monkeypatch.setattr(measurement, "process_command", command)
    return put_in


def names() -> list[str]:
    return [one.name for one in queued_measurements()]


def reports(folder: Path) -> list[str]:
    """The files beside those of measurements."""
    folders = [one for one in folder.iterdir() if one.name != ".jobs"]  # which is cleared meanwhile
    files = (path for one in folders for path in (one, *one.rglob("*")) if path.is_file())
    return sorted(path.relative_to(folder).as_posix() for path in files)


def left(job: Measurement) -> list[str]:
    """The files of a measurement that has ended."""
    return sorted(path.name for path in job.folder.rglob("*") if path.is_file())


def test_they_run_one_after_another_in_their_order(put, folder):
    first, second, third = put("a", SLEEP), put("b", WRITE), put("c", FAIL)
    wait_for(lambda: first.status().state == "running")
    assert names() == ["a", "b", "c"]
    assert [one.sentences for one in queued_measurements()] == [SENTENCES] * 3
    assert second.active
    assert second.status().state != "running"
    assert put("b", WRITE) == second  # not twice
    assert (second.work_folder / "b.safetensors").read_bytes() == b"weights"
    first.cancel()
    wait_for_job(third)
    assert first.cancelled
    assert second.done
    assert second.progress == 1.0
    assert third.failure == "no heads"
    assert not third.done
    assert reports(folder) == ["b/batch/findings.json"]
    assert left(second) == []
    assert left(third) == [".lock", "job.json", "log.txt", "status.json"]
    assert left(first) == [*left(third), "stop"]


def test_one_that_waits_is_cancelled_without_having_begun(put, folder):
    first, second = put("a", SLEEP), put("b", WRITE)
    second.cancel()
    wait_for_job(second)
    assert second.cancelled
    assert not second.work_folder.exists()
    assert names() == ["a"]
    first.cancel()
    wait_for_job(first)
    again = put("b", WRITE)
    wait_for_job(again)
    assert again.done
    assert not again.cancelled
    assert reports(folder) == ["b/batch/findings.json"]


def test_none_waits_for_a_training(put, folder, monkeypatch):
    """Though both are on the same device."""
    runs = folder / "runs"
    monkeypatch.setenv(folders.RUNS_VARIABLE, str(runs))
    runs.mkdir()
    with FileLock(runs / f".{measurement.DEVICE}.lock"):
        job = put("a", WRITE)
        wait_for_job(job)
        assert job.done, job.failure
    with FileLock(job.folder.parent / f".{measurement.DEVICE}.lock"):
        other = put("b", WRITE)
        wait_for(lambda: other.status().pid)  # of another server on this machine
        time.sleep(1.0)
        assert other.active
        assert other.status().state != "running"
    wait_for_job(other)
    assert other.done, other.failure


def test_a_full_queue_says_so(put):
    for number in range(measurement.MOST_WAITING + 1):
        put(f"job {number}", SLEEP)
    with pytest.raises(MeasurementError, match="8 measurements wait already"):
        put("another", SLEEP)


def test_one_that_takes_too_long_is_ended(put):
    job = put("slow", LATE)
    wait_for_job(job)
    assert not job.done
    assert "longer than 0 minutes" in str(job.failure)


def test_a_process_that_was_killed_is_said_to_be(put):
    job = put("killed", KILLED)
    wait_for(lambda: job.status().state == "running")
    os.kill(job.status().pid, signal.SIGKILL)
    wait_for(lambda: job.status().state == "failed")
    assert "ended from outside (signal SIGKILL)" in str(job.failure)
    wait_for(lambda: not job.work_folder.exists())


def test_one_that_is_cancelled_as_it_ends_ends(put):
    job = put("a", END_WHEN_STOPPED)
    wait_for(lambda: job.status().state == "running")
    job.cancel()
    wait_for_job(job)
    assert job.status().state in ("stopped", "done")


def test_until_it_is_recorded_why_a_process_is_dead_it_is_not_told(put):
    job = put("a", FAIL)
    wait_for(lambda: job.status().state == "failed")
    dead = Status("running", 0, time.time(), job.status().pid)
    job.write_status(dead)
    assert job.active
    assert job.failure == ""
    job.write_status(replace(dead, heartbeat=time.time() - HEARTBEAT_TIMEOUT - 1))
    assert not job.active
    assert "ended from outside" in str(job.failure)


def test_progress_is_no_reason(put):
    job = put("silent", SILENT)
    wait_for(lambda: job.status().state == "failed")
    assert "exit code 3 and gave no reason" in str(job.failure)


def test_why_one_failed_is_said_in_the_language_of_the_reader(put):
    job = put("a", REFUSE)
    wait_for_job(job)
    expected = "errors.empty_path"
    assert isinstance(job.failure, Exception)
    for language in ("en", "zh"):
        assert job.failure.in_language(language) == say(expected, language)


def test_an_unexpected_error_is_told_by_its_last_line(put):
    job = put("a", "raise ValueError('no such thing')")
    wait_for(lambda: job.failure == "ValueError: no such thing")
    assert not job.work_folder.exists()


def test_a_process_that_cannot_be_started_is_said_at_once(put, folder, monkeypatch):
    def refuse(*command: object, **options: object) -> None:
        raise OSError(12, "Cannot allocate memory")

    with monkeypatch.context() as broken:
        broken.setattr(process.subprocess, "Popen", refuse)
        with pytest.raises(MeasurementError, match=r"did not finish: .*Cannot allocate memory"):
            put("a", WRITE)
    assert names() == []
    job = put("a", WRITE)
    wait_for_job(job)
    assert job.done


def test_a_folder_that_cannot_be_written_is_said_at_once(put, folder):
    (folder / ".jobs").write_text("a file")
    with pytest.raises(MeasurementError, match="did not finish"):
        put("a", WRITE)
    assert names() == []


def test_a_process_ends_once_its_folder_is_deleted(put):
    job = put("a", SLEEP)
    wait_for(lambda: job.status().state == "running")
    child = job.status().pid
    shutil.rmtree(job.folder)
    wait_for(lambda: not command_line(child))
    assert not job.folder.exists()


def test_one_that_ends_while_all_are_put_in_order_is_no_error(put):
    job = put("a", SLEEP)
    wait_for(lambda: job.status().state == "running")
    child = job.status().pid
    (found,) = job.lane()
    (job.folder / job.DESCRIPTION).unlink()
    assert in_order([found]) == [found]
    assert names() == []
    wait_for(lambda: not command_line(child))


_SERVER = """
import sys, time
from pathlib import Path
from explorer.jobs import measurement_jobs
from explorer.jobs.measurement_jobs import MeasurementSettings
model = Path(sys.argv[1])
checkpoint = model.read_bytes() if sys.argv[2] == "uploaded" else model
job = measurement_jobs.start(checkpoint, "x", MeasurementSettings(size=1024), "digest").job
while job.status().state != "running":
    time.sleep(0.01)
print(job.status().pid, flush=True)
time.sleep(600)
"""


def killed_server(given: str) -> int:
    """The process that measures for a server that was ended by `kill -9`. given: the model, as an
    "uploaded" one or as a "file"."""
    command = [sys.executable, "-c", _SERVER, str(MODEL), given]
    with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=ROOT) as server:
        assert server.stdout is not None
        child = int(server.stdout.readline())
        delete_abandoned()
        assert names() == ["x"]
        server.kill()
    return child


def test_a_measurement_of_uploaded_weights_ends_with_a_killed_server(folder):
    child = killed_server("uploaded")
    wait_for(lambda: not command_line(child))
    delete_abandoned()
    assert not list(folder.rglob("*.safetensors"))
    assert [path.name for path in folder.rglob("*") if path.is_file()] == [".cpu0.lock"]


def test_a_measurement_of_a_file_is_seen_by_the_next_server(folder):
    child = killed_server("file")
    time.sleep(1.2)
    (queued,) = queued_measurements()
    assert queued.job.status().state == "running"
    assert queued.job.status().pid == child
    assert queued.sentences == MeasuredSentences("task", 1024, 0)
    queued.job.cancel()
    wait_for(lambda: not command_line(child))
    assert queued.job.cancelled


def test_the_report_of_a_server_that_was_killed_is_found(folder):
    code = _SERVER.replace("size=1024", "size=8, removal=False, gradients=False")
    code = code.replace("""!= "running":""", """== "waiting":""")
    command = [sys.executable, "-c", code, str(MODEL), "file"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=ROOT) as server:
        assert server.stdout is not None
        server.stdout.readline()
        server.kill()
    wait_for(lambda: not names(), 120)
    (report,) = reports(folder)
    assert report.startswith("digest/")
    assert report.endswith("/findings.json")


def command_line(pid: int) -> str:
    """The command of a process; "" when it has ended."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_text()
    except OSError:
        return ""


def test_what_ended_is_deleted_after_a_day_and_what_was_killed_at_once(put, folder):
    ended, killed = put("a", FAIL), folder / ".jobs" / "killed-batch"
    wait_for(lambda: ended.status().state == "failed")
    shutil.copytree(ended.folder, killed)
    status = (killed / "status.json").read_text()
    (killed / "status.json").write_text(status.replace("failed", "running"))
    (killed / "work").mkdir()
    delete_abandoned()
    assert (ended.folder.exists(), killed.exists()) == (True, False)
    a_day_ago = time.time() - 25 * 3600
    os.utime(ended.folder, (a_day_ago, a_day_ago))
    delete_abandoned()
    assert not ended.folder.exists()
