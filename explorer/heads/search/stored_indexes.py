"""The files of indexes: those that were built on this machine, and those that ship."""

from dataclasses import dataclass
from pathlib import Path

from explorer.core import folders
from explorer.heads.reports.report_files import (
    REPORT_FILES,
    Stored,
    may_name,
    measured_folder,
    newest_first,
    stored,
)
from explorer.heads.search.attention_index import open_index


@dataclass(frozen=True, slots=True)
class IndexFile:
    """A file that holds an index. name, sentences: of its corpus."""

    path: Path
    name: str
    sentences: int


def stored_indexes(digest: str) -> list[Stored[IndexFile]]:
    """All indexes of the model with this digest: the newest first, by whichever command or job,
    and last the one that ships."""
    built = newest_first(measured_folder(digest, "index"), REPORT_FILES["index"])
    shipped = sorted(folders.shipped_reports().glob("*.index"))
    return stored(_described, [*built, *(path for path in shipped if may_name(path, digest))])


def _described(path: Path) -> IndexFile:
    """Raises `ExplorerError` on a file that holds no index."""
    index = open_index(path)
    return IndexFile(path, index.facts["name"], len(index))
