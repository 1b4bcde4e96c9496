"""The measurements that this visitor started, in all sections of Heads."""

from dataclasses import dataclass

from explorer.app.state import session
from explorer.jobs.measurement import Measurement, QueuedMeasurement


@dataclass(frozen=True, slots=True)
class OwnJobs:
    """started: by this visitor, in order, until their end was noticed."""

    started: tuple[QueuedMeasurement, ...] = ()


def own() -> tuple[QueuedMeasurement, ...]:
    """The jobs this visitor started, in order, until their end was noticed."""
    return session.load(OwnJobs).started


def follow(started: QueuedMeasurement) -> None:
    """Note a job that this visitor started, now the newest."""
    forget(started.job)
    session.save(OwnJobs((*own(), started)))


def forget(job: Measurement) -> None:
    """Note that a job needs no further report."""
    session.save(OwnJobs(tuple(one for one in own() if one.job != job)))


def cancel(job: Measurement) -> None:
    """Cancel a job, whoever started it. For the visitor's own job, nothing more is reported."""
    forget(job)
    job.cancel()
