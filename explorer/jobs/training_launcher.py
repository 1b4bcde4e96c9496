"""Start and resume runs, each in its own process, and find them.

This module has no state: everything is in the folders of the runs, so a reload, a second tab, a
restarted server and the command line find the same runs.
"""

import os
import re
import shutil
import sys
from dataclasses import replace
from pathlib import Path

from explorer.core import folders
from explorer.core.errors import ExplorerError, RunError
from explorer.core.files import unwritable, write_atomically
from explorer.jobs import process
from explorer.jobs.queue import in_order
from explorer.jobs.training_run import Run, create_run, find_run, list_runs
from explorer.training.config import TrainingConfig
from explorer.training.recorded_run import PAIRS_FILE

RUN_ROOTS = ("runs", "recorded")
"""The names of the run roots: runs of this machine, and runs that ship."""

_NO_NAME = re.compile(r"[^\w]+")
_LONGEST_NAME = 40
_NO_MASK = "without-mask"  # part of the name of a run without the causal mask


def run_root(name: str) -> Path:
    """The folder of the run root called `name`. Raises `RunError` when there is none."""
    if name == "runs":
        return folders.runs()
    if name == "recorded":
        return folders.shipped_runs()
    raise RunError("no_run", name=name[:60])


def find(root: str, name: str) -> Run:
    """A run by its root and its name, which is never used as a path. Raises `RunError`."""
    return find_run(run_root(root), name)


def key_of(run: Run) -> str:
    """Run root and name, "runs/reverse-3"; a run in any other folder is taken for one of "runs"."""
    return f"{'recorded' if run.folder.parent == folders.shipped_runs() else 'runs'}/{run.name}"


def new_folder(subject: str) -> Path:
    """A new empty folder with a free name, "reverse-3"; safe when two servers ask at once.

    Raises `FileError` when it cannot be made.
    """
    number = 1
    while True:
        folder = run_root("runs") / f"{subject}-{number}"
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
    """Create a run and launch it. Raises `ExplorerError` when it cannot be written."""
    subject = config.task if config.causal else f"{config.task}-{_NO_MASK}"
    run = create_run(new_folder(subject), config)
    launch(run)
    return run


def start_pairs(config: TrainingConfig, data: bytes, name: str) -> Run:
    """As `start`, on the file of pairs `data` called `name`, which is saved in the run's folder.

    Deletes the folder again when something cannot be written.
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
    """Carry out a run from its saved state, in a process that outlives this one.

    Raises `RunError` when a process already does or the run has diverged, `FileError` when
    nothing can be written.
    """
    run.refuse_diverged()
    if not run.resumable:
        raise RunError("run_busy", name=run.name)
    process.launch(run, command(run), _environment())


def command(run: Run) -> list[str]:
    """The command that carries out `run`; it also works in a shell."""
    module = [sys.executable, "-m", "explorer", "train"]
    return [*module, "--run", str(run.folder.resolve()), "--resume", "--background"]


def active_runs() -> list[Run]:
    """The runs of this machine that run or wait, the newest first."""
    return [run for run in list_runs(run_root("runs")) if run.active]


def jobs_ahead(run: Run) -> int:
    """Number of runs before a waiting one on its device, including the active one."""
    names = [other.name for other in in_order(run.lane())]
    return names.index(run.name) if run.name in names else 0


def _environment() -> dict[str, str]:
    """The child's environment: one core is left to the server."""
    threads = max(1, (os.cpu_count() or 2) - 1)
    return {"OMP_NUM_THREADS": str(threads), **os.environ}
