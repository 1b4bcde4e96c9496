"""Processes that measure pruning curves, and where their reports are stored:
`DIGEST-pruning/SENTENCES/pruning.json`, beside the head reports. Those of the models that ship are
beside the checkpoints.

They wait in one queue with the measurements of heads, see `job_queue`. One that was cancelled, or
ended with its server, is gone on with by the next on the same sentences.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache, partial
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from explorer.core import folders
from explorer.core.errors import ExplorerError, PruningError
from explorer.core.files import log_skipped
from explorer.core.interventions import refuse_weights_only
from explorer.heads.measurement_store import (
    MOST_STORED,
    measured_folder,
    modified,
    newest_first,
)
from explorer.heads.pruning_report import ORDERS, PruningReport
from explorer.jobs import measurement_jobs
from explorer.jobs.job_queue import Job, QueuedJob, queued_jobs, submit
from explorer.jobs.measurement_jobs import Sentences

if TYPE_CHECKING:
    from explorer.model.measurable import MeasurableModel

REPORT_FILE = "pruning.json"

_SHIPPED = "shipped"


@dataclass(frozen=True, slots=True)
class PruningSettings:
    """Which sentences to measure on, called what ("" = yours), and the orders of removal."""

    sentences: Sentences
    orders: tuple[str, ...]
    name: str = ""


@dataclass(frozen=True, slots=True)
class StoredPruning:
    """Curves, complete or not.

    job: that measures them; None of those that ship.
    """

    report: PruningReport
    job: Job | None

    @property
    def key(self) -> str:
        """By which a visitor's choice is remembered."""
        return _SHIPPED if self.job is None else self.job.folder.name

    @property
    def growing(self) -> bool:
        """Whether their job waits or runs."""
        return self.job is not None and self.job.active

    def now(self) -> PruningReport:
        """The report as it is by now."""
        return (self.job and _newest(self.job)) or self.report


def check(model: "MeasurableModel", settings: PruningSettings, language: str) -> None:
    """Raise `ExplorerError` on settings that the process would refuse."""
    if not settings.orders:
        raise PruningError("no_orders")
    measurement_jobs.check(model, settings.sentences, language)
    refuse_weights_only(model.facts)
    if "contribution" in settings.orders:
        model.output_weights()  # raises where a family of the library has none


def start(checkpoint: Path | bytes, name: str, settings: PruningSettings, digest: str) -> QueuedJob:
    """Begin to measure, or wait to; or return the job that does so or has measured the same.

    Curves that were measured on these sentences are kept. `checkpoint`, `name` and errors as in
    `measurement_jobs.start`.
    """
    described = repr((sorted(asdict(settings.sentences).items()), settings.name))
    folder = _folder(digest) / sha256(described.encode()).hexdigest()[:16]
    job = pruning_job(folder)
    if not job.active:
        settings = _going_on(job, settings)
    _delete_unfinished(folder)
    queued = QueuedJob(job, "pruning", name, settings.sentences.named(settings.name))
    submit(queued, checkpoint, partial(_command, settings))
    return queued


def has_job(digest: str) -> bool:
    """Whether a job for curves of the model with this digest waits or runs."""
    return any(queued.job.folder.parent == _folder(digest) for queued in queued_jobs())


def stored_prunings(digest: str) -> list[StoredPruning]:
    """All curves of the model with this digest, the newest first, unfinished ones, too; those that
    ship come last."""
    jobs = {pruning_job(path.parent): modified(path) for path in _files(_folder(digest))}
    found = []
    for job in sorted(jobs, key=jobs.__getitem__, reverse=True):
        report = _newest(job)
        if report is not None:
            found.append(StoredPruning(report, job))
    for path in sorted(folders.shipped_prunings().glob("*.json")):
        report = _read(path, modified(path))
        if report is not None and report.facts["digest"] == digest:
            found.append(StoredPruning(report, None))
    return found


def pruning_job(folder: Path) -> Job:
    """The job whose report is in this folder."""
    return Job(folder, REPORT_FILE, resumes=True)


def _going_on(job: Job, settings: PruningSettings) -> PruningSettings:
    """Make ready what was measured: a report that lacks an order becomes an unfinished one, whose
    orders are measured as well; an unfinished one that cannot be read is deleted."""
    measured = _newest(job)
    if measured is None:
        job.unfinished.unlink(missing_ok=True)
        return settings
    known = tuple(curve.order for curve in measured.curves)
    orders = tuple(order for order in ORDERS if order in (*known, *settings.orders))
    if job.done and set(orders) > set(known):
        job.report.replace(job.unfinished)
    return PruningSettings(settings.sentences, orders, settings.name)


def _newest(job: Job) -> PruningReport | None:
    """What a job has measured; None where nothing can be read."""
    for path in (job.unfinished, job.report):
        if (report := _read(path, modified(path))) is not None:
            return report
    return None


def _delete_unfinished(kept: Path) -> None:
    """Delete all but the newest unfinished reports of a model, and not those of a job in the
    queue or that of the folder `kept`."""
    name = pruning_job(kept).unfinished.name
    for path in newest_first(kept.parent, name)[MOST_STORED:]:
        if path.parent != kept and not pruning_job(path.parent).active:
            path.unlink(missing_ok=True)


def _files(folder: Path) -> list[Path]:
    names = (REPORT_FILE, pruning_job(folder).unfinished.name)
    return [path for name in names for path in newest_first(folder, name)]


def _folder(digest: str) -> Path:
    folder = measured_folder(digest)
    return folder.with_name(f"{folder.name}-pruning")


@lru_cache(maxsize=128)
def _read(path: Path, changed: int) -> PruningReport | None:
    """The curves in a file, cached until it changes; None when the file holds none."""
    if not changed:
        return None
    try:
        return PruningReport.load(path)
    except ExplorerError as error:
        log_skipped(path, error)
        return None


def _command(
    settings: PruningSettings, folder: Path, checkpoint: Path, report: Path
) -> Sequence[str]:
    """The arguments that measure the curves."""
    sentences = settings.sentences.options(folder, settings.name)
    orders = ",".join(settings.orders)
    return ["prune", str(checkpoint), "--orders", orders, "--out", str(report), *sentences]
