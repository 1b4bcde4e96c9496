"""Where head reports are stored, and how those of a model are found again: by its digest.

Two folders: reports that ship beside the checkpoints, and reports measured on this machine,
`DIGEST/BATCH/findings.json` in a folder of their own. Both outlive the server.
"""

import shutil
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from explorer.core import folders
from explorer.core.errors import ExplorerError
from explorer.core.files import log_skipped
from explorer.heads.head_report import HeadReport

REPORT_FILE = "findings.json"
"""The name of a report in the folder of its batch."""

MOST_STORED = 16
"""Reports stored for one model; the oldest is deleted first."""


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
        changed = modified(path)
        report = _read(path, changed)
        if isinstance(report, HeadReport) and report.facts.get("digest") == digest:
            stored.append(StoredReport(report, report_key(path), changed / 1e9))
    return stored


def old_reports(digest: str) -> int:
    """How many reports on the model with this digest, measured on this machine, are of an older
    version and so not shown."""
    read = [_read(path, modified(path)) for path in newest_first(measured_folder(digest))]
    return sum(isinstance(one, ExplorerError) and one.key == "old_head_report" for one in read)


def measured_folder(digest: str) -> Path:
    """The folder of the reports measured on this machine, one folder a batch."""
    return folders.reports() / digest


def report_key(path: Path) -> str:
    """The key of the report in the file at `path`; see `StoredReport`."""
    return f"{path.parent.name}/{path.name} {modified(path)}"


def modified(path: Path) -> int:
    """Modification time in nanoseconds since 1970; 0 when there is no such file."""
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0


def delete_oldest(folder: Path, report_name: str = REPORT_FILE) -> None:
    """Delete all but the `MOST_STORED` newest reports of a model."""
    for path in newest_first(folder, report_name)[MOST_STORED:]:
        shutil.rmtree(path.parent, ignore_errors=True)


def newest_first(folder: Path, report_name: str = REPORT_FILE) -> list[Path]:
    """The reports of this name in the folder of a model."""
    return sorted(folder.glob(f"*/{report_name}"), key=modified, reverse=True)


@lru_cache(maxsize=512)  # more than a folder has: each page reads all of them in turn
def _read(path: Path, changed: int) -> HeadReport | ExplorerError:
    """The report in a file, cached until it changes; the error when the file holds none."""
    try:
        return HeadReport.load(path)
    except ExplorerError as error:
        log_skipped(path, error)
        return error
