"""Where the reports measured on this machine are stored: in folders that outlive the server, by the
digest of their model, `DIGEST/BATCH/findings.json`, and beside it `DIGEST-index`.
"""

import os
import shutil
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Generic, Literal, TypeVar, cast

from explorer.core import folders
from explorer.core.errors import ExplorerError
from explorer.core.files import log_skipped

R = TypeVar("R")

ReportKind = Literal["heads", "index"]

REPORT_FILES: Mapping[ReportKind, str] = {
    "heads": "findings.json",
    "index": "index.safetensors",
}
"""The name of a report in the folder of its batch."""

MOST_STORED = 16
"""Reports of a kind stored for one model; the oldest is deleted first."""


@dataclass(frozen=True, slots=True)
class Stored(Generic[R]):
    """A report, and a key: two batches may have the same name and size.

    key: made of the file's path and modification time.
    written: seconds since 1970.
    """

    report: R
    key: str
    written: float


def measured_folder(digest: str, kind: ReportKind = "heads") -> Path:
    """The folder of the reports measured on this machine, one folder a batch."""
    return folders.reports() / (digest if kind == "heads" else f"{digest}-{kind}")


def report_key(path: Path) -> str:
    """The key of the report in the file at `path`; see `Stored`."""
    return f"{path.parent.name}/{path.name} {modified(path)}"


def modified(path: Path) -> int:
    """Modification time in nanoseconds since 1970; 0 when there is no such file."""
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0


def may_name(path: Path, digest: str) -> bool:
    """Whether a file has to be parsed, which takes long, to know if it is on the model with this
    digest. What is no readable file is left to `stored`, which tells it."""
    try:
        return not path.is_file() or digest.encode() in path.read_bytes()
    except OSError:
        return True


def delete_oldest(folder: Path, report_name: str = REPORT_FILES["heads"]) -> None:
    """Delete all but the `MOST_STORED` newest reports of a model."""
    for path in newest_first(folder, report_name)[MOST_STORED:]:
        shutil.rmtree(path.parent, ignore_errors=True)


def newest_first(folder: Path, report_name: str = REPORT_FILES["heads"]) -> list[Path]:
    """The reports of this name in the folder of a model."""
    return sorted(folder.glob(f"*/{report_name}"), key=modified, reverse=True)


def read_report(load: Callable[[Path], R], path: Path) -> R | ExplorerError:
    """The report in a file, or the error if it holds none; cached until the file changes."""
    return cast(R | ExplorerError, _read(load, path, modified(path)))


def stored(load: Callable[[Path], R], paths: Iterable[Path]) -> list[Stored[R]]:
    """The reports in those of the files that hold one, in their order."""
    read = [(path, read_report(load, path)) for path in paths]
    return [
        Stored(report, report_key(path), modified(path) / 1e9)
        for path, report in read
        if not isinstance(report, ExplorerError)
    ]


@lru_cache(maxsize=512)  # more than a folder has: each page reads all of them in turn
def _read(load: Callable[[Path], object], path: Path, changed: int) -> object:
    try:
        return load(path)
    except ExplorerError as error:
        if os.path.lexists(path):
            log_skipped(path, error)
        return error.alone()
