"""Who carries a run out: a lock in its folder, which the system frees when its process ends.

A process that hangs or works long without a word still holds it, and one that was killed does
not; so it tells more than any sign of life.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from explorer.core.errors import RunError
from explorer.core.files import writing

_NAME = ".lock"
_PATIENCE = 2.0  # seconds: whoever only asks holds the lock for a moment, too
_ASKING = 0.05  # seconds: so does another process that asks
_POLL = 0.01
_one_asks = threading.Lock()  # the visitors of this process, one after the other


@contextmanager
def owned(folder: Path) -> Iterator[None]:
    """Be the one process that carries out the run in `folder`.

    Raises `RunError` when another one is, and `FileError` where no lock can be had.
    """
    lock = FileLock(folder / _NAME)
    with writing(folder / _NAME):
        try:
            lock.acquire(timeout=_PATIENCE, poll_interval=_POLL)
        except Timeout as error:
            raise RunError("run_busy", name=folder.name) from error
    try:
        yield
    finally:
        lock.release()


def is_owned(folder: Path, *, leaving: bool = False) -> bool:
    """Whether a living process carries out the run in `folder`, as far as can be found out.

    leaving: it has said that it is done; give it the moment it takes to let go.
    """
    if not (folder / _NAME).exists():
        return False
    try:
        patience = _PATIENCE if leaving else _ASKING
        with _one_asks, FileLock(folder / _NAME).acquire(timeout=patience, poll_interval=_POLL):
            return False
    except Timeout:
        return True
    except OSError:
        return False  # not ours to ask: the heartbeat has to tell
