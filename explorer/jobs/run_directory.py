"""A run: one training as a folder that other processes can read while it is active.

    config.json             the settings, and when the run was created
    status.json             state, step, heartbeat, and the error of a failed run
    metrics.jsonl           one line a moment, see `run_metrics`
    moments/000310.trace    the probe trace at that moment, teacher-forced
    lesson.json             facts of the training data: for a file of pairs, its row counts
    pairs.tsv               the file of pairs, where it was uploaded
    checkpoint.safetensors  the model as last saved
    best.safetensors        the model with the lowest held-out loss so far
    state.safetensors       the trainer's saved state, for resuming
    stop                    a request to stop, written by another process

status.json holds the fields of `Status`; `error` of a failed run is ["diverged", {"step": 150,
"loss": "31.4", …}] where its loss exploded, or names another sentence.

Every file but metrics.jsonl is replaced atomically. So a run can be killed at any time and
resumes from its saved state.
"""

import json
import os
import re
import shutil
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from explorer.core import json_values
from explorer.core.errors import ExplorerError, RunError
from explorer.core.files import (
    log_skipped,
    printable,
    read_bytes,
    replace_atomically,
    unwritable,
    write_atomically,
    writing,
)
from explorer.core.typed_number import typed_number
from explorer.jobs.run_lock import is_locked, locked
from explorer.training import run_metrics
from explorer.training.config import TrainingConfig
from explorer.training.run_files import LARGEST_JSON, LATEST, RunFiles

HEARTBEAT_TIMEOUT = 15.0
"""Seconds without a heartbeat after which a run counts as interrupted, unless it is locked."""

START_TIMEOUT = 60.0
"""The same for a process that was launched and has not written a status yet."""

ACTIVE_STATES = ("waiting", "preparing", "running")
RESUMABLE_STATES = ("new", "stopped", "failed", "interrupted")
_STATES = ("new", *ACTIVE_STATES, "stopped", "done", "failed", "interrupted")

_DIVERGED = ("diverged", "loss_not_finite")  # the second in older runs
_LARGEST_PID = 2**31 - 1
_NAME = re.compile(r"[\w-][\w.-]{0,59}")


