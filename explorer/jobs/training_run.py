"""A run: the job of one training.

Its folder has the files of every job, see `folder`, and those of a training, see `recorded_run`.
`error` of a failed run in status.json is ["diverged", {"step": 150, "loss": "31.4", …}] if its loss
exploded, or names another sentence.

Every file but metrics.jsonl is replaced atomically. So a run can be killed at any time and
resumes from its saved state.
"""

import json
import re
import shutil
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, ClassVar

from explorer.core.errors import ExplorerError, RunError, TrainingError
from explorer.core.files import log_skipped, printable, unwritable, write_atomically
from explorer.core.number_format import typed_number
from explorer.jobs.folder import JobFolder
from explorer.jobs.lock import is_locked, locked
from explorer.jobs.status import RESUMABLE_STATES
from explorer.training import run_metrics
from explorer.training.config import TrainingConfig
from explorer.training.recorded_run import RunFiles

_NAME = re.compile(r"[\w-][\w.-]{0,59}")


@dataclass(frozen=True)
class Run(RunFiles, JobFolder):
    """A run, given by its folder."""

    DESCRIPTION: ClassVar[str] = "config.json"

    def lane(self) -> "list[Run]":
        device = self.config.device
        return [run for run in list_runs(self.folder.parent) if run.config.device == device]

    @property
    def resumable(self) -> bool:
        """Whether the run has steps left, can be resumed, and no process carries it out."""
        status = self.status()
        left = status.state in RESUMABLE_STATES and not status.diverged
        return left and not is_locked(self.folder, ending=True)

    def refuse_diverged(self) -> None:
        """Raises `RunError` when the run has diverged: it cannot be resumed."""
        if self.status().diverged:
            raise RunError("run_diverged", name=self.name)

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
        if self.active:
            raise RunError("run_busy", name=self.name)
        if self.folder.exists():
            with locked(self.folder):
                shutil.rmtree(self.folder, ignore_errors=True)
            shutil.rmtree(self.folder, ignore_errors=True)  # Windows keeps the held lock's file
        if self.folder.exists():
            raise unwritable(self.folder, PermissionError(13, "the folder stays"))

    def discard(self, *, with_folder: bool) -> None:
        """Undo `create_run`, before the first step.

        with_folder: delete the folder, if `create_run` made it. Otherwise it may hold other files,
        and only config.json and status.json are deleted.
        """
        if self.is_deleted:
            return
        if with_folder:
            self.delete()
            return
        for name in ("config.json", "status.json"):
            (self.folder / name).unlink(missing_ok=True)

    def broke_off(self, error: Exception) -> ExplorerError:
        return TrainingError("broke_off", name=self.name, kind=type(error).__name__)


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
