"""The queue, with processes that sleep or end at once in place of those that measure."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from explorer.core import folders
from explorer.core.errors import MeasurementError
from explorer.jobs import job_queue
from explorer.jobs.job_queue import (
    Job,
    JobSentences,
    QueuedJob,
    queued_jobs,
    submit,
)
from tests.support.short_runs import wait_for, wait_for_job

ROOT = Path(__file__).parents[2]
TIMEOUT = 120  # seconds

SLEEP = "import time; time.sleep(600)"
WRITE = "import pathlib, sys; pathlib.Path(sys.argv[1]).write_text('{}')"
KILLED = f"print('18 % |\\u2588\\u2588 | 00:58', flush=True); {SLEEP}"
SILENT = "import os; os.write(1, b'\\r 18 % |## | 00:58\\n'); raise SystemExit(3)"
SENTENCES = JobSentences("your lines", 2)
FAIL = "print('error: no heads'); raise SystemExit(2)"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where reports go; each process runs the code in its first argument."""

    def launch(folder: Path, arguments: Sequence[str]) -> "subprocess.Popen[bytes]":
        with (folder / "log.txt").open("wb") as log:
            return subprocess.Popen([sys.executable, "-c", *arguments], stdout=log)

    monkeypatch.setenv(folders.REPORTS_VARIABLE, str(tmp_path))
    monkeypatch.setattr(job_queue, "_launch", launch)
    yield tmp_path
    for one in reversed(queued_jobs()):
        one.job.cancel()
    wait_for(lambda: not queued_jobs())


@pytest.fixture
def put(folder: Path) -> Callable[[str, str], Job]:
    """Put a process of this name and code in the queue."""

    def put_in(name: str, code: str) -> Job:
        job = Job(folder / name / "batch")
        queued = QueuedJob(job, "heads", name, SENTENCES)
        submit(queued, b"weights", lambda folder, checkpoint, report: [code, str(report)])
        return job

    return put_in


def test_jobs_run_one_after_another_in_their_order(put, folder):
    first, second, third = put("a", SLEEP), put("b", WRITE), put("c", FAIL)
    wait_for(lambda: first.running)
    assert [one.name for one in queued_jobs()] == ["a", "b", "c"]
    assert second.active
    assert not second.running
    assert put("b", WRITE) == second  # not twice
    assert (second.work_folder / "b.safetensors").read_bytes() == b"weights"
    first.cancel()
    wait_for_job(third)
    assert first.cancelled
    assert second.done
    assert second.progress == 1.0
    assert third.failure == "no heads"
    assert not third.done
    assert [path.name for path in folder.rglob("*") if path.is_file()] == ["findings.json"]


def test_a_job_that_waits_is_cancelled_without_having_begun(put, folder):
    first, second = put("a", SLEEP), put("b", WRITE)
    second.cancel()
    assert second.cancelled
    assert not second.active
    assert not (folder / "b").exists()
    assert [one.name for one in queued_jobs()] == ["a"]
    first.cancel()
    wait_for_job(first)
    again = put("b", WRITE)
    wait_for_job(again)
    assert again.done
    assert not again.cancelled


def test_a_job_that_resumes_keeps_what_it_has_written(folder):
    """A cancelled one, too; the next process is given the same file."""

    def put_in(code: str) -> Job:
        job = Job(folder / "a" / "batch", "curves.json", resumes=True)
        queued = QueuedJob(job, "pruning", "a", SENTENCES)
        submit(queued, b"weights", lambda folder, checkpoint, report: [code, str(report)])
        return job

    job = put_in(f"{WRITE}; {SLEEP}")
    wait_for(job.unfinished.exists)
    assert not job.done
    job.cancel()
    wait_for_job(job)
    assert [path.name for path in folder.rglob("*") if path.is_file()] == ["unfinished-curves.json"]
    grow = "import pathlib, sys; pathlib.Path(sys.argv[1]).open('a').write('!')"
    wait_for_job(put_in(grow))
    assert job.done
    assert job.report.read_text() == "{}!"
    assert not job.unfinished.exists()