@dataclass(frozen=True, slots=True)
class Status:
    """The state of a run.

    state: "new", "waiting" for its device, "preparing" its data, "running", "stopped", "done",
    "failed" or "interrupted".
    error: key and facts of the sentence that says why it failed.
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
    def failure(self) -> RunError | None:
        """Why it failed, with a general sentence for a key that has none; None where it did not."""
        if self.error is None:
            return None
        key, facts = self.error
        try:
            return RunError(key, **facts)
        except (KeyError, IndexError, TypeError, ValueError, AttributeError):
            return RunError("failed_otherwise", reason=printable(key)[:60])


@dataclass(frozen=True)
class Run(RunFiles):
    """A run, given by its folder."""

    def status(self) -> Status:
        """The present state; "interrupted" when the heartbeat is stale and the lock is free."""
        status = self._read_status()
        if status.state == "interrupted" and is_locked(self.folder):
            return replace(status, state="running")  # Windows: unreadable while replaced
        if status.state in ACTIVE_STATES and _is_stale(status) and not is_locked(self.folder):
            return replace(status, state="interrupted")
        return status

    def _read_status(self) -> Status:
        """The status as last written."""
        try:
            data = json_values.parse_object(read_bytes(self.folder / "status.json", LARGEST_JSON))
            return _status(data)
        except (ExplorerError, ValueError, KeyError, TypeError) as error:
            if not os.path.lexists(self.folder / "status.json"):
                return Status("new")
            log_skipped(self.folder / "status.json", str(error))
            return Status("interrupted")

    @property
    def resumable(self) -> bool:
        """Whether steps are left that can be done, and no process carries the run out."""
        status = self.status()
        left = status.state in RESUMABLE_STATES and not status.diverged
        return left and not is_locked(self.folder, ending=True)

    def refuse_diverged(self) -> None:
        """Raises `RunError` when the run has diverged: it cannot be resumed."""
        if self.status().diverged:
            raise RunError("run_diverged", name=self.name)

    @property
    def is_deleted(self) -> bool:
        """Whether the folder is no longer that of this run: deleted, moved, or of a newer run."""
        if not (self.folder / "config.json").is_file():
            return True
        try:
            return Run(self.folder).created != self.created
        except RunError:  # damaged, such as by an editor that is writing it
            return False

    def refuse_deleted(self) -> None:
        """Raises `RunError` where the folder is no longer that of this run."""
        if self.is_deleted:
            raise RunError("run_deleted", name=self.name)

    def write(self, path: Path, data: bytes) -> None:
        """Replace a file in the folder, atomically. Raises `FileError`, and `RunError` where the
        folder is no longer that of this run: it is not made anew."""
        self.refuse_deleted()
        with writing(path):
            path.parent.mkdir(exist_ok=True)
        replace_atomically(path, data)

    def request_stop(self) -> None:
        """Ask the process of the run to stop after its present step. Raises as `write`."""
        self.write(self.folder / "stop", b"")

    def stop_requested(self) -> bool:
        return (self.folder / "stop").exists()

    def withdraw_stop_request(self) -> None:
        (self.folder / "stop").unlink(missing_ok=True)

    def write_status(self, status: Status) -> None:
        """Replace the status. Raises as `write`."""
        self.write(self.folder / "status.json", json.dumps(asdict(status)).encode())

    def write_data_facts(self, facts: dict[str, Any]) -> None:
        """Write the facts of the training data. Raises as `write`."""
        self.write(self.folder / "lesson.json", json.dumps(facts, ensure_ascii=False).encode())

    def append(self, moment: dict[str, Any]) -> None:
        """Add one line to the metrics. Raises as `write`."""
        self.refuse_deleted()
        run_metrics.append(self.metrics_path, moment)

    def discard_after(self, step: int) -> None:
        """Delete the moments after `step`: a resumed run repeats them. Raises as `write`."""
        self.refuse_deleted()
        run_metrics.discard_after(self.metrics_path, step)
        for path in (self.folder / "moments").glob("*.trace"):
            if (typed_number(path.stem) or 0) > step:
                path.unlink(missing_ok=True)

    def delete(self) -> None:
        """Delete the folder. Raises `RunError` while the run is active, `FileError` when the
        folder cannot be deleted."""
        if self.status().state in ACTIVE_STATES:
            raise RunError("run_busy", name=self.name)
        if self.folder.exists():
            with locked(self.folder):
                shutil.rmtree(self.folder, ignore_errors=True)
            shutil.rmtree(self.folder, ignore_errors=True)  # Windows keeps the held lock's file
        if self.folder.exists():
            raise unwritable(self.folder, PermissionError(13, "the folder stays"))

    def discard(self, *, with_folder: bool) -> None:
        """Undo `create_run`, before the first step; with_folder: it made the folder, too. Otherwise
        other files may be in there, and only those that make it a run are deleted."""
        if self.is_deleted:
            return
        if with_folder:
            self.delete()
            return
        for name in ("config.json", "status.json"):
            (self.folder / name).unlink(missing_ok=True)

    def locked(self) -> AbstractContextManager[None]:
        """Hold the run's lock, as the one process that carries it out; see `run_lock`. Raises
        `RunError` where the folder is no longer that of this run."""
        self.refuse_deleted()  # else the lock would make the folder anew
        return locked(self.folder)


def create_run(folder: Path, config: TrainingConfig) -> Run:
    """Create the folder of a run. Raises `RunError` on a name that is invalid or taken."""
    if not _NAME.fullmatch(folder.name):
        raise RunError("bad_run_name", name=folder.name[:60])
    run = Run(folder)
    if folder.exists() and not folder.is_dir():
        raise RunError("is_file", name=run.name)
    if (folder / "config.json").exists():
        raise RunError("run_exists", name=run.name)
    description = {"settings": asdict(config), "created": time.time()}
    text = json.dumps(description, ensure_ascii=False, indent=1)
    write_atomically(folder / "config.json", text.encode())
    return run


def find_run(root: Path, name: str) -> Run:
    """The run called `name` in the folder `root`. Raises `RunError` when there is none."""
    if not _NAME.fullmatch(name) or not (root / name / "config.json").is_file():
        raise RunError("no_run", name=name[:60])
    return Run(root / name)


def list_runs(root: Path) -> list[Run]:
    """The readable runs in the folder `root`, the newest first."""
    runs = []
    for path in root.glob("*/config.json"):
        run = Run(path.parent)
        try:
            if not _NAME.fullmatch(run.name):
                raise RunError("bad_run_name", name=printable(run.name)[:60])
            _ = run.config
            runs.append((run.created, run.name, run))
        except ExplorerError as error:
            log_skipped(path, error)
    return [run for _, _, run in sorted(runs, key=lambda entry: entry[:2], reverse=True)]


def finished_runs(root: Path) -> Iterator[Run]:
    """The runs in the folder `root` that are done, the newest first."""
    return (run for run in list_runs(root) if run.status().state == "done")


def waiting_runs(root: Path, device: str) -> list[Run]:
    """The runs that wait for `device`, in the order in which they will have it."""
    waiting = [
        run
        for run in list_runs(root)
        if run.config.device == device and run.status().state == "waiting"
    ]
    return sorted(waiting, key=lambda run: (run.created, run.name))


def _status(data: dict[str, Any]) -> Status:
    """The status in a file. Raises `ValueError`, `KeyError` or `TypeError` on odd values."""
    state, error = data["state"], data.get("error")
    heartbeat, pid = (
        json_values.number(data["heartbeat"], 0, LATEST, -1),
        json_values.whole_number(data["pid"]),
    )
    if state not in _STATES or heartbeat < 0 or pid > _LARGEST_PID:
        raise ValueError("no status")
    if error is not None:
        key, facts = error
        error = str(key), {str(name): fact for name, fact in dict(facts).items()}
    return Status(state, json_values.whole_number(data["step"]), heartbeat, pid, error)


def _is_stale(status: Status) -> bool:
    """Whether the process has ended, or its heartbeat is too far from now: in the past, or in the
    future since the clock was set back."""
    launched = status.state == "waiting" and status.pid == 0
    age = abs(time.time() - status.heartbeat)
    return age > (START_TIMEOUT if launched else HEARTBEAT_TIMEOUT) or not _is_alive(status.pid)


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
