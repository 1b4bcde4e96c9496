"""What is remembered of the measurements that this visitor started, on all sections of Heads."""

from dataclasses import dataclass

from explorer.app.state import session
from explorer.jobs.job_queue import Job, QueuedJob


@dataclass(frozen=True, slots=True)
class OwnJobs:
    """started: by this visitor, in their order, until their end was noticed."""

    started: tuple[QueuedJob, ...] = ()


def own() -> tuple[QueuedJob, ...]:
    """What this visitor started, in its order, until its end was noticed."""
    return session.load(OwnJobs).started


def follow(started: QueuedJob) -> None:
    """Note that this visitor started a job, now the newest."""
    forget(started.job)
    session.save(OwnJobs((*own(), started)))


def forget(job: Job) -> None:
    """Note that nothing more is to be told of a job."""
    session.save(OwnJobs(tuple(one for one in own() if one.job != job)))


def cancel(job: Job) -> None:
    """Cancel a job, whoever started it; of one's own, nothing more is told."""
    forget(job)
    job.cancel()
