"""What is remembered of the measurements that this visitor started, on all sections of Heads."""

from dataclasses import dataclass

from explorer.app.state import session
from explorer.jobs.measurement import Measurement, QueuedMeasurement


@dataclass(frozen=True, slots=True)
class OwnJobs:
    """started: by this visitor, in their order, until their end was noticed."""

    started: tuple[QueuedMeasurement, ...] = ()


def own() -> tuple[QueuedMeasurement, ...]:
    """What this visitor started, in its order, until its end was noticed."""
    return session.load(OwnJobs).started


def follow(started: QueuedMeasurement) -> None:
    """Note that this visitor started a job, now the newest."""
    forget(started.job)
    session.save(OwnJobs((*own(), started)))


def forget(job: Measurement) -> None:
    """Note that nothing more is to be told of a job."""
    session.save(OwnJobs(tuple(one for one in own() if one.job != job)))


def cancel(job: Measurement) -> None:
    """Cancel a job, whoever started it; of one's own, nothing more is told."""
    forget(job)
    job.cancel()
