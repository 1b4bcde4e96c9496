"""A measurement: a job whose result is a report on the heads of a model.

Its process runs a command of `python -m explorer` on a checkpoint file. It works in a folder below
that of the reports, `.jobs/DIGEST-BATCH`, and at its end moves its report to the place where
`report_store` and similar modules find it. So a measurement of a model in a file outlives the
server; one of uploaded weights, which are written into the folder, ends with it.

    job.json    the measurement and its sentences; see `QueuedMeasurement`
    progress    the share done
    work/       the uploaded weights, the sentences, and the report until it is complete

A failed or cancelled measurement leaves its status and its log for a day, a finished one nothing.
"""

import math
import os
import shutil
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Self

from explorer.core import folders
from explorer.core.errors import ExplorerError, MeasurementError, RunError
from explorer.core.files import writing
from explorer.core.memory import half_of_memory
from explorer.heads.reports.report_files import (
    REPORT_FILES,
    ReportKind,
    delete_oldest,
    measured_folder,
    modified,
    report_key,
)
from explorer.jobs.folder import JobFolder
from explorer.jobs.heartbeat import Heartbeat, carried_out, end_process
from explorer.jobs.lock import is_locked
from explorer.jobs.log import last_message
from explorer.jobs.process import launch
from explorer.jobs.queue import in_order, turn
from explorer.jobs.status import HEARTBEAT_TIMEOUT, START_TIMEOUT, Status

Command = Callable[[Path, Path, Path], Sequence[str]]
"""Work folder, checkpoint and report file → the arguments of `python -m explorer`; it may write
files into the folder."""

MOST_WAITING = 8
"""Most measurements in the queue behind the running one."""

MOST_SECONDS = 3600.0
"""Time limit: a longer measurement is ended."""

DEVICE = "cpu0"
"""Device of all measurements. Its lock is in the folder of the measurements, the lock for trainings
in the folder of the runs, so neither waits for the other."""

_KEPT = 24 * 3600.0  # seconds for which status and log of an ended measurement are kept
_submitting = threading.Lock()


