"""Slow work at the start of the server: importing torch, compressing plotly.js, deleting the files
that killed servers left behind, and in class mode making the guests' site.

A background thread does it, while the browser loads the frame of the page.
"""

import gc
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module

from explorer.app.server import access, guest_site, static_files

_MODULES = ("explorer.app.model_cache", "explorer.model.explorable", "pandas")
"""Imports of the first page, in the same order."""


def start(base: str) -> None:
    """Start the thread and return. base: the URL path the app is served under, "" or "/…"."""
    # Read by torch when it is imported. On short sequences two threads take four times as long as
    # one, and the cores are kept busy by several visitors anyway.
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    threading.Thread(target=_prepare, args=(base,), name="preparation", daemon=True).start()


def _prepare(base: str) -> None:
    with _low_priority():
        for module in _MODULES:
            import_module(module)
    static_files.prepare()
    _delete_abandoned()
    if access.is_class_mode():
        static_site = import_module("explorer.app.static_site")  # late, too
        guest_site.site.fill(static_site.files_for_class(), base)


def _delete_abandoned() -> None:
    from explorer.jobs import measurement  # late: this thread imports its modules in order

    measurement.delete_abandoned()


@contextmanager
def _low_priority() -> Iterator[None]:
    """Let the threads that serve pages run first: this thread holds the interpreter for a tenth
    of the usual time, and no garbage is collected among modules that stay anyway."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(interval / 10)
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
        sys.setswitchinterval(interval)
