"""A measurement: a job whose result is a report on the heads of a model.

Its process runs a command of `python -m explorer` on a checkpoint file. It works in a folder below
that of the reports, `.jobs/DIGEST-BATCH`, and ends by putting its report where `report_store`
and its like find it. So a measurement of a model in a file outlives the server; one of uploaded
weights, which are written into the folder, ends with it.

    job.json    what is measured, and on what; see `QueuedMeasurement`
    progress    the share done
    work/       the uploaded weights, the sentences, and the report until it is complete

One that fails or is cancelled leaves its status and its log for a day, one that is done nothing.
"""

import json
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
from explorer.core.files import write_atomically, writing
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
from explorer.jobs.heartbeat import Heartbeat, carried_out
from explorer.jobs.lock import is_locked, locked
from explorer.jobs.log import last_message
from explorer.jobs.process import launch
from explorer.jobs.queue import in_order, turn
from explorer.jobs.status import HEARTBEAT_TIMEOUT, START_TIMEOUT, Status

UNFINISHED = "unfinished-pruning.json"
"""Pruning curves that a later measurement resumes."""

Command = Callable[[Path, Path, Path], Sequence[str]]
"""Work folder, checkpoint and report file → the arguments of `python -m explorer`; it may write
files into the folder."""

MOST_WAITING = 8
"""Measurements that wait for the one that runs."""

MOST_SECONDS = 3600.0
"""One that takes longer is ended."""

DEVICE = "cpu0"
"""On which all measure. Its lock is in the folder of the measurements, that of trainings in the
folder of the runs, so neither waits for the other."""

_KEPT = 24 * 3600.0  # seconds for which it can be told why one ended
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
        """The measurement that makes this report, whether there is one or not."""
        name = f"{measured_folder(digest, kind).name}-{batch}"
        return cls(folders.reports() / ".jobs" / name, kind, digest, batch)

    @classmethod
    def at(cls, folder: Path) -> Self:
        """The measurement in a folder. Raises `RunError` where it cannot be read."""
        data = JobFolder(folder).description
        if data.get("kind") not in [*REPORT_FILES]:
            raise RunError("damaged_run", name=folder.name, file=cls.DESCRIPTION)
        return cls(folder, data["kind"], str(data.get("digest")), str(data.get("batch")))

    def lane(self) -> "Iterator[Measurement]":
        return _all(self.folder.parent)

    def status(self) -> Status:
        """As of every job, but one whose process is dead counts as active until the server that
        started it has recorded why, or its heartbeat is old."""
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
        """Where the files are that the process reads and writes, until it ends."""
        return self.folder / "work"

    @property
    def report_folder(self) -> Path:
        # Not `folders.reports()`, which is another one in a process with another current folder.
        reports = self.folder.parents[1]
        return reports / measured_folder(self.digest, self.kind).name / self.batch

    @property
    def report(self) -> Path:
        """The file of the finished report."""
        return self.report_folder / REPORT_FILES[self.kind]

    @property
    def report_key(self) -> str:
        """The key of the finished report; see `StoredReport`."""
        return report_key(self.report)

    @property
    def unfinished(self) -> Path:
        """The report until it is complete. Pruning curves grow where a later measurement, which
        resumes this one, finds them."""
        if self.kind == "pruning":
            return self.report_folder / UNFINISHED
        return self.work_folder / "making.json"

    @property
    def failure(self) -> str | ExplorerError:
        """Why it failed: an error, or the last line that the process wrote; "" where it did not
        fail."""
        status = self.status()
        if status.state == "interrupted":
            return MeasurementError("measure_killed", signal="?")
        return status.failure or (last_message(self.log_path) if status.state == "failed" else "")

    def cancel(self) -> None:
        """End it; what it has measured is lost, unless it resumes."""
        with suppress(ExplorerError):  # it has ended
            self.request_stop()

    def store_report(self) -> None:
        """Put the report where it is found. Raises `FileError`."""
        with writing(self.report):
            self.report_folder.mkdir(parents=True, exist_ok=True)
            self.unfinished.replace(self.report)
        delete_oldest(self.report_folder.parent, self.report.name)

    def clear(self) -> None:
        """Delete what nobody needs once it has ended: of a done one all."""
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
    """On which sentences it is measured, for a list of all.

    name: as an evaluation batch is called. seed: of a task's generator, None for a file.
    """

    name: str
    count: int
    seed: int | None = None


@dataclass(frozen=True, slots=True)
class QueuedMeasurement:
    """A measurement that waits or runs, for a list of all. name: of its model."""

    job: Measurement
    name: str
    sentences: MeasuredSentences


def queued_measurements() -> list[QueuedMeasurement]:
    """All that run or wait, whoever started them, in their order."""
    found = []
    for job in in_order(_all(folders.reports() / ".jobs")):
        with suppress(RunError, KeyError, TypeError):  # it has ended by now
            data = job.description
            sentences = MeasuredSentences(**data["sentences"])
            found.append(QueuedMeasurement(job, str(data["name"]), sentences))
    return found


def submit(queued: QueuedMeasurement, checkpoint: Path | bytes, command: Command) -> None:
    """Put a measurement at the end of the queue, unless it is in it or done.

    checkpoint: its file; or its contents, which are written to a file called as the model.

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
    """Write all files of the measurement, which a person may delete before it runs, and launch its
    process. Raises `OSError`, `ExplorerError`."""
    job = queued.job
    if job.folder.exists():
        with locked(job.folder):  # its process may be ending
            shutil.rmtree(job.folder)
    described = {
        "kind": job.kind,
        "digest": job.digest,
        "batch": job.batch,
        "name": queued.name,
        "sentences": asdict(queued.sentences),
        "created": time.time(),
    }
    write_atomically(job.folder / job.DESCRIPTION, json.dumps(described).encode())
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
    """In the process of a measurement: wait for its turn, measure, and store the report; returns
    the exit status. A request to stop ends this process, as does the limit of time."""
    begun = math.inf

    def watch(heartbeat: Heartbeat) -> None:
        late = time.monotonic() - begun > MOST_SECONDS
        if late or job.stop_requested() or job.is_deleted:
            with suppress(ExplorerError):
                if late:
                    minutes = f"{MOST_SECONDS / 60:.0f}"
                    heartbeat.fail(MeasurementError("measure_late", minutes=minutes))
                else:
                    heartbeat.update("stopped", 0)
            job.clear()
            os._exit(1)

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
    """Delete the folders of measurements whose process is gone, and of those that ended long
    ago."""
    kept = {"stopped": _KEPT, "failed": _KEPT, "new": START_TIMEOUT}
    for path in (folders.reports() / ".jobs").glob("*/"):
        job, age = JobFolder(path), time.time() - modified(path) / 1e9
        if not job.active and age > kept.get(job.status().state, 0.0) and not is_locked(path):
            shutil.rmtree(path, ignore_errors=True)


def _all(root: Path) -> Iterator[Measurement]:
    """Those in the folder of measurements that can be read."""
    for path in root.glob(f"*/{Measurement.DESCRIPTION}"):
        with suppress(RunError):  # deleted by now, or damaged
            job = Measurement.at(path.parent)
            _ = job.created  # cached: its order is asked for when it may have ended
            yield job
