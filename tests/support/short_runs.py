"""Runs of a few seconds, and how tests wait for them and for measurements."""

import threading
import time
from collections.abc import Callable
from dataclasses import replace

from explorer.jobs.measurement import Measurement
from explorer.jobs.training_run import Run
from tests.support.tiny_configs import TINY

LONGER = replace(TINY, dropout=0.1, steps=60)


def losses(run: Run) -> list[tuple[int, float]]:
    """Step and loss of every moment."""
    return [(moment["step"], moment["loss"]) for moment in run.moments()]


def wait_for(condition: Callable[[], object], seconds: float = 60.0) -> None:
    """Wait until `condition()` holds; fail after `seconds`."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "timed out"
        time.sleep(0.02)


def wait_for_job(job: Measurement) -> None:
    """Wait until a measurement has ended; fail after two minutes."""
    wait_for(lambda: not job.active, 120)


def heartbeats() -> list[str]:
    """The heartbeat threads of this process."""
    names = [thread.name for thread in threading.enumerate()]
    return [name for name in names if name.startswith("heartbeat-")]
