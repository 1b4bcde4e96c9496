"""What several commands share: a type of option, a lower priority, and an end with the parent."""

import os
import sys
import threading


def comma_list(text: str) -> tuple[str, ...]:
    """The entries of an option, separated by commas, or by spaces if it has none."""
    return tuple(entry.strip() for entry in (text.split(",") if "," in text else text.split()))


def lower_priority() -> None:
    """Lower the priority of this process, so that a server on this machine stays responsive."""
    if sys.platform == "win32":
        import ctypes

        below_normal = 0x00004000
        kernel = ctypes.windll.kernel32
        kernel.SetPriorityClass(kernel.GetCurrentProcess(), below_normal)
    else:
        os.nice(10)


def end_with_parent() -> None:
    """End this process as soon as its standard input is closed, which the system does when the
    process that started it ends, even if it was killed."""
    threading.Thread(target=_wait_for_end_of_input, name="parent", daemon=True).start()


def _wait_for_end_of_input() -> None:
    while os.read(0, 1):  # not sys.stdin: Python could not end while a thread reads that
        pass
    os._exit(1)
