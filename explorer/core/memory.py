"""The memory of this machine, of this process, and the errors of those that run out of it."""

import os
import sys
from pathlib import Path


def free_memory() -> int | None:
    """Bytes of memory that Linux counts as available; None on other systems."""
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
    except OSError:
        return None
    found = [line.split()[1] for line in lines if line.startswith("MemAvailable:")]
    return int(found[0]) * 1024 if found else None


def limit_memory(most: int, ever: int | None = None) -> None:
    """Let this process have at most `most` bytes of data; files that are only read do not count.
    `ever`: the most that a later call may let it have; None = as many.

    On Linux alone: other systems do not count mapped memory, or know no limit.
    """
    if sys.platform == "linux":
        import resource

        resource.setrlimit(resource.RLIMIT_DATA, (most, most if ever is None else ever))


def half_of_memory() -> int | None:
    """Half of the bytes of memory of this machine; None on systems other than Linux."""
    if sys.platform != "linux":
        return None
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2


def ran_out_of_memory(error: Exception) -> bool:
    """Whether memory could not be had, that of a GPU included.

    On a CPU torch raises a plain RuntimeError.
    """
    known = isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError"
    return known or "can't allocate memory" in str(error) or "not enough memory" in str(error)
