"""The lock of a run: held by the process that carries the run out, freed by the system at its end.

A process that hangs still holds it and one that was killed does not, so it is more reliable
than the heartbeat.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from explorer.core.errors import RunError
from explorer.core.files import unwritable

_NAME = ".lock"
_ACQUIRE_TIMEOUT = 2.0  # seconds: a process that only tests the lock also holds it briefly
_TEST_TIMEOUT = 0.05  # seconds: the same
_POLL = 0.01
_one_test = threading.Lock()  # threads of this process test one after the other


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold the lock of the run in `folder`.

    Raises `RunError` when another process holds it, `FileError` when it cannot be created.
    """
    lock = FileLock(folder / _NAME)
    try:
        lock.acquire(timeout=_ACQUIRE_TIMEOUT, poll_interval=_POLL)
    except Timeout as error:
        raise RunError("run_busy", name=folder.name) from error
    except OSError as error:
        raise unwritable(folder / _NAME, error) from error
    try:
        yield
    finally:
        lock.release()


def is_locked(folder: Path, *, ending: bool = False) -> bool:
    """Whether a living process carries out the run in `folder`, as far as can be found out.

    ending: its status says that it has ended; wait until the lock is released.
    """
    if not (folder / _NAME).exists():
        return False
    try:
        timeout = _ACQUIRE_TIMEOUT if ending else _TEST_TIMEOUT
        with _one_test, FileLock(folder / _NAME).acquire(timeout=timeout, poll_interval=_POLL):
            return False
    except Timeout:
        return True
    except OSError:
        return False  # no right to test it: the heartbeat decides
