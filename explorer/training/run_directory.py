"""A run: one training as a folder that anybody can read while it goes on.

    config.json             the settings, and when the run was made
    status.json             state, step, heartbeat, and the sentence of a failure
    metrics.jsonl           one line a moment; pandas.read_json(…, lines=True) reads it
    moments/000310.trace    the probe at that moment, teacher-forced
    lesson.json             what is learnt from: of a file of pairs, the counts of its rows
    pairs.tsv               that file, where it was brought to the app
    checkpoint.safetensors  the model as it was last kept
    state.safetensors       all that resuming needs
    stop                    put there by whoever wants the run to stop

Every file but metrics.jsonl is replaced whole; of metrics.jsonl a last line that a crash cut
short is left aside. So a run can be killed at any moment and goes on from its last state.
"""

import json
import os
import re
import shutil
import time
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from explorer.core.errors import ExplorerError, RunError
from explorer.core.files import write_atomically, writing
from explorer.core.trace import Trace
from explorer.training.config import TrainingConfig
from explorer.training.run_lock import is_owned, owned

SILENCE = 15.0
"""Seconds without a heartbeat after which a run counts as interrupted, unless it is owned."""

STARTING = 60.0
"""The same for a process that was launched and has not spoken yet."""

PAIRS_FILE = "pairs.tsv"
"""What a run calls the file of pairs that was brought with it."""

GOING = ("waiting", "preparing", "running")
RESUMABLE = ("new", "stopped", "failed", "interrupted")
_NAME = re.compile(r"[\w-][\w.-]{0,59}")


@dataclass(frozen=True, slots=True)
class Status:
    """How a run is doing.

    state: "new", "waiting" for its turn, "preparing" what is learnt from, "running", "stopped",
    "done", "failed" or "interrupted".
    error: key and facts of the sentence that says why it failed.
    """

    state: str
    step: int = 0
    heartbeat: float = 0.0  # seconds since 1970
    pid: int = 0
    error: tuple[str, dict[str, Any]] | None = None


@dataclass(frozen=True)
class Run:
    """A run by its folder; reading never needs torch."""

    folder: Path

    @property
    def name(self) -> str:
        return self.folder.name

    @cached_property
    def config(self) -> TrainingConfig:
        """The settings; a file of pairs in the folder is found there, wherever that is now.

        Raises `RunError` when they cannot be read.
        """
        config = TrainingConfig.from_json(self._json("config.json")["settings"])
        own = self.folder / config.pairs
        return replace(config, pairs=str(own)) if config.pairs and own.is_file() else config

    @cached_property
    def created(self) -> float:
        return float(self._json("config.json").get("created", 0.0))

    def status(self) -> Status:
        """How the run is doing now; interrupted when its heart has stopped and nobody owns it."""
        status = self._reported()
        if status.state == "interrupted" and is_owned(self.folder):
            return replace(status, state="running")  # Windows lets nobody read what is replaced
        if status.state in GOING and _is_silent(status) and not is_owned(self.folder):
            return replace(status, state="interrupted")
        return status

    def _reported(self) -> Status:
        """What was last said of the run."""
        try:
            data = json.loads((self.folder / "status.json").read_text(encoding="utf-8"))
            error = data.get("error")
            return Status(
                str(data["state"]),
                int(data["step"]),
                float(data["heartbeat"]),
                int(data["pid"]),
                (str(error[0]), dict(error[1])) if error else None,
            )
        except FileNotFoundError:
            return Status("new")
        except (OSError, ValueError, KeyError, TypeError, AttributeError, IndexError):
            return Status("interrupted")

    def moments(self) -> list[dict[str, Any]]:
        """The readable lines of the metrics, oldest first, each step once."""
        try:
            lines = (self.folder / "metrics.jsonl").read_text(encoding="utf-8", errors="replace")
        except OSError:
            return []
        moments: dict[int, dict[str, Any]] = {}
        for line in lines.split("\n"):  # texts in it may hold what else counts as a line end
            try:
                moment = json.loads(line)
                moments[int(moment["step"])] = moment
            except (ValueError, KeyError, TypeError):
                continue  # damaged: the others are still good
        return [moments[step] for step in sorted(moments)]

    def lesson(self) -> dict[str, Any]:
        """What is known of what is learnt from; empty before the training has begun."""
        try:
            found = json.loads((self.folder / "lesson.json").read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return found if isinstance(found, dict) else {}

    def probe(self, step: int) -> Trace:
        """The probe at a moment. Raises `TraceError` when it is not there or damaged."""
        return Trace.load(self.probe_path(step))

    def probe_path(self, step: int) -> Path:
        return self.folder / "moments" / f"{step:06}.trace"

    @property
    def checkpoint_path(self) -> Path:
        return self.folder / "checkpoint.safetensors"

    @property
    def state_path(self) -> Path:
        return self.folder / "state.safetensors"

    @property
    def resumable(self) -> bool:
        """Whether something is left to be done and nobody is doing it."""
        return self.status().state in RESUMABLE and not is_owned(self.folder, leaving=True)

    def ask_to_stop(self) -> None:
        """Leave word for the run to stop after its present step."""
        write_atomically(self.folder / "stop", b"")

    def asked_to_stop(self) -> bool:
        return (self.folder / "stop").exists()

    def withdraw_stop(self) -> None:
        (self.folder / "stop").unlink(missing_ok=True)

    def report(self, status: Status) -> None:
        """Write how the run is doing."""
        write_atomically(self.folder / "status.json", json.dumps(asdict(status)).encode())

    def describe_lesson(self, facts: dict[str, Any]) -> None:
        """Write what is learnt from."""
        text = json.dumps(facts, ensure_ascii=False)
        write_atomically(self.folder / "lesson.json", text.encode())

    def append(self, moment: dict[str, Any]) -> None:
        """Add one line to the metrics. Raises `FileError` when there is no room for it."""
        path = self.folder / "metrics.jsonl"
        with writing(path), path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(moment, ensure_ascii=False) + "\n")

    def forget_after(self, step: int) -> None:
        """Leave out what came after `step`: a resumed run does it again."""
        kept = [json.dumps(m, ensure_ascii=False) for m in self.moments() if m["step"] <= step]
        text = "".join(line + "\n" for line in kept)
        write_atomically(self.folder / "metrics.jsonl", text.encode())
        for path in (self.folder / "moments").glob("*.trace"):
            if path.stem.isdigit() and int(path.stem) > step:
                path.unlink(missing_ok=True)

    def delete(self) -> None:
        """Remove the folder. Raises `RunError` while the run goes on."""
        if self.status().state in GOING:
            raise RunError("run_busy", name=self.name)
        if self.folder.exists():
            with self.owned():
                shutil.rmtree(self.folder, ignore_errors=True)
            shutil.rmtree(self.folder, ignore_errors=True)  # Windows keeps a lock that is held

    def owned(self) -> AbstractContextManager[None]:
        """Be the one process that carries this run out. Raises `RunError` when one is."""
        return owned(self.folder)

    def _json(self, file: str) -> dict[str, Any]:
        try:
            data: dict[str, Any] = json.loads((self.folder / file).read_text(encoding="utf-8"))
            data["settings"]
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise RunError("damaged_run", name=self.name, file=file) from error
        return data


