"""Start, stop and resume runs, each in a process of its own.

Nothing is remembered here: all state is in the folders of the runs. So a reload, a second tab,
a restarted server and the command line find the same runs.
"""

import os
import re
import shutil
import subprocess
import sys
import threading
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from explorer.core import folders
from explorer.core.errors import ExplorerError, RunError
from explorer.core.files import unwritable, write_atomically
from explorer.training.config import TrainingConfig
from explorer.training.run_directory import (
    GOING,
    PAIRS_FILE,
    Run,
    Status,
    create_run,
    find_run,
    list_runs,
    queue,
)

SHELVES = ("runs", "recorded")
"""Where runs stand: those made here, and those that ship with the app."""

_NO_NAME = re.compile(r"[^\w]+")
_LONGEST_NAME = 40


def shelf_folder(shelf: str) -> Path:
    """The folder of a shelf. Raises `RunError` when there is none of that name."""
    if shelf == "runs":
        return folders.runs()
    if shelf == "recorded":
        return folders.shipped_runs()
    raise RunError("no_run", name=shelf[:60])


def find(shelf: str, name: str) -> Run:
    """A run by shelf and name; names are looked up, never used as paths. Raises `RunError`."""
    return find_run(shelf_folder(shelf), name)


def new_folder(subject: str) -> Path:
    """An empty folder with a name no run has: "reverse-3", even if two servers ask at once.

    Raises `FileError` when it cannot be made.
    """
    number = 1
    while True:
        folder = shelf_folder("runs") / f"{subject}-{number}"
        try:
            folder.mkdir(parents=True)
        except FileExistsError:
            if not folder.parent.is_dir():
                raise unwritable(folder, FileExistsError(17, "not a folder")) from None
            number += 1
        except OSError as error:
            raise unwritable(folder, error) from error
        else:
            return folder


def start(config: TrainingConfig) -> Run:
    """Make a new run and carry it out. Raises `ExplorerError` when it cannot be written."""
    run = create_run(new_folder(config.task), config)
    launch(run)
    return run


def start_pairs(config: TrainingConfig, data: bytes, name: str) -> Run:
    """As `start`, on the file of pairs `data`, called `name`, which the run keeps in its folder.

    Nothing is left behind when it cannot be written.
    """
    folder = new_folder(_NO_NAME.sub("-", Path(name).stem)[:_LONGEST_NAME].strip("-") or "pairs")
    try:
        write_atomically(folder / PAIRS_FILE, data)
        run = create_run(folder, replace(config, pairs=PAIRS_FILE))
    except ExplorerError:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    launch(run)
    return run


def launch(run: Run) -> None:
    """Carry a run out, from where it stands, in a process that outlives this one.

    Raises `RunError` when somebody is doing it, `ExplorerError` when nothing can be written.
    """
    if not run.resumable:
        raise RunError("run_busy", name=run.name)
    launched = Status("waiting", run.status().step, time.time())
    with run.owned():  # who owns a run writes its status, and nobody else
        run.report(launched)  # until the process speaks itself
    try:
        with (run.folder / "log.txt").open("ab") as log:
            process = subprocess.Popen(
                command(run),
                cwd=folders.IMPORT_ROOT,
                env=_environment(),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                **_detached(),
            )
    except OSError as error:
        raise unwritable(run.folder / "log.txt", error) from error
    reaper = threading.Thread(
        target=_reap, args=(run, process, launched), name=f"reaper-{run.name}", daemon=True
    )
    reaper.start()


def _reap(run: Run, process: "subprocess.Popen[bytes]", launched: Status) -> None:
    """Ask how a child ended, or the system keeps a place for it; say so if it never spoke.

    By then the run may have been launched anew: that is not this child's silence.
    """
    process.wait()
    if run.status() == launched:
        with suppress(ExplorerError):
            run.report(Status("interrupted", launched.step, time.time()))


def command(run: Run) -> list[str]:
    """The command that carries `run` out; it works by hand too."""
    module = [sys.executable, "-m", "explorer", "train"]
    return [*module, "--run", str(run.folder.resolve()), "--resume", "--background"]


def is_starting(status: Status) -> bool:
    """Whether a run was launched and its process has not spoken yet."""
    return status.state == "waiting" and status.pid == 0


def going() -> list[Run]:
    """The runs somebody carries out or that wait for it, the newest first."""
    return [run for run in list_runs(shelf_folder("runs")) if is_going(run)]


def is_going(run: Run) -> bool:
    """Whether somebody carries the run out or it waits for it."""
    return run.status().state in GOING


def delete(run: Run) -> None:
    """Remove a run. Raises `RunError` while it goes on, `FileError` when its folder stays."""
    run.delete()
    if run.folder.exists():
        raise unwritable(run.folder, PermissionError(13, "the folder stays"))


def before(run: Run) -> int:
    """How many jobs are done before a waiting run, the one at work among them."""
    waiting = [other.name for other in queue(run.folder.parent, run.config.device)]
    ahead = waiting.index(run.name) if run.name in waiting else 0
    busy = any(
        other.status().state in ("preparing", "running")
        and other.config.device == run.config.device
        for other in list_runs(run.folder.parent)
    )
    return ahead + busy


def _environment() -> dict[str, str]:
    """One core is left to those who look on."""
    threads = max(1, (os.cpu_count() or 2) - 1)
    return {"OMP_NUM_THREADS": str(threads), "PYTHONUNBUFFERED": "1", **os.environ}


def _detached() -> dict[str, Any]:
    """What lets a process live on when the server ends."""
    if sys.platform == "win32":
        flags = subprocess.CREATE_NEW_PROCESS_GROUP | subprocess.CREATE_NO_WINDOW
        return {"creationflags": flags}
    return {"start_new_session": True}
