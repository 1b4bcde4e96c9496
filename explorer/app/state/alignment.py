"""What is remembered of the alignment section of Heads: the uploaded file, and the report on
screen."""

from dataclasses import dataclass, replace
from pathlib import Path

from explorer.app.state import session
from explorer.heads.alignment_jobs import REPORT_FILE, GoldTable
from explorer.heads.job_queue import Job


@dataclass(frozen=True, slots=True)
class AlignmentState:
    """gold: uploaded last. job: folder of what this visitor started last. report: key of the one
    on screen; None = the newest."""

    gold: GoldTable | None = None
    job: Path | None = None
    report: str | None = None


def gold() -> GoldTable | None:
    """The file that this visitor uploaded last."""
    return session.load(AlignmentState).gold


def set_gold(gold: GoldTable) -> None:
    """Compare with these links when asked to."""
    session.save(replace(session.load(AlignmentState), gold=gold))


def job() -> Job | None:
    """What this visitor started last, until its end was noticed."""
    folder = session.load(AlignmentState).job
    return Job(folder, REPORT_FILE) if folder is not None else None


def follow_job(started: Job | None) -> None:
    """Show how far a job is; None = no longer."""
    folder = started.folder if started else None
    session.save(replace(session.load(AlignmentState), job=folder))


def report_key() -> str | None:
    """The key of the report on screen; None = the newest."""
    return session.load(AlignmentState).report


def show_report(key: str) -> None:
    """Show the report with this key."""
    session.save(replace(session.load(AlignmentState), report=key))