def create_run(folder: Path, config: TrainingConfig) -> Run:
    """Make the folder of a new run. Raises `RunError` when the name will not do."""
    if not _NAME.fullmatch(folder.name):
        raise RunError("bad_run_name", name=folder.name[:60])
    run = Run(folder)
    if (folder / "config.json").exists():
        raise RunError("run_exists", name=run.name)
    description = {"settings": asdict(config), "created": time.time()}
    text = json.dumps(description, ensure_ascii=False, indent=1)
    write_atomically(folder / "config.json", text.encode())
    return run


def find_run(root: Path, name: str) -> Run:
    """The run called `name` under `root`. Raises `RunError` when there is none."""
    if not _NAME.fullmatch(name) or not (root / name / "config.json").is_file():
        raise RunError("no_run", name=name[:60])
    return Run(root / name)


def list_runs(root: Path) -> list[Run]:
    """The readable runs under `root`, the newest first."""
    runs = []
    for path in root.glob("*/config.json"):
        run = Run(path.parent)
        try:
            runs.append((run.created, run.name, run))
            _ = run.config
        except ExplorerError:
            runs = [entry for entry in runs if entry[2] is not run]
    return [run for _, _, run in sorted(runs, key=lambda entry: entry[:2], reverse=True)]


def queue(root: Path, device: str) -> list[Run]:
    """The runs that wait for their turn on `device`, the first one first."""
    waiting = [
        run
        for run in list_runs(root)
        if run.config.device == device and run.status().state == "waiting"
    ]
    return sorted(waiting, key=lambda run: (run.created, run.name))


def _is_silent(status: Status) -> bool:
    """Whether there is no sign of life: the process has ended, or said nothing for long."""
    launched = status.state == "waiting" and status.pid == 0
    silence = time.time() - status.heartbeat
    return silence > (STARTING if launched else SILENCE) or not _is_alive(status.pid)


def _is_alive(pid: int) -> bool:
    """Whether a process of that number lives; on Windows only heartbeat and lock tell."""
    if os.name == "nt" or pid <= 0:
        return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
