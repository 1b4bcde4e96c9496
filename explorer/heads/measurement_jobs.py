"""Processes that measure the heads of a model, shared by all visitors.

Each process runs the command `python -m explorer heads` on a checkpoint file, and ends with the
server. Its report goes to `measurement_store`, so it stays when the server ends.
"""

import atexit
import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from filelock import FileLock, Timeout

from explorer.core import folders
from explorer.core.errors import EvaluationBatchError, ExplorerError
from explorer.core.files import reason
from explorer.data.task_names import task_of
from explorer.heads.measurement_store import (
    REPORT_FILE,
    delete_oldest,
    measured_folder,
    modified,
    report_key,
)

if TYPE_CHECKING:
    from explorer.model.measurable import MeasurableModel

SourceKind = Literal["task", "lines", "pairs"]
SIDES: tuple[Literal["source", "target"], ...] = ("source", "target")
"""Of a pair of sentences."""

SOURCE_KINDS: tuple[SourceKind, ...] = ("task", "lines", "pairs")

MOST_SENTENCES = 1024
MOST_CHARACTERS = 400_000

REMOVED_ON = 256
"""Sentences on which each head is removed in turn."""

_LOCK = ".lock"
"""In a work folder: held by the server that measures there, freed by the system at its end."""

_MAKING = "making.json"
"""In a work folder: the report, until it is complete."""

_ABANDONED = 24 * 3600  # seconds after which a work folder without a lock is deleted
_EXIT_TIMEOUT = 5.0  # seconds a terminated process has to exit

_lock = threading.Lock()
_running: dict[Path, "subprocess.Popen[bytes]"] = {}
_locks: dict[Path, FileLock] = {}
_cancelled: set[Path] = set()
_failures: dict[Path, str] = {}
"""The last line that each failed process wrote."""


class MeasurementError(ExplorerError):
    """A measurement that cannot be made."""

    section = "heads"


@dataclass(frozen=True, slots=True)
class MeasurementSettings:
    """Which sentences to measure on, and what to measure.

    text: the visitor's lines, or pairs separated by a tab; empty for the task's generator.
    """

    kind: SourceKind = "task"
    size: int = 256
    seed: int = 0
    text: str = ""
    gradients: bool = True
    removal: bool = True


@dataclass(frozen=True, slots=True)
class Job:
    """A measurement, running or ended, by the folder of its report.

    report_name: of the file that the process writes.
    """

    folder: Path
    report_name: str = REPORT_FILE

    @property
    def work_folder(self) -> Path:
        """Where this server stores what the process reads and writes, until it ends."""
        return self.folder / f"making-{os.getpid()}"

    @property
    def running(self) -> bool:
        with _lock:
            return self.folder in _running

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
    def failure(self) -> str:
        """The last line the process wrote before it failed; "" otherwise."""
        return _failures.get(self.folder, "")

    def cancel(self) -> None:
        """Terminate the process; what it has measured so far is lost."""
        with _lock:
            process = _running.get(self.folder)
            if process is not None:
                _cancelled.add(self.folder)
                process.terminate()


def running_job(digest: str) -> Job | None:
    """The running measurement of the model with this digest, whoever started it."""
    return running_in(measured_folder(digest), REPORT_FILE)


def running_in(folder: Path, report_name: str) -> Job | None:
    """The running job whose folder is inside `folder`, whoever started it."""
    with _lock:
        return next((Job(job, report_name) for job in _running if job.parent == folder), None)


def check(model: "MeasurableModel", settings: MeasurementSettings, language: str) -> None:
    """Raise `MeasurementError` or `ExplorerError` on settings that the process would refuse."""
    lines = texts(settings)
    if (
        settings.size > MOST_SENTENCES
        or len(lines) > MOST_SENTENCES
        or len(settings.text) > MOST_CHARACTERS
    ):
        raise MeasurementError(
            "measure_too_large", limit=MOST_SENTENCES, characters=MOST_CHARACTERS
        )
    if settings.kind == "task":
        if task_of(model.facts) is None:
            raise EvaluationBatchError("no_generator")
    else:
        _check_lines(lines, model, language)


def start(checkpoint: Path | bytes, name: str, settings: MeasurementSettings, digest: str) -> Job:
    """Start to measure, or return the job that already measures or has measured the same.

    checkpoint: its file; or its contents, which are written to a file called `name`.
    Raises `MeasurementError` while another measurement is running, and when nothing can be
    written.
    """
    batch = sha256(repr(sorted(asdict(settings).items())).encode()).hexdigest()[:16]
    job = Job(measured_folder(digest) / batch)
    return start_process(job, checkpoint, name, partial(_command, settings))


