"""What is remembered of the pruning section of Heads: the curves on screen, and the job that was
started."""

from dataclasses import dataclass, replace
from pathlib import Path

from explorer.app.state import session
from explorer.heads.job_queue import Job
from explorer.heads.pruning_jobs import pruning_job


@dataclass(frozen=True, slots=True)
class PruningState:
    """job: folder of what this visitor started last. shown: key of the curves on screen; None = the
    newest."""

    job: Path | None = None
    shown: str | None = None


def job() -> Job | None:
    """What this visitor started last, until its end was noticed."""
    folder = session.load(PruningState).job
    return pruning_job(folder) if folder is not None else None


def follow_job(started: Job | None) -> None:
    """Show how far a job is, and its curves; None = no longer."""
    state = session.load(PruningState)
    if started is None:
        session.save(replace(state, job=None))
    else:
        session.save(PruningState(started.folder, started.folder.name))


def shown_key() -> str | None:
    """The key of the curves on screen; None = the newest."""
    return session.load(PruningState).shown


def show(key: str) -> None:
    """Show the curves with this key."""
    session.save(replace(session.load(PruningState), shown=key))
