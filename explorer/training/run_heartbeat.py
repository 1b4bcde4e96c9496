"""The sign of life of a run: its status, fresh every second whatever its process is at."""

import os
import threading
import time
from contextlib import suppress
from dataclasses import replace
from types import TracebackType
from typing import Any, Self

from explorer.core.errors import ExplorerError
from explorer.training.run_directory import GOING, Run, Status

BEAT = 1.0
"""Seconds between two heartbeats."""


class Heartbeat:
    """Writes the status of a run from a thread of its own, and nobody else writes it.

    Reading a large file, learning pieces and judging translations take longer than others wait
    for a sign of life. One lock orders what is written: no status replaces a newer one.
    """

    def __init__(self, run: Run) -> None:
        self._run = run
        self._status = Status("", run.status().step)  # nothing said so far
        self._lock = threading.Lock()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._beat, name=f"heart-{run.name}", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._over.set()
        self._thread.join()

    @property
    def step(self) -> int:
        """The step last told."""
        return self._status.step

    def tell(
        self, state: str, step: int, error: tuple[str, dict[str, Any]] | None = None
    ) -> Status:
        """Say how the run is doing: a new state is written at once, a step with the next beat.

        Raises `ExplorerError` when it cannot be written.
        """
        with self._lock:
            before = self._status.state
            self._status = Status(state, step, time.time(), os.getpid(), error)
            if state != before:
                self._run.report(self._status)
            return self._status

    def _beat(self) -> None:
        while not self._over.wait(BEAT):
            with self._lock:
                if self._status.state not in GOING:
                    continue
                self._status = replace(self._status, heartbeat=time.time())
                with suppress(ExplorerError):  # no room now: the training itself will say so
                    self._run.report(self._status)
