"""The heartbeat of a job: its status, written every second by a thread of its process."""

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import Any, Self

from explorer.core.errors import ExplorerError
from explorer.core.files import replacing
from explorer.jobs.folder import JobFolder
from explorer.jobs.status import ACTIVE_STATES, Status, recorded

INTERVAL = 1.0
"""Seconds between two heartbeats."""


class Heartbeat:
    """Writes the status of a job from its own thread; nothing else writes it meanwhile.

    A thread, because reading a large file, training a SentencePiece vocabulary and evaluating
    translations take longer than the heartbeat timeout. A lock orders the writes: no status
    replaces a newer one.

    watch: called in that thread after each heartbeat.
    """

    def __init__(self, job: JobFolder, watch: Callable[["Heartbeat"], None] | None = None) -> None:
        self._job = job
        self._watch = watch
        self._status = Status("", job.status().step)  # no state yet
        self._lock = replacing  # one lock with that of files: two could wait for each other
        self._stopped = threading.Event()
        self._thread = threading.Thread(
            target=self._beat, name=f"heartbeat-{job.name}", daemon=True
        )

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *raised: object) -> None:
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

        Raises `FileError` when it cannot be written, `RunError` if the folder is deleted.
        """
        with self._lock:
            before = self._status.state
            self._status = Status(state, step, time.time(), os.getpid(), error)
            if state != before:
                self._job.write_status(self._status)
            return self._status

    def fail(self, error: ExplorerError | None) -> None:
        """Set the status to "failed"; if it cannot be written, the heartbeat becomes stale."""
        with suppress(ExplorerError):
            self.update("failed", self.step, recorded(error) if error else None)

    def _beat(self) -> None:
        while not self._stopped.wait(INTERVAL):
            with self._lock:
                if self._status.state not in ACTIVE_STATES:
                    continue
                self._status = replace(self._status, heartbeat=time.time())
                with suppress(ExplorerError):  # a full disk: the job itself raises it
                    self._job.write_status(self._status)
            if self._watch is not None:
                self._watch(self)


@contextmanager
def carried_out(
    job: JobFolder, watch: Callable[[Heartbeat], None] | None = None
) -> Iterator[Heartbeat]:
    """Hold the lock of a job and write its status while the block carries it out. An exception is
    written to the status, then raised.

    watch: as of `Heartbeat`. Raises `RunError`, and writes nothing, when another process carries
    the job out.
    """
    with job.locked(), Heartbeat(job, watch) as heartbeat:
        try:
            yield heartbeat
        except ExplorerError as error:
            heartbeat.fail(error)
            raise
        except Exception as error:
            heartbeat.fail(job.broke_off(error))
            raise


def end_process(
    heartbeat: Heartbeat, clear: Callable[[], object], error: ExplorerError | None = None
) -> None:
    """End this process, from a `watch`; its job is stopped or, with an error, failed.

    clear: called before anybody reads that it has ended.
    """
    with replacing:  # no other thread is in the middle of a file
        clear()
        with suppress(ExplorerError):
            if error is None:
                heartbeat.update("stopped", heartbeat.step)
            else:
                heartbeat.fail(error)
        os._exit(1)
