"""The lock of a job: held by the process that carries it out, freed by the system at its end.

A hanging process still holds it and a killed one does not, so it is more reliable than the
heartbeat.
"""

import threading
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from filelock import FileLock, Timeout

from explorer.core.errors import RunError
from explorer.core.files import unwritable

NAME = ".lock"
"""Name of the lock file in the folder of the job."""

_ACQUIRE_TIMEOUT = 2.0  # seconds: a process that only tests the lock also holds it briefly
_TEST_TIMEOUT = 0.05  # seconds: the same
_POLL = 0.01
_one_test = threading.Lock()  # threads of this process test one after the other


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold the lock of the job in `folder`.

    Raises `RunError` when another process holds it, `FileError` when it cannot be created.
    """
    lock = FileLock(folder / NAME)
    try:
        lock.acquire(timeout=_ACQUIRE_TIMEOUT, poll_interval=_POLL)
    except Timeout as error:
        raise RunError("run_busy", name=folder.name) from error
    except OSError as error:
        raise unwritable(folder / NAME, error) from error
    try:
        yield
    finally:
        lock.release()


def lock_all(paths: Iterable[Path]) -> ExitStack | None:
    """Hold all these lock files, such as those of devices, until the stack is closed.

    Returns None and holds none if another process holds one of them.
    """
    with ExitStack() as locks, suppress(Timeout):
        for path in paths:
            locks.enter_context(FileLock(path).acquire(timeout=0))
        return locks.pop_all()
    return None


def is_locked(folder: Path, *, ending: bool = False) -> bool:
    """Whether a living process carries out the job in `folder`, as far as this can be determined.

    ending: its status says that it has ended; wait until the lock is released.
    """
    if not (folder / NAME).exists():
        return False
    try:
        timeout = _ACQUIRE_TIMEOUT if ending else _TEST_TIMEOUT
        with _one_test, FileLock(folder / NAME).acquire(timeout=timeout, poll_interval=_POLL):
            return False
    except Timeout:
        return True
    except OSError:
        return False  # no right to test it: the heartbeat decides
