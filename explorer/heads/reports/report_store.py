"""The head reports of a model, found by its digest: those that ship beside the checkpoints, and
those measured on this machine, see `report_files`.
"""

from typing import TypeAlias

from explorer.core import folders
from explorer.core.errors import ExplorerError
from explorer.heads.reports.head_report import HeadReport
from explorer.heads.reports.report_files import (
    Stored,
    may_name,
    measured_folder,
    newest_first,
    read_report,
    stored,
)

StoredReport: TypeAlias = Stored[HeadReport]


def stored_reports(digest: str) -> list[StoredReport]:
    """All reports on the model with this digest: shipped ones first, then the newest first."""
    shipped = sorted(folders.shipped_reports().glob("*.json"))
    named = [path for path in shipped if may_name(path, digest)]
    found = stored(HeadReport.load, [*named, *newest_first(measured_folder(digest))])
    return [one for one in found if one.report.facts.get("digest") == digest]


def old_reports(digest: str) -> int:
    """Number of reports on the model with this digest, measured on this machine, that are not shown
    because they have an older version."""
    paths = newest_first(measured_folder(digest))
    read = [read_report(HeadReport.load, path) for path in paths]
    return sum(isinstance(one, ExplorerError) and one.key == "old_head_report" for one in read)
