"""The memory of this machine and of this process, and errors from running out of it."""

import sys
from functools import cache
from typing import Any


def free_memory() -> int:
    """Bytes of memory available now without swapping."""
    return int(_memory().available)


def half_of_memory() -> int:
    """Half of the bytes of memory of this machine."""
    return all_memory() // 2


@cache
def all_memory() -> int:
    """Bytes of memory of this machine. Read once: decoding asks at each step."""
    return int(_memory().total)


def limit_memory(most: int, ever: int | None = None) -> None:
    """Limit this process to `most` bytes of data; files that are only read do not count.

    ever: the highest limit that a later call may set; None = `most`.

    Only on Linux: other systems do not count mapped memory, or have no limit.
    """
    if sys.platform == "linux":
        import resource

        resource.setrlimit(resource.RLIMIT_DATA, (most, most if ever is None else ever))


def ran_out_of_memory(error: Exception) -> bool:
    """Whether the error is a lack of memory, including GPU memory.

    On a CPU torch raises a plain RuntimeError.
    """
    known = isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError"
    return known or "can't allocate memory" in str(error) or "not enough memory" in str(error)


def _memory() -> Any:
    import psutil  # late: most processes that import this module only limit themselves

    return psutil.virtual_memory()
