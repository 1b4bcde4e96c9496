"""Processes that measure a model, shared by all visitors: one runs at a time, the others wait.

Each process runs a command of `python -m explorer` on a checkpoint file, and ends with the server.
Its report goes to `measurement_store`, so it stays when the server ends.
"""

import atexit
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from filelock import FileLock, Timeout

from explorer.core import folders
from explorer.core.errors import MeasurementError
from explorer.core.files import reason
from explorer.core.memory import half_of_memory
from explorer.heads.measurement_store import REPORT_FILE, delete_oldest, modified, report_key

JobKind = Literal["heads", "alignment", "pruning"]

MOST_WAITING = 8
"""Jobs that wait for the one that runs."""

MOST_SECONDS = 3600.0
"""A process that takes longer is ended."""

_LOCK = ".lock"
"""In a work folder: held by the server that measures there, freed by the system at its end."""

_MAKING = "making.json"
"""In a work folder: the report of a job that does not resume, until it is complete."""

_ABANDONED = 24 * 3600  # seconds after which a work folder without a lock is deleted
_PROGRESS_BAR = re.compile(r"\d+ ?% ?\|")
_EXIT_TIMEOUT = 5.0  # seconds a terminated process has to exit


@dataclass(frozen=True, slots=True)
class Job:
    """A measurement that waits, runs or has ended, by the folder of its report.

    report_name: of the file that the process writes.
    resumes: whether a later job goes on with what this one has measured when it ends early.
    """

    folder: Path
    report_name: str = REPORT_FILE
    resumes: bool = False

    @property
    def work_folder(self) -> Path:
        """Where this server stores what the process reads and writes, until it ends."""
        return self.folder / f"making-{os.getpid()}"

    @property
    def active(self) -> bool:
        """Whether it waits or runs."""
        with _lock:
            return self.folder in _queue

    @property
    def running(self) -> bool:
        with _lock:
            place = _queue.get(self.folder)
            return place is not None and place.process is not None

    @property
    def done(self) -> bool:
        return self.report.exists()

    @property
    def progress(self) -> float:
        """The share done, 0 to 1."""
        if self.done:
            return 1.0
        try:
            share = float((self.work_folder / "progress").read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return 0.0
        return min(max(share, 0.0), 1.0)

    @property
    def cancelled(self) -> bool:
        return self.folder in _cancelled

    @property
    def report_key(self) -> str:
        """The key of the finished report; see `StoredReport`."""
        return report_key(self.report)

    @property
    def report(self) -> Path:
        """The file of the finished report."""
        return self.folder / self.report_name

    @property
    def unfinished(self) -> Path:
        """The report until it is complete; the process grows it if the job resumes."""
        if self.resumes:
            return self.folder / f"unfinished-{self.report_name}"
        return self.work_folder / _MAKING

    @property
    def failure(self) -> "str | MeasurementError":
        """Why it failed: the last line that the process wrote, or why it wrote none; "" where it
        did not fail."""
        return _failures.get(self.folder, "")

    def cancel(self) -> None:
        """Take it out of the queue or terminate its process; what it has measured is
        lost, unless the job resumes."""
        with _lock:
            place = _queue.get(self.folder)
            if place is None:
                return
            _cancelled.add(self.folder)
            if place.process is not None:
                place.process.terminate()
            else:
                _remove(place)


@dataclass(frozen=True, slots=True)
class JobSentences:
    """On which sentences a job measures, for a list of all.

    name: as an evaluation batch is called. seed: of a task's generator, None for a file.
    """

    name: str
    count: int
    seed: int | None = None


@dataclass(frozen=True, slots=True)
class QueuedJob:
    """A job that waits or runs, for a list of all. name: of its model."""

    job: Job
    kind: JobKind
    name: str
    sentences: JobSentences


@dataclass(slots=True)
class _Place:
    """A job's place in the queue. arguments: of `python -m explorer`."""

    queued: QueuedJob
    arguments: Sequence[str]
    lock: FileLock
    process: "subprocess.Popen[bytes] | None" = None
    ended_late: bool = False


_lock = threading.Lock()
_queue: dict[Path, _Place] = {}
"""By folder, in order; the first one runs."""

_cancelled: set[Path] = set()
_failures: dict[Path, str | MeasurementError] = {}
_works = False
"""Whether a thread carries out what is in the queue."""


def queued_jobs() -> list[QueuedJob]:
    """All jobs that run or wait, whoever started them, in their order."""
    with _lock:
        return [place.queued for place in _queue.values()]


def submit(
    queued: QueuedJob,
    checkpoint: Path | bytes,
    command: Callable[[Path, Path, Path], Sequence[str]],
) -> None:
    """Put a job at the end of the queue, unless it is in it or done.

    checkpoint: its file; or its contents, which are written to a file called as the model.
    command: work folder, checkpoint and report file → the arguments of `python -m explorer`; it
    may write files into the folder.

    Raises `MeasurementError` when the queue is full, and when nothing can be written.
    """
    global _works
    job = queued.job
    with _lock:
        if job.done or job.folder in _queue:
            return
        if len(_queue) > MOST_WAITING:
            raise MeasurementError("queue_full", count=MOST_WAITING)
        _cancelled.discard(job.folder)
        _failures.pop(job.folder, None)
        _delete(job)
        try:
            _queue[job.folder] = _prepared(queued, checkpoint, command)
        except OSError as error:
            _delete(job)
            raise MeasurementError("measure_failed", reason=reason(error)) from error
        if not _works:
            _works = True
            threading.Thread(target=_carry_out, name="measuring", daemon=True).start()


def delete_abandoned() -> None:
    """Delete the work folders of servers that were killed."""
    for path in folders.reports().glob("*/*/making-*"):
        if _is_abandoned(path):
            shutil.rmtree(path, ignore_errors=True)
            _delete_empty(path.parent)


@atexit.register
def end_all() -> None:
    """Terminate the process and empty the queue at the end of the server: no visitor could see or
    cancel them."""
    places = list(_queue.values())  # without the lock: a thread killed at exit may hold it
    for place in reversed(places):  # those that wait before the one that runs
        if place.process is None:
            _cancelled.add(place.queued.job.folder)
            _remove(place)
            continue
        place.process.terminate()
        try:
            place.process.wait(_EXIT_TIMEOUT)
        except subprocess.TimeoutExpired:
            place.process.kill()
        place.lock.release()
        _delete(place.queued.job)


def _prepared(
    queued: QueuedJob,
    checkpoint: Path | bytes,
    command: Callable[[Path, Path, Path], Sequence[str]],
) -> _Place:
    """A place with all files of the job written, which a person may delete before it runs."""
    folder = queued.job.work_folder
    folder.mkdir(parents=True)
    lock = FileLock(folder / _LOCK, thread_local=False)
    lock.acquire(timeout=0)
    if isinstance(checkpoint, bytes):
        path = folder / f"{queued.name}.safetensors"
        path.write_bytes(checkpoint)
        checkpoint = path
    return _Place(queued, command(folder, checkpoint.resolve(), queued.job.unfinished), lock)


def _carry_out() -> None:
    """Run the jobs in the queue, one after another, until there is none."""
    while (place := _next_launched()) is not None:
        assert place.process is not None
        try:
            _store(place, _exit_code(place))
        finally:
            if place.process.stdin is not None:
                place.process.stdin.close()
            with _lock:
                _remove(place)


def _next_launched() -> _Place | None:
    """The first place of the queue, its process started; None when the queue is empty."""
    global _works
    with _lock:
        while _queue:
            place = next(iter(_queue.values()))
            try:
                place.process = _launch(place.queued.job.work_folder, place.arguments)
            except OSError as error:
                _failures[place.queued.job.folder] = reason(error)
                _remove(place)
            else:
                return place
        _works = False
        return None


def _launch(folder: Path, arguments: Sequence[str]) -> "subprocess.Popen[bytes]":
    command = [sys.executable, "-m", "explorer", *arguments]
    command += ["--progress", str(folder / "progress"), "--background", "--end-with-parent"]
    if most := half_of_memory():
        command += ["--most-memory", str(most)]
    with (folder / "log.txt").open("wb") as log:
        return subprocess.Popen(
            command,
            cwd=folders.IMPORT_ROOT,
            env={**os.environ, "OMP_NUM_THREADS": "1", "PYTHONUNBUFFERED": "1"},
            stdin=subprocess.PIPE,  # closed by the system when this process ends
            stdout=log,
            stderr=subprocess.STDOUT,
        )


def _exit_code(place: _Place) -> int:
    """Wait for the process, which is ended after `MOST_SECONDS`."""
    assert place.process is not None
    try:
        return place.process.wait(MOST_SECONDS)
    except subprocess.TimeoutExpired:
        place.ended_late = True
        place.process.kill()
        return place.process.wait()


def _store(place: _Place, code: int) -> None:
    """Store the report of an ended process, or why there is none."""
    job = place.queued.job
    with _lock:
        try:
            if code == 0:
                job.unfinished.replace(job.report)
                delete_oldest(job.folder.parent, job.report_name)
            elif place.ended_late:
                minutes = f"{MOST_SECONDS / 60:.0f}"
                _failures[job.folder] = MeasurementError("measure_late", minutes=minutes)
            elif job.folder not in _cancelled:
                _failures[job.folder] = _failure(code, job.work_folder / "log.txt")
        except OSError as error:
            _failures[job.folder] = reason(error)


def _failure(code: int, log: Path) -> str | MeasurementError:
    """Why a process with this exit code failed. log: what it wrote."""
    if code < 0:
        return MeasurementError("measure_killed", signal=_signal_name(-code))
    return _last_line(log) or MeasurementError("measure_silent", code=code)


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return str(number)


def _last_line(path: Path) -> str:
    """The last line of a log that is not of a progress bar; "" where there is none."""
    try:
        log = path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    written = (line.strip() for line in log.replace("\r", "\n").split("\n"))
    lines = [line for line in written if line and not _PROGRESS_BAR.match(line)]
    return lines[-1].removeprefix("error: ")[:300] if lines else ""


def _remove(place: _Place) -> None:
    """Take a job out of the queue, whose lock is held, and delete its files."""
    _queue.pop(place.queued.job.folder, None)
    place.lock.release()
    _delete(place.queued.job)


def _delete(job: Job) -> None:
    """Delete the work folder, and folders left empty."""
    shutil.rmtree(job.work_folder, ignore_errors=True)
    _delete_empty(job.folder)


def _is_abandoned(work_folder: Path) -> bool:
    """Whether no server measures in this folder, as far as can be found out."""
    if not (work_folder / _LOCK).is_file():
        return modified(work_folder) / 1e9 < time.time() - _ABANDONED
    try:
        with FileLock(work_folder / _LOCK).acquire(timeout=0):
            return True
    except (OSError, Timeout):
        return False


def _delete_empty(folder: Path) -> None:
    """Delete the folder of a batch if it is empty, and then that of its model.

    Another thread that ends with the server may have deleted the first one already.
    """
    for one in (folder, folder.parent):
        with suppress(OSError):
            one.rmdir()