def start_process(
    job: Job,
    checkpoint: Path | bytes,
    name: str,
    command: Callable[[Path, Path, Path], Sequence[str]],
) -> Job:
    """Start the process of a job unless it is running or done; otherwise as `start`.

    command: work folder, checkpoint and report file → the arguments of `python -m explorer`; it
    may write files into the folder.
    """
    if job.done or job.running:
        return job
    with _lock:
        if _running:
            raise MeasurementError("measure_busy")
        _cancelled.discard(job.folder)
        _failures.pop(job.folder, None)
        _clean(job)
        try:
            job.work_folder.mkdir(parents=True)
            lock = FileLock(job.work_folder / _LOCK, thread_local=False)
            lock.acquire(timeout=0)
            _locks[job.folder] = lock
            if isinstance(checkpoint, bytes):
                path = job.work_folder / f"{name}.safetensors"
                path.write_bytes(checkpoint)
                checkpoint = path
            making = job.work_folder / _MAKING
            _running[job.folder] = _launch(
                job.work_folder, command(job.work_folder, checkpoint.resolve(), making)
            )
        except OSError as error:
            _clean(job)
            raise MeasurementError("measure_failed", reason=reason(error)) from error
    threading.Thread(target=_wait, args=(job,), name="measuring", daemon=True).start()
    return job


def texts(settings: MeasurementSettings) -> list[str]:
    """The non-empty lines; of pairs, those that have a tab."""
    lines = [line for line in settings.text.splitlines() if line.strip()]
    return [line for line in lines if "\t" in line] if settings.kind == "pairs" else lines


def _command(
    settings: MeasurementSettings, folder: Path, checkpoint: Path, report: Path
) -> list[str]:
    """The arguments that measure heads."""
    command = ["heads", str(checkpoint), "--out", str(report)]
    command += ["--sentences", str(settings.size), "--seed", str(settings.seed)]
    if settings.kind != "task":
        given = folder / f"your {settings.kind}"  # becomes the name of the evaluation batch
        given.write_text("\n".join(texts(settings)) + "\n", encoding="utf-8")
        command += ["--pairs" if settings.kind == "pairs" else "--texts", str(given)]
    command += ["--importance"] * settings.gradients
    command += ["--ablation", "--removed-on", str(REMOVED_ON)] if settings.removal else []
    return command


def _launch(folder: Path, arguments: Sequence[str]) -> "subprocess.Popen[bytes]":
    command = [sys.executable, "-m", "explorer", *arguments]
    command += ["--progress", str(folder / "progress"), "--background", "--end-with-parent"]
    with (folder / "log.txt").open("wb") as log:
        return subprocess.Popen(
            command,
            cwd=folders.IMPORT_ROOT,
            env={**os.environ, "OMP_NUM_THREADS": "1", "PYTHONUNBUFFERED": "1"},
            stdin=subprocess.PIPE,  # closed by the system when this process ends
            stdout=log,
            stderr=subprocess.STDOUT,
        )


def _wait(job: Job) -> None:
    """Wait for the process, then store its report and delete everything else it wrote."""
    process = _running[job.folder]
    code = process.wait()
    if process.stdin is not None:
        process.stdin.close()
    with _lock:
        try:
            if code == 0:
                (job.work_folder / _MAKING).replace(job.report)
                delete_oldest(job.folder.parent, job.report_name)
            elif job.folder not in _cancelled:
                _failures[job.folder] = _last_line(job.work_folder / "log.txt")
        except OSError as error:
            _failures[job.folder] = reason(error)
        finally:
            _clean(job)
            del _running[job.folder]


def _last_line(path: Path) -> str:
    try:
        log = path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    lines = [line for line in log.replace("\r", "\n").split("\n") if line.strip()]
    return lines[-1].removeprefix("error: ")[:300] if lines else ""


def _clean(job: Job) -> None:
    """Delete the work folder, and folders left empty."""
    if (lock := _locks.pop(job.folder, None)) is not None:
        lock.release()
    shutil.rmtree(job.work_folder, ignore_errors=True)
    _delete_empty(job.folder)


def delete_abandoned() -> None:
    """Delete the work folders of servers that were killed."""
    for path in folders.reports().glob("*/*/making-*"):
        if _is_abandoned(path):
            shutil.rmtree(path, ignore_errors=True)
            _delete_empty(path.parent)


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


@atexit.register
def end_all() -> None:
    """Terminate all processes at the end of the server: no visitor could see or cancel them."""
    running = dict(_running)  # without the lock: a thread killed at exit may hold it
    for process in running.values():
        process.terminate()
    for folder, process in running.items():
        try:
            process.wait(_EXIT_TIMEOUT)
        except subprocess.TimeoutExpired:
            process.kill()
        _clean(Job(folder))


def _check_lines(lines: Sequence[str], model: "MeasurableModel", language: str) -> None:
    """Raise `MeasurementError`, with the line's number, on one that the model cannot read."""
    if not lines:
        raise EvaluationBatchError("no_sentences")
    for number, line in enumerate(lines, start=1):
        for side, text in zip(SIDES, line.split("\t"), strict=False):
            try:
                model.check_text(text, side)
            except ExplorerError as error:
                facts = {"line": number, "reason": error.in_language(language)}
                raise MeasurementError("bad_line", **facts) from error
