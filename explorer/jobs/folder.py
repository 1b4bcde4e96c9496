"""The folder of a job, shared by its process and its observers.

    config.json, job.json   description of the job, and when it was created
    status.json             state, step, heartbeat, and the error of a failed job; see `Status`
    log.txt                 output of its processes
    stop                    a request to stop, written by another process
    .lock                   held by the process that carries the job out; see `lock`

Every file but the log is replaced atomically.
"""

import json
import shutil
import time
from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager, suppress
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Self

from explorer.core import json_values
from explorer.core.errors import ExplorerError, RunError
from explorer.core.files import replace_atomically, write_atomically, writing
from explorer.jobs.lock import is_locked, locked
from explorer.jobs.status import ACTIVE_STATES, LATEST, Status, read_status


@dataclass(frozen=True)
class JobFolder:
    """A job, given by its folder.

    DESCRIPTION: the file with the description of the job; a folder without it is not a job.
    """

    folder: Path
    DESCRIPTION: ClassVar[str] = "job.json"

    @property
    def name(self) -> str:
        return self.folder.name

    @property
    def description(self) -> dict[str, Any]:
        """The description of the job. Raises `RunError` if it cannot be read."""
        try:
            return json_values.read_object(self.folder / self.DESCRIPTION)
        except (ExplorerError, ValueError) as error:
            raise RunError("damaged_run", name=self.name, file=self.DESCRIPTION) from error

    @cached_property
    def created(self) -> float:
        """Seconds since 1970; 0 if not known."""
        return json_values.number(self.description.get("created"), 0.0, LATEST, otherwise=0.0)

    def lane(self) -> Iterable[Self]:
        """The jobs of this job's lane, itself included; one of them runs at a time."""
        raise NotImplementedError

    def status(self) -> Status:
        """The present state; "interrupted" when the heartbeat is stale and the lock is free."""
        status = self.written_status()
        if status.state == "interrupted" and is_locked(self.folder):
            return replace(status, state="running")  # Windows: unreadable while replaced
        if status.state in ACTIVE_STATES and status.is_stale and not is_locked(self.folder):
            return replace(status, state="interrupted")
        return status

    def written_status(self) -> Status:
        """The status as last written."""
        return read_status(self.folder / "status.json")

    @property
    def active(self) -> bool:
        """Whether the job waits or runs."""
        return self.status().state in ACTIVE_STATES

    @property
    def log_path(self) -> Path:
        return self.folder / "log.txt"

    @property
    def is_deleted(self) -> bool:
        """Whether the folder is no longer that of this job: deleted, moved, or of a newer job."""
        if not (self.folder / self.DESCRIPTION).is_file():
            return True
        try:
            return replace(self).created != self.created
        except RunError:  # damaged, such as by an editor that is writing it
            return False

    def refuse_deleted(self) -> None:
        """Raise `RunError` if the folder no longer belongs to this job."""
        if self.is_deleted:
            raise RunError("run_deleted", name=self.name)

    def create(self, description: Mapping[str, Any]) -> None:
        """Make the folder anew, with this description. Raises `OSError`, `ExplorerError`."""
        if self.folder.exists():
            with locked(self.folder):  # its process may be ending
                shutil.rmtree(self.folder)
        described = {**description, "created": time.time()}
        write_atomically(self.folder / self.DESCRIPTION, json.dumps(described).encode())

    def write(self, path: Path, data: bytes) -> None:
        """Replace a file in the folder, atomically.

        Raises `FileError`, and `RunError` if the folder no longer belongs to this job: it is not
        created again.
        """
        self.refuse_deleted()
        with writing(path):
            path.parent.mkdir(exist_ok=True)
        replace_atomically(path, data)

    def write_status(self, status: Status) -> None:
        """Replace the status. Raises as `write`."""
        self.write(self.folder / "status.json", json.dumps(asdict(status)).encode())

    def request_stop(self) -> None:
        """Ask the process of the job to stop. Raises as `write`."""
        self.write(self.folder / "stop", b"")

    def stop_requested(self) -> bool:
        return (self.folder / "stop").exists()

    def withdraw_stop_request(self) -> None:
        (self.folder / "stop").unlink(missing_ok=True)

    def locked(self) -> AbstractContextManager[None]:
        """Hold the job's lock, as the only process that carries it out.

        Raises `RunError` if the folder no longer belongs to this job.
        """
        self.refuse_deleted()  # else the lock would make the folder anew
        return locked(self.folder)

    def broke_off(self, error: Exception) -> ExplorerError | None:
        """Error to record after an unexpected exception, which is no `ExplorerError`. None refers
        to the log."""
        return None

    def note_end(self, status: Status, code: int) -> None:
        """Record that the process ended while it was active.

        status: as last written. code: as of `subprocess.Popen.returncode`.
        """
        with suppress(ExplorerError):
            self.write_status(replace(status, state="interrupted"))
