"""What takes long is begun before anybody asks: torch is imported, and plotly.js compressed.

A thread of its own does it, while the browser is still loading the frame of the page.
"""

import gc
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module

from explorer.app.server import static_files

_NEEDED = ("explorer.app.model_cache", "explorer.model.explorable", "pandas")
"""What the first page imports, in the order in which it does."""


def begin() -> None:
    """Start to warm up and return at once."""
    # Read by torch when it is imported. On sequences of a few tokens two threads wait for each
    # other four times as long as one works, and visitors are what keeps the cores busy.
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    threading.Thread(target=_warm_up, name="warmth", daemon=True).start()


def _warm_up() -> None:
    with _considerate():
        for module in _NEEDED:
            import_module(module)
    static_files.prepare()


@contextmanager
def _considerate() -> Iterator[None]:
    """Give way to who serves the page: an importing thread keeps the interpreter for a tenth of
    the usual time, and nobody searches for garbage among modules that stay anyway."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(interval / 10)
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
        sys.setswitchinterval(interval)
