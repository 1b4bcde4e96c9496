"""The processes of jobs, as a server starts them."""

import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from typing import Any

from explorer.core import folders
from explorer.core.files import unwritable
from explorer.jobs.folder import JobFolder
from explorer.jobs.status import ACTIVE_STATES, Status


def launch(
    job: JobFolder,
    command: Sequence[str],
    environment: Mapping[str, str],
    *,
    ends_with_this: bool = False,
) -> None:
    """Carry out a job in a process that outlives this one.

    ends_with_this: the process reads a standard input, which the system closes when this one ends.

    Raises `RunError` when a process already does, `FileError` when nothing can be written.
    """
    launched = Status("waiting", job.status().step, time.time())
    with job.locked():  # only the holder of the lock writes the status
        job.write_status(launched)  # until the process writes its own
    try:
        with job.log_path.open("ab") as log:
            process = subprocess.Popen(
                command,
                cwd=folders.IMPORT_ROOT,
                env={**environment, "PYTHONUNBUFFERED": "1"},
                stdin=subprocess.PIPE if ends_with_this else subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                **_detached(),
            )
    except OSError as error:
        raise unwritable(job.log_path, error) from error
    reaper = threading.Thread(
        target=_reap, args=(job, process, launched), name=f"reaper-{job.name}", daemon=True
    )
    reaper.start()


def _reap(job: JobFolder, process: "subprocess.Popen[bytes]", launched: Status) -> None:
    """Wait for a child, so that no zombie remains, and record it if it ended while it was active.

    By then the job may have been launched again: its status then belongs to another process.
    """
    code = process.wait()
    if process.stdin is not None:
        process.stdin.close()
    status = job.written_status()
    own = status.pid == process.pid and status.state in ACTIVE_STATES
    if own or status == launched:
        job.note_end(status, code)


def _detached() -> dict[str, Any]:
    """The options of `Popen` that let a process outlive the server."""
    if sys.platform == "win32":
        flags = subprocess.CREATE_NEW_PROCESS_GROUP | subprocess.CREATE_NO_WINDOW
        return {"creationflags": flags}
    return {"start_new_session": True}
