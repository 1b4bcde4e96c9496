"""The lessons of this machine: those that ship, and those in the folders named at the start."""

from functools import lru_cache
from pathlib import Path

from explorer.core import folders
from explorer.core.files import log_skipped
from explorer.core.lesson import FoundLessons, find_lessons, lesson_files


def lessons() -> FoundLessons:
    """All lessons; a file that was changed is read again."""
    return _found(tuple((path, *_state(path)) for path in lesson_files(folders.lessons())))


def _state(path: Path) -> tuple[int, int]:
    """State of a file that differs after a change: modification time and size."""
    try:
        status = path.stat()
    except OSError:
        return 0, 0
    return status.st_mtime_ns, status.st_size


@lru_cache(maxsize=4)
def _found(files: tuple[tuple[Path, int, int], ...]) -> FoundLessons:
    found = find_lessons(path for path, _, _ in files)
    for broken in found.broken:
        log_skipped(broken.path, broken.problem)
    return found
