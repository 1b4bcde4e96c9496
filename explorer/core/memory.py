"""The memory of this machine, of this process, and the errors of those that run out of it."""

import sys
from typing import Any


def free_memory() -> int:
    """Bytes of memory that can be had now without swapping."""
    return int(_memory().available)


def half_of_memory() -> int:
    """Half of the bytes of memory of this machine."""
    return int(_memory().total) // 2


def limit_memory(most: int, ever: int | None = None) -> None:
    """Let this process have at most `most` bytes of data; files that are only read do not count.
    `ever`: the most that a later call may let it have; None = as many.

    On Linux alone: other systems do not count mapped memory, or know no limit.
    """
    if sys.platform == "linux":
        import resource

        resource.setrlimit(resource.RLIMIT_DATA, (most, most if ever is None else ever))


def ran_out_of_memory(error: Exception) -> bool:
    """Whether memory could not be had, that of a GPU included.

    On a CPU torch raises a plain RuntimeError.
    """
    known = isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError"
    return known or "can't allocate memory" in str(error) or "not enough memory" in str(error)


def _memory() -> Any:
    import psutil  # late: most processes that import this module only limit themselves

    return psutil.virtual_memory()
