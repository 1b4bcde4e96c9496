"""The heartbeat of a run: its status, written every second by a thread of its process."""

import os
import threading
import time
from contextlib import suppress
from dataclasses import replace
from types import TracebackType
from typing import Any, Self

from explorer.core.errors import ExplorerError
from explorer.jobs.run_directory import ACTIVE_STATES, Run, Status

INTERVAL = 1.0
"""Seconds between two heartbeats."""


class Heartbeat:
    """Writes the status of a run from its own thread; nothing else writes it meanwhile.

    A thread, because reading a large file, training a SentencePiece vocabulary and evaluating
    translations take longer than the heartbeat timeout. A lock orders the writes: no status
    replaces a newer one.
    """

    def __init__(self, run: Run) -> None:
        self._run = run
        self._status = Status("", run.status().step)  # no state yet
        self._lock = threading.Lock()
        self._stopped = threading.Event()
        self._thread = threading.Thread(
            target=self._beat, name=f"heartbeat-{run.name}", daemon=True
        )

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._stopped.set()
        self._thread.join()

    @property
    def step(self) -> int:
        """The step of the last update."""
        return self._status.step

    def update(
        self, state: str, step: int, error: tuple[str, dict[str, Any]] | None = None
    ) -> Status:
        """Set the status: a new state is written at once, a new step with the next heartbeat.

        Raises `FileError` when it cannot be written, `RunError` where the folder is deleted.
        """
        with self._lock:
            before = self._status.state
            self._status = Status(state, step, time.time(), os.getpid(), error)
            if state != before:
                self._run.write_status(self._status)
            return self._status

    def _beat(self) -> None:
        while not self._stopped.wait(INTERVAL):
            with self._lock:
                if self._status.state not in ACTIVE_STATES:
                    continue
                self._status = replace(self._status, heartbeat=time.time())
                with suppress(ExplorerError):  # a full disk: the training itself raises it
                    self._run.write_status(self._status)
