"""State of the alignment section of Heads: the uploaded file, and the report on screen."""

from dataclasses import dataclass, replace

from explorer.app.state import session
from explorer.jobs.alignment_jobs import GoldTable


@dataclass(frozen=True, slots=True)
class AlignmentState:
    """gold: last uploaded file. report: key of the report on screen; None = the newest."""

    gold: GoldTable | None = None
    report: str | None = None


def gold() -> GoldTable | None:
    """The file this visitor uploaded last."""
    return session.load(AlignmentState).gold


def set_gold(gold: GoldTable) -> None:
    """Keep these links for the next comparison."""
    session.save(replace(session.load(AlignmentState), gold=gold))


def report_key() -> str | None:
    """The key of the report on screen; None = the newest."""
    return session.load(AlignmentState).report


def show_report(key: str) -> None:
    """Show the report with this key."""
    session.save(replace(session.load(AlignmentState), report=key))
