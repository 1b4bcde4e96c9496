"""Work that gives way to other programs."""

import os
import sys


def give_way() -> None:
    """Lower this process's priority, so that a page being served beside it stays quick."""
    if sys.platform == "win32":
        import ctypes

        below_normal = 0x00004000
        kernel = ctypes.windll.kernel32
        kernel.SetPriorityClass(kernel.GetCurrentProcess(), below_normal)
    else:
        os.nice(10)
