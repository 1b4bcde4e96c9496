"""The end of the log of a job."""

import re
from pathlib import Path

from explorer.core.errors import ExplorerError
from explorer.core.files import opened, size_of

_BYTES = 4096
_PROGRESS_BAR = re.compile(r"\d+ ?% ?\|")


def log_tail(path: Path, most: int) -> list[str]:
    """The last `most` lines that are not empty, within the last 4,096 bytes of the log.

    A progress bar is one line, in its latest state.
    """
    try:
        with opened(path) as file:
            file.seek(max(0, size_of(file) - _BYTES))
            text = file.read(_BYTES).decode("utf-8", errors="replace")
    except ExplorerError:
        return []
    lines = [line.rstrip("\r").rsplit("\r", 1)[-1] for line in text.split("\n")]
    return [line for line in lines if line.strip()][-most:]


def last_message(path: Path) -> str:
    """Last line of a log apart from progress bars, or "" without one."""
    lines = [line.strip() for line in log_tail(path, _BYTES)]
    written = [line for line in lines if not _PROGRESS_BAR.match(line)]
    return written[-1].removeprefix("error: ")[:300] if written else ""