def test_a_full_queue_says_so(put):
    for number in range(job_queue.MOST_WAITING + 1):
        put(f"job {number}", SLEEP)
    with pytest.raises(MeasurementError, match="8 measurements wait already"):
        put("another", SLEEP)


def test_a_job_that_takes_too_long_is_ended(put, monkeypatch):
    monkeypatch.setattr(job_queue, "MOST_SECONDS", 0.2)
    job = put("slow", SLEEP)
    wait_for_job(job)
    assert not job.done
    assert "longer than 0 minutes" in str(job.failure)


def test_a_process_that_was_killed_is_said_to_be(put):
    job = put("killed", KILLED)
    wait_for(lambda: job.running)
    process = job_queue._queue[job.folder].process
    assert process is not None
    process.kill()
    wait_for_job(job)
    assert "ended from outside (signal SIGKILL)" in str(job.failure)
    assert job_queue._signal_name(999) == "999"


def test_progress_is_no_reason(put):
    job = put("silent", SILENT)
    wait_for_job(job)
    assert "exit code 3 and gave no reason" in str(job.failure)


def test_a_process_that_cannot_be_started_fails_and_the_next_runs(put, monkeypatch):
    launch, refused = job_queue._launch, []

    def refuse_first(folder: Path, arguments: Sequence[str]) -> "subprocess.Popen[bytes]":
        if not refused:
            refused.append(folder)
            raise OSError(12, "Cannot allocate memory")
        return launch(folder, arguments)

    monkeypatch.setattr(job_queue, "_launch", refuse_first)
    first, second = put("a", WRITE), put("b", WRITE)
    wait_for_job(second)
    assert "Cannot allocate memory" in str(first.failure)
    assert second.done


def test_a_folder_that_cannot_be_written_is_said_at_once(put, folder):
    (folder / "a").write_text("a file")
    with pytest.raises(MeasurementError, match="did not finish"):
        put("a", WRITE)
    assert queued_jobs() == []


def test_jobs_end_with_their_server(folder):
    done = subprocess.run(
        [sys.executable, "-c", _ENDING_SERVER, str(folder), SLEEP],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        check=True,
        timeout=TIMEOUT,
    )
    with pytest.raises(ProcessLookupError):
        os.kill(int(done.stdout), 0)
    assert list(folder.iterdir()) == []


_ENDING_SERVER = """
import subprocess, sys, time
from pathlib import Path
from explorer.jobs import job_queue
from explorer.jobs.job_queue import Job, JobSentences, QueuedJob, submit
job_queue._launch = lambda folder, code: subprocess.Popen([sys.executable, "-c", *code])
jobs = [Job(Path(sys.argv[1]) / name / "batch") for name in "ab"]
for job in jobs:
    queued = QueuedJob(job, "heads", "x", JobSentences("task", 1, 0))
    submit(queued, b"", lambda *paths: [sys.argv[2]])
while not jobs[0].running:
    time.sleep(0.01)
print(job_queue._queue[jobs[0].folder].process.pid)
"""


def test_the_folder_of_a_model_goes_though_another_thread_deleted_that_of_the_batch(folder):
    job = Job(folder / "digest" / "batch")
    job.folder.parent.mkdir()
    job_queue._delete(job)
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
        wait_for(lambda: "measure" in command_line(child))
        job_queue.delete_abandoned()
        assert work.exists()  # its server lives
        server.kill()
    wait_for(lambda: not command_line(child))
    assert work.exists()
    job_queue.delete_abandoned()
    assert list(folder.iterdir()) == []


_SERVER = """
import sys, time
from pathlib import Path
from explorer.jobs import job_queue, measurement_jobs
from explorer.jobs.measurement_jobs import MeasurementSettings
job = measurement_jobs.start(Path(sys.argv[1]), "x", MeasurementSettings(size=1024), "digest").job
while not job.running:
    time.sleep(0.01)
print(job_queue._queue[job.folder].process.pid, flush=True)
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
    job_queue.delete_abandoned()
    assert (old.exists(), new.exists()) == (False, True)
