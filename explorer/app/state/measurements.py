"""State of the measurements in all sections of Heads: those that this visitor started, the reports
on screen, and the uploaded files to measure on."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from explorer.app.state import session
from explorer.heads.reports.report_files import ReportKind
from explorer.jobs.measurement import Measurement, QueuedMeasurement


@dataclass(frozen=True, slots=True)
class EvaluationText:
    """An uploaded file of sentence pairs to measure on."""

    name: str = ""
    text: str = ""


@dataclass(frozen=True, slots=True)
class Measurements:
    """started: by this visitor, in order, until their end was noticed.
    shown: key of the report on screen by kind; without one, the newest or first.
    pairs: sentence pairs uploaded last; empty before.
    begun: how many this visitor has started.
    """

    started: tuple[QueuedMeasurement, ...] = ()
    shown: Mapping[ReportKind, str] = field(default_factory=dict)
    pairs: EvaluationText = EvaluationText()
    begun: int = 0


def current() -> Measurements:
    """The visitor's measurements, reports and files."""
    return session.load(Measurements)


def follow(started: QueuedMeasurement) -> None:
    """Note a job that this visitor started, now the newest."""
    forget(started.job)
    now = current()
    session.save(replace(now, started=(*now.started, started), begun=now.begun + 1))


def forget(job: Measurement) -> None:
    """Note that a job needs no further report."""
    left = tuple(one for one in current().started if one.job != job)
    session.save(replace(current(), started=left))


def cancel(job: Measurement) -> None:
    """Cancel a job, whoever started it. For the visitor's own job, nothing more is reported."""
    forget(job)
    job.cancel()


def show_report(kind: ReportKind, key: str) -> None:
    """Show the report with this key."""
    session.save(replace(current(), shown={**current().shown, kind: key}))


def show_result(job: Measurement) -> None:
    """Show the report of a job."""
    show_report(job.kind, job.report_key)


def set_pairs(pairs: EvaluationText) -> None:
    """Keep these sentence pairs for the next measurement."""
    session.save(replace(current(), pairs=pairs))
