"""Measurements of pruning curves, and their reports; reports of the models that ship are beside the
checkpoints.

If a measurement is cancelled or its process killed, the next one on the same sentences resumes it.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from explorer.core import folders
from explorer.core.errors import PruningError
from explorer.core.interventions import refuse_weights_only
from explorer.heads.pruning.pruning_report import ORDERS, PruningReport
from explorer.heads.reports.report_files import (
    MOST_STORED,
    REPORT_FILES,
    measured_folder,
    modified,
    newest_first,
    read_report,
    stored,
)
from explorer.jobs import measurement_jobs
from explorer.jobs.measurement import (
    UNFINISHED,
    Measurement,
    QueuedMeasurement,
    queued_measurements,
    submit,
)
from explorer.jobs.measurement_jobs import Sentences

if TYPE_CHECKING:
    from explorer.model.measurable import MeasurableModel

_SHIPPED = "shipped"


@dataclass(frozen=True, slots=True)
class PruningSettings:
    """The sentences to measure on, the orders of removal, and the name of the sentences ("" =
    "your …")."""

    sentences: Sentences
    orders: tuple[str, ...]
    name: str = ""


@dataclass(frozen=True, slots=True)
class StoredPruning:
    """Curves, complete or not.

    job: the measurement that makes them; None for curves that ship.
    """

    report: PruningReport
    job: Measurement | None

    @property
    def key(self) -> str:
        """Key under which a visitor's choice is stored."""
        return _SHIPPED if self.job is None else self.job.batch

    @property
    def growing(self) -> bool:
        """Whether their job waits or runs."""
        return self.job is not None and self.job.active

    def now(self) -> PruningReport:
        """The current report."""
        return (self.job and _newest(self.job)) or self.report


def check(model: "MeasurableModel", settings: PruningSettings, language: str) -> None:
    """Raise `ExplorerError` on settings that the process would refuse."""
    if not settings.orders:
        raise PruningError("no_orders")
    measurement_jobs.check(model, settings.sentences, language)
    refuse_weights_only(model.facts)
    if "contribution" in settings.orders:
        model.output_weights()  # raises where a family of the library has none


def start(
    checkpoint: Path | bytes, name: str, settings: PruningSettings, digest: str
) -> QueuedMeasurement:
    """Start or queue a measurement. If the same one is active or done, return its job instead.

    Curves already measured on these sentences are kept. `checkpoint`, `name` and errors as in
    `measurement_jobs.start`.
    """
    described = repr((sorted(asdict(settings.sentences).items()), settings.name))
    batch = sha256(described.encode()).hexdigest()[:16]
    job = Measurement.of("pruning", digest, batch)
    if not job.active:
        settings = _going_on(job, settings)
    _delete_unfinished(job)
    queued = QueuedMeasurement(job, name, settings.sentences.named(settings.name))
    submit(queued, checkpoint, partial(_command, settings))
    return queued


def has_job(digest: str) -> bool:
    """Whether a job for curves of the model with this digest waits or runs."""
    jobs = [queued.job for queued in queued_measurements()]
    return any((job.kind, job.digest) == ("pruning", digest) for job in jobs)


def stored_prunings(digest: str) -> list[StoredPruning]:
    """All curves of the model with this digest, including unfinished ones.

    The newest first; curves that ship come last.
    """
    jobs = {
        Measurement.of("pruning", digest, path.parent.name): modified(path)
        for name in (REPORT_FILES["pruning"], UNFINISHED)
        for path in newest_first(measured_folder(digest, "pruning"), name)
    }
    newest = sorted(jobs, key=jobs.__getitem__, reverse=True)
    found = [StoredPruning(report, job) for job in newest if (report := _newest(job))]
    shipped = stored(PruningReport.load, sorted(folders.shipped_prunings().glob("*.json")))
    reports = (one.report for one in shipped if one.report.facts["digest"] == digest)
    return [*found, *(StoredPruning(report, None) for report in reports)]


def _going_on(job: Measurement, settings: PruningSettings) -> PruningSettings:
    """Prepare earlier curves for resuming, and return the settings with their orders added.

    A finished report that lacks an order becomes an unfinished one. An unreadable unfinished one
    is deleted.
    """
    measured = _newest(job)
    if measured is None:
        job.unfinished.unlink(missing_ok=True)
        return settings
    known = tuple(curve.order for curve in measured.curves)
    orders = tuple(order for order in ORDERS if order in (*known, *settings.orders))
    if job.done and set(orders) > set(known):
        job.report.replace(job.unfinished)
    return PruningSettings(settings.sentences, orders, settings.name)


def _newest(job: Measurement) -> PruningReport | None:
    """The report of a job, unfinished or finished, or None if neither can be read."""
    reports = (read_report(PruningReport.load, path) for path in (job.unfinished, job.report))
    return next((one for one in reports if isinstance(one, PruningReport)), None)


def _delete_unfinished(kept: Measurement) -> None:
    """Delete the unfinished reports of a model except the `MOST_STORED` newest.

    Never that of `kept`, or one whose job waits or runs.
    """
    for path in newest_first(kept.report_folder.parent, UNFINISHED)[MOST_STORED:]:
        other = Measurement.of("pruning", kept.digest, path.parent.name)
        if other != kept and not other.active:
            path.unlink(missing_ok=True)


def _command(
    settings: PruningSettings, folder: Path, checkpoint: Path, report: Path
) -> Sequence[str]:
    """The arguments that measure the curves."""
    sentences = settings.sentences.options(folder, settings.name)
    orders = ",".join(settings.orders)
    return ["prune", str(checkpoint), "--orders", orders, "--out", str(report), *sentences]
