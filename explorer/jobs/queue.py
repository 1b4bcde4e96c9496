"""The queue of a lane: one job runs at a time, in the order of creation.

The queue is stored only in the folders of the jobs: each waiting process reads them.
"""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar

from explorer.jobs.folder import JobFolder
from explorer.jobs.heartbeat import INTERVAL, Heartbeat
from explorer.jobs.lock import lock_all

J = TypeVar("J", bound=JobFolder)


def in_order(jobs: Iterable[J]) -> list[J]:
    """Sort the active jobs: running ones first, then waiting ones in the order of their turns."""
    active = [(job.status().state, job) for job in jobs if job.active]
    active.sort(key=lambda one: (one[0] == "waiting", one[1].created, one[1].name))
    return [job for _, job in active]


@contextmanager
def turn(
    job: JobFolder,
    heartbeat: Heartbeat,
    devices: Sequence[str],
    stops: Callable[[], bool] = lambda: False,
    on_wait: Callable[[], object] = lambda: None,
) -> Iterator[bool]:
    """Wait for the turn of `job` in its lane, and hold the locks of the devices in the folder of
    the lane; yields False when a stop is requested first.

    on_wait: called once if the job has to wait.
    """
    heartbeat.update("waiting", heartbeat.step)
    told = False
    while not (job.stop_requested() or stops()):
        job.refuse_deleted()
        waiting = (one for one in in_order(job.lane()) if one.status().state == "waiting")
        if next(waiting, job).name == job.name:
            locks = lock_all(job.folder.parent / f".{name}.lock" for name in devices)
            if locks is not None:
                with locks:
                    yield True
                return
        if not told:
            on_wait()
            told = True
        time.sleep(INTERVAL / 2)
    yield False