@dataclass(frozen=True)
class Measurement(JobFolder):
    """A measurement that waits, runs or has ended.

    kind, digest, batch: of its report; batch is the name of a folder.
    """

    kind: ReportKind
    digest: str
    batch: str

    @classmethod
    def of(cls, kind: ReportKind, digest: str, batch: str) -> Self:
        """The measurement that makes this report; it need not exist."""
        name = f"{measured_folder(digest, kind).name}-{batch}"
        return cls(folders.reports() / ".jobs" / name, kind, digest, batch)

    @classmethod
    def at(cls, folder: Path) -> Self:
        """The measurement in a folder. Raises `RunError` if it cannot be read."""
        data = JobFolder(folder).description
        if data.get("kind") not in [*REPORT_FILES]:
            raise RunError("damaged_run", name=folder.name, file=cls.DESCRIPTION)
        return cls(folder, data["kind"], str(data.get("digest")), str(data.get("batch")))

    def lane(self) -> "Iterator[Measurement]":
        return _all(self.folder.parent)

    def status(self) -> Status:
        """The status, as of every job, with one exception.

        A job with a dead process counts as active until the server that started it has recorded
        the reason, or its heartbeat is old.
        """
        status = super().status()
        recent = time.time() - status.heartbeat < HEARTBEAT_TIMEOUT
        return self.written_status() if status.state == "interrupted" and recent else status

    @property
    def done(self) -> bool:
        return self.report.exists()

    @property
    def cancelled(self) -> bool:
        return self.status().state == "stopped"

    @property
    def progress_path(self) -> Path:
        return self.folder / "progress"

    @property
    def progress(self) -> float:
        """The share done, 0 to 1."""
        if self.done:
            return 1.0
        try:
            share = float(self.progress_path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return 0.0
        return min(max(share, 0.0), 1.0)

    @property
    def work_folder(self) -> Path:
        """Folder of the files that the process reads and writes until it ends."""
        return self.folder / "work"

    @property
    def report_folder(self) -> Path:
        # Not `folders.reports()`: it depends on the current folder of the process.
        reports = self.folder.parents[1]
        return reports / measured_folder(self.digest, self.kind).name / self.batch

    @property
    def report(self) -> Path:
        """The file of the finished report."""
        return self.report_folder / REPORT_FILES[self.kind]

    @property
    def report_key(self) -> str:
        """The key of the finished report; see `Stored`."""
        return report_key(self.report)

    @property
    def unfinished(self) -> Path:
        """The file of the report until it is complete."""
        return self.work_folder / "making.json"

    @property
    def failure(self) -> str | ExplorerError:
        """Reason of the failure: an error, or the last line that the process wrote; "" if it did
        not fail."""
        status = self.status()
        if status.state == "interrupted":
            return MeasurementError("measure_killed", signal="?")
        return status.failure or (last_message(self.log_path) if status.state == "failed" else "")

    def cancel(self) -> None:
        """Request its end; its results are lost."""
        with suppress(ExplorerError):  # it has ended
            self.request_stop()

    def store_report(self) -> None:
        """Move the report to the report folder, and delete the oldest ones. Raises `FileError`."""
        with writing(self.report):
            self.report_folder.mkdir(parents=True, exist_ok=True)
            self.unfinished.replace(self.report)
        delete_oldest(self.report_folder.parent, self.report.name)

    def clear(self) -> None:
        """Delete the files that are not needed after its end: all if it is done, else the work
        folder."""
        done = self.written_status().state == "done"
        shutil.rmtree(self.folder if done else self.work_folder, ignore_errors=True)
        for folder in (self.report_folder, self.report_folder.parent):
            with suppress(OSError):  # where it holds a report
                folder.rmdir()

    def note_end(self, status: Status, code: int) -> None:
        error: tuple[str, dict[str, Any]] | None = None
        if code < 0:
            names = {number.value: number.name for number in signal.Signals}
            error = "heads.measure_killed", {"signal": names.get(-code, str(-code))}
        elif not last_message(self.log_path):
            error = "heads.measure_silent", {"code": str(code)}
        with suppress(ExplorerError):
            self.write_status(Status("failed", 0, time.time(), status.pid, error))
        self.clear()


@dataclass(frozen=True, slots=True)
class MeasuredSentences:
    """The sentences of a measurement, for the list of all measurements.

    name: of the evaluation batch. seed: of a task's generator, None for a file.
    """

    name: str
    count: int
    seed: int | None = None


@dataclass(frozen=True, slots=True)
class QueuedMeasurement:
    """A waiting or running measurement, for the list of all. name: of its model."""

    job: Measurement
    name: str
    sentences: MeasuredSentences


def queued_measurements() -> list[QueuedMeasurement]:
    """All running and waiting measurements in their order, whichever server started them."""
    found = []
    for job in in_order(_all(folders.reports() / ".jobs")):
        with suppress(RunError, KeyError, TypeError):  # it has ended by now
            data = job.description
            sentences = MeasuredSentences(**data["sentences"])
            found.append(QueuedMeasurement(job, str(data["name"]), sentences))
    return found


def submit(queued: QueuedMeasurement, checkpoint: Path | bytes, command: Command) -> None:
    """Put a measurement at the end of the queue, unless it is in the queue or done.

    checkpoint: its file; or its contents, which are written to a file named after the model.

    Raises `MeasurementError` when the queue is full, and when nothing can be written.
    """
    job = queued.job
    with _submitting:
        if job.active or job.done:
            return
        if len(queued_measurements()) > MOST_WAITING:
            raise MeasurementError("queue_full", count=MOST_WAITING)
        delete_abandoned()
        try:
            with writing(job.folder):
                _start(queued, checkpoint, command)
        except ExplorerError as error:
            shutil.rmtree(job.folder, ignore_errors=True)
            raise MeasurementError("measure_failed", reason=error) from error


def _start(queued: QueuedMeasurement, checkpoint: Path | bytes, command: Command) -> None:
    """Write all files of the measurement and launch its process. Raises `OSError`, `ExplorerError`.

    A person may delete the files before it runs.
    """
    job = queued.job
    described = {
        "kind": job.kind,
        "digest": job.digest,
        "batch": job.batch,
        "name": queued.name,
        "sentences": asdict(queued.sentences),
    }
    job.create(described)
    job.work_folder.mkdir()
    job.unfinished.parent.mkdir(parents=True, exist_ok=True)
    uploaded = isinstance(checkpoint, bytes)
    if isinstance(checkpoint, bytes):
        path = job.work_folder / f"{queued.name}.safetensors"
        path.write_bytes(checkpoint)
        checkpoint = path
    arguments = [*command(job.work_folder, checkpoint.resolve(), job.unfinished)]
    launch(
        job,
        [*process_command(job, arguments), *["--end-with-parent"] * uploaded],
        {**os.environ, "OMP_NUM_THREADS": "1"},
        ends_with_this=uploaded,
    )


def process_command(job: Measurement, arguments: Sequence[str]) -> list[str]:
    """The command of the process. arguments: of `python -m explorer`."""
    command = [sys.executable, "-m", "explorer", *arguments, "--job", str(job.folder)]
    command.append("--background")
    if most := half_of_memory():
        command += ["--most-memory", str(most)]
    return command


def carry_out(job: Measurement, measure: Callable[[], int]) -> int:
    """Wait for the measurement's turn, measure, and store the report; returns the exit status.

    Runs in the process of the measurement. A stop request or the time limit ends this process.
    """
    begun = math.inf

    def watch(heartbeat: Heartbeat) -> None:
        late = time.monotonic() - begun > MOST_SECONDS
        if late or job.stop_requested() or job.is_deleted:
            minutes = f"{MOST_SECONDS / 60:.0f}"
            error = MeasurementError("measure_late", minutes=minutes) if late else None
            end_process(heartbeat, job.clear, error)

    with carried_out(job, watch) as heartbeat:
        try:
            with turn(job, heartbeat, [DEVICE]) as reserved:
                if not reserved:
                    heartbeat.update("stopped", 0)
                    return 1
                begun = time.monotonic()
                heartbeat.update("running", 0)
                status = measure()
                job.store_report()
                heartbeat.update("done", 0)
                return status
        finally:
            job.clear()


def delete_abandoned() -> None:
    """Delete the folders of measurements whose process is gone, or that ended long ago."""
    kept = {"stopped": _KEPT, "failed": _KEPT, "new": START_TIMEOUT}
    for path in (folders.reports() / ".jobs").glob("*/"):
        job, age = JobFolder(path), time.time() - modified(path) / 1e9
        if not job.active and age > kept.get(job.status().state, 0.0) and not is_locked(path):
            shutil.rmtree(path, ignore_errors=True)


def _all(root: Path) -> Iterator[Measurement]:
    """All readable measurements in the folder of measurements."""
    for path in root.glob(f"*/{Measurement.DESCRIPTION}"):
        with suppress(RunError):  # deleted by now, or damaged
            job = Measurement.at(path.parent)
            _ = job.created  # cached: its order is asked for when it may have ended
            yield job
