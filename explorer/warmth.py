"""What takes long is begun before anybody asks: torch is imported, and plotly.js compressed.

A thread of its own does it, while the browser is still loading the frame of the page.
"""

import os
import threading
from importlib import import_module

from explorer import delivery

_NEEDED = ("explorer.stage", "explorer.tracing", "pandas")
"""What the first page imports, in the order in which it does."""


def begin() -> None:
    """Start to warm up and return at once."""
    # Read by torch when it is imported. On sequences of a few tokens two threads wait for each
    # other four times as long as one works, and visitors are what keeps the cores busy.
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    threading.Thread(target=_warm_up, name="warmth", daemon=True).start()


def _warm_up() -> None:
    for module in _NEEDED:
        import_module(module)

    delivery.prepare()
