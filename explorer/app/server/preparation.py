"""Slow work at the start of the server: importing torch, compressing plotly.js, deleting the files
that killed servers left behind, and in class mode having the guests' site made.

Background threads do it. Torch waits until the first picture has been sent, which needs none, see
`first_trace`: imported earlier, it would hold up everything that is needed for that.
"""

import gc
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module

from explorer.app.server import access, guest_files, guest_site, static_files

LONGEST_WAIT = 15.0
"""Seconds that torch waits for a first visitor."""

_first_sent = threading.Event()

_FIRST_PAGE = "explorer.app.views.explore"
_LATER = ("explorer.model.explorable", "explorer.app.views.heads")
"""Imports for which the first picture does not wait: torch, and the page with the most of ours."""


def start(base: str) -> None:
    """Start the threads and return. base: the URL path the app is served under, "" or "/…"."""
    # Read by torch when it is imported. On short sequences two threads take four times as long as
    # one, and the cores are kept busy by several visitors anyway.
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    threading.Thread(target=_prepare, name="preparation", daemon=True).start()
    if access.is_class_mode():
        files = guest_files.made(base)
        fill = guest_site.site.fill
        threading.Thread(target=fill, args=(files,), name="guest-site", daemon=True).start()


def go_on() -> None:
    """Note that a picture was sent: nothing has to wait any longer."""
    _first_sent.set()


def _prepare() -> None:
    with _low_priority():
        import_module(_FIRST_PAGE)
    _first_sent.wait(LONGEST_WAIT)
    with _low_priority():
        for module in _LATER:
            import_module(module)
    static_files.prepare()
    _delete_abandoned()


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
