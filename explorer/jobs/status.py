"""The state of a job, as its process writes it into status.json."""

import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from explorer.core import json_values
from explorer.core.errors import (
    ExplorerError,
    MeasurementError,
    ModelDirectoryError,
    RunError,
)
from explorer.core.files import log_skipped, printable

HEARTBEAT_TIMEOUT = 15.0
"""Seconds without a heartbeat after which a job counts as interrupted, unless it is locked."""

START_TIMEOUT = 60.0
"""The same for a process that was launched and has not written a status yet."""

LATEST = 1e11
"""Seconds since 1970, some thousand years."""

ACTIVE_STATES = ("waiting", "preparing", "running")
RESUMABLE_STATES = ("new", "stopped", "failed", "interrupted")
_STATES = (*ACTIVE_STATES, *RESUMABLE_STATES, "done")

_DIVERGED = ("diverged", "loss_not_finite")  # the second in older runs
_LARGEST_PID = 2**31 - 1
_ERRORS: tuple[type[ExplorerError], ...] = (RunError, MeasurementError, ModelDirectoryError)


@dataclass(frozen=True, slots=True)
class Status:
    """The state of a job; see `explorer.jobs`.

    step: of a training; 0 for a measurement.
    error: key and facts of the sentence with the reason of the failure; outside the section
    "errors" the key includes the section.
    """

    state: str
    step: int = 0
    heartbeat: float = 0.0  # seconds since 1970
    pid: int = 0
    error: tuple[str, dict[str, Any]] | None = None

    @property
    def diverged(self) -> bool:
        """Whether its loss exploded: from the same state it would do so again."""
        return self.state == "failed" and self.error is not None and self.error[0] in _DIVERGED

    @property
    def is_starting(self) -> bool:
        """Whether the job was launched and its process has not written a status yet."""
        return self.state == "waiting" and self.pid == 0

    @property
    def failure(self) -> ExplorerError | None:
        """The error of a failed job, or None; a general error if its key is unknown."""
        if self.error is None:
            return None
        key, facts = self.error
        section, _, name = f"errors.{key}".rpartition(".")
        try:
            (kind,) = (one for one in _ERRORS if one.section == section.removeprefix("errors."))
            return kind(name, **facts)
        except (KeyError, IndexError, TypeError, ValueError, AttributeError):
            return RunError("failed_otherwise", reason=printable(key)[:60])

    @property
    def is_stale(self) -> bool:
        """Whether the process has ended, or its heartbeat is too far from now: in the past, or in
        the future after the clock was set back."""
        age = abs(time.time() - self.heartbeat)
        timeout = START_TIMEOUT if self.is_starting else HEARTBEAT_TIMEOUT
        return age > timeout or not _is_alive(self.pid)


def recorded(error: ExplorerError) -> tuple[str, dict[str, Any]]:
    """Key and facts of an error, as stored in a status."""
    key = error.key if error.section == "errors" else f"{error.section}.{error.key}"
    return key, {name: str(fact) for name, fact in error.facts.items()}


def read_status(path: Path) -> Status:
    """The status in a file: "new" if there is no file, "interrupted" if it cannot be read."""
    try:
        return _status(json_values.read_object(path))
    except (ExplorerError, ValueError, KeyError, TypeError) as error:
        if not os.path.lexists(path):
            return Status("new")
        log_skipped(path, str(error))
        return Status("interrupted")


def _status(data: dict[str, Any]) -> Status:
    """The status in a file. Raises `ValueError`, `KeyError` or `TypeError` on odd values."""
    state, error = data["state"], data.get("error")
    heartbeat = json_values.number(data["heartbeat"], 0, LATEST, -1)
    pid = json_values.whole_number(data["pid"])
    if state not in _STATES or heartbeat < 0 or pid > _LARGEST_PID:
        raise ValueError("no status")
    if error is not None:
        key, facts = error
        error = str(key), {str(name): fact for name, fact in dict(facts).items()}
    return Status(state, json_values.whole_number(data["step"]), heartbeat, pid, error)


def _is_alive(pid: int) -> bool:
    """Whether the process exists; on Windows assumed, heartbeat and lock decide."""
    if os.name == "nt" or pid <= 0:
        return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
