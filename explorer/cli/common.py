"""What several commands share: a type of option, and a lower priority."""

import os
import sys


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
