"""The head reports of a model, found by its digest: those that ship beside the checkpoints, and
those measured on this machine, see `report_files`.
"""

from dataclasses import dataclass

from explorer.core import folders
from explorer.core.errors import ExplorerError
from explorer.heads.reports.head_report import HeadReport
from explorer.heads.reports.report_files import (
    measured_folder,
    modified,
    newest_first,
    read_report,
    report_key,
)


@dataclass(frozen=True, slots=True)
class StoredReport:
    """A report, and a key: two batches may have the same name and size.

    key: made of the file's path and modification time.
    written: seconds since 1970.
    """

    report: HeadReport
    key: str
    written: float


def stored_reports(digest: str) -> list[StoredReport]:
    """All reports on the model with this digest: shipped ones first, then the newest first."""
    paths = sorted(folders.shipped_reports().glob("*.json"))
    paths += newest_first(measured_folder(digest))
    stored = []
    for path in paths:
        report = read_report(HeadReport.load, path)
        if isinstance(report, HeadReport) and report.facts.get("digest") == digest:
            stored.append(StoredReport(report, report_key(path), modified(path) / 1e9))
    return stored


def old_reports(digest: str) -> int:
    """Number of reports on the model with this digest, measured on this machine, that are not shown
    because they have an older version."""
    paths = newest_first(measured_folder(digest))
    read = [read_report(HeadReport.load, path) for path in paths]
    return sum(isinstance(one, ExplorerError) and one.key == "old_head_report" for one in read)
