"""Measure the heads of a model in a process of its own, for everybody who looks at that model.

The command line does the work, `python -m explorer heads`, on a copy of the model that it reads
itself. What it found is kept by the model's digest and stays when the server ends; what ships
with a model is found in the same way.
"""

import atexit
import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from explorer.core import folders
from explorer.core.errors import ExplorerError
from explorer.core.files import reason
from explorer.heads.head_report import Findings

if TYPE_CHECKING:
    from explorer.model.explorable import ExplorableModel

Kind = Literal["task", "lines", "pairs"]
KINDS: tuple[Kind, ...] = ("task", "lines", "pairs")

MOST_SENTENCES = 1024
MOST_CHARACTERS = 400_000
MOST_KEPT = 16
"""Batches kept of one model; the oldest makes way."""

REMOVED_ON = 64
"""Sentences on which each head is removed in turn."""

_RESULT = "findings.json"
_ABANDONED = 24 * 3600  # seconds after which nobody works in a folder any more
_PATIENCE = 5.0  # seconds a process has to end in

_lock = threading.Lock()
_going: dict[Path, "subprocess.Popen[bytes]"] = {}
_cancelled: set[Path] = set()
_reasons: dict[Path, str] = {}
"""The last words of what failed."""


class MeasuringError(ExplorerError):
    """A measurement that cannot be made."""

    section = "heads"


@dataclass(frozen=True, slots=True)
class Batch:
    """What to measure on, and how much to measure.

    text: the person's lines, or pairs with a tab between; empty for the task's generator.
    """

    kind: Kind = "task"
    size: int = 256
    seed: int = 0
    text: str = ""
    gradients: bool = True
    removal: bool = True


@dataclass(frozen=True, slots=True)
class Job:
    """A measurement under way or ended: its folder, and whether somebody works on it."""

    folder: Path

    @property
    def work(self) -> Path:
        """Where this server keeps what the process needs and writes, until it ends."""
        return self.folder / f"making-{os.getpid()}"

    @property
    def going(self) -> bool:
        with _lock:
            return self.folder in _going

    @property
    def done(self) -> bool:
        return (self.folder / _RESULT).exists()

    @property
    def share(self) -> float:
        """How much is done, 0 to 1."""
        if self.done:
            return 1.0
        try:
            return min(max(float((self.work / "progress").read_text(encoding="utf-8")), 0.0), 1.0)
        except (OSError, ValueError):
            return 0.0

    @property
    def cancelled(self) -> bool:
        return self.folder in _cancelled

    @property
    def key(self) -> str:
        """By which what was found is told from all else; see `Kept`."""
        return _key(self.folder / _RESULT)

    @property
    def reason(self) -> str:
        """The last line the process wrote before it failed."""
        return _reasons.get(self.folder, "")

    def cancel(self) -> None:
        """End the process; what it had measured so far is lost."""
        with _lock:
            process = _going.get(self.folder)
            if process is not None:
                _cancelled.add(self.folder)
                process.terminate()


@dataclass(frozen=True, slots=True)
class Kept:
    """What was measured, and by what it is found: two batches may share a name and a size.

    key: of the file it lies in and of when that was written.
    written: seconds since 1970.
    """

    findings: Findings
    key: str
    written: float


def known(digest: str) -> list[Kept]:
    """All that was measured of the model with this digest: what ships first, then the newest."""
    paths = sorted(folders.shipped_reports().glob("*.json"))
    paths += sorted(_own(digest).glob(f"*/{_RESULT}"), key=_changed, reverse=True)
    kept = []
    for path in paths:
        changed = _changed(path)
        found = _read(path, changed)
        if found and found.facts.get("digest") == digest:
            kept.append(Kept(found, _key(path), changed / 1e9))
    return kept


def under_way(digest: str) -> Job | None:
    """The measurement of the model with this digest that goes on, whoever asked for it."""
    own = _own(digest)
    with _lock:
        return next((Job(folder) for folder in _going if folder.parent == own), None)


def check(model: "ExplorableModel", batch: Batch, language: str) -> None:
    """Raise `MeasuringError` or `ExplorerError` on what the process would stumble over."""
    lines = texts(batch)
    if (
        batch.size > MOST_SENTENCES
        or len(lines) > MOST_SENTENCES
        or len(batch.text) > MOST_CHARACTERS
    ):
        raise MeasuringError("measure_too_large", limit=MOST_SENTENCES, characters=MOST_CHARACTERS)
    if batch.kind == "task":
        _check_task(model)
        return
    limit = model.transformer.config.max_length
    _check_lines(lines, limit, model, language)


def start(model: "ExplorableModel", source: Path | None, batch: Batch, digest: str) -> Job:
    """Begin to measure, or look on where the very same is already measured.

    source: the checkpoint's file; without one the model is written down for the process.
    Raises `MeasuringError` while another measurement is under way.
    """
    name = sha256(repr(sorted(asdict(batch).items())).encode()).hexdigest()[:16]
    job = Job(_own(digest) / name)
    if job.done or job.going:
        return job
    with _lock:
        if _going:
            raise MeasuringError("measure_busy")
        _cancelled.discard(job.folder)
        _reasons.pop(job.folder, None)
        _clean(job)
        try:
            job.work.mkdir(parents=True)
            _going[job.folder] = _launch(job.work, source or _written(model, job.work), batch)
        except OSError as error:
            _clean(job)
            raise MeasuringError("measure_failed", reason=reason(error)) from error
        except ExplorerError:
            _clean(job)
            raise
    threading.Thread(target=_wait, args=(job,), name="measuring", daemon=True).start()
    return job


def texts(batch: Batch) -> list[str]:
    """The lines that are not empty; of a file of pairs, those that are pairs."""
    lines = [line for line in batch.text.splitlines() if line.strip()]
    return [line for line in lines if "\t" in line] if batch.kind == "pairs" else lines


def _launch(folder: Path, checkpoint: Path, batch: Batch) -> "subprocess.Popen[bytes]":
    command = [sys.executable, "-m", "explorer", "heads", str(checkpoint.resolve())]
    command += ["--sentences", str(batch.size), "--seed", str(batch.seed), "--background"]
    if batch.kind != "task":
        given = folder / f"your {batch.kind}"  # the batch's name, where its figures are shown
        given.write_text("\n".join(texts(batch)) + "\n", encoding="utf-8")
        command += [f"--{batch.kind}", str(given)]
    command += ["--importance"] * batch.gradients
    command += ["--ablation", "--removed-on", str(REMOVED_ON)] if batch.removal else []
    command += ["--progress", str(folder / "progress"), "--out", str(folder / "making.json")]
    with (folder / "log.txt").open("wb") as log:
        return subprocess.Popen(
            command,
            cwd=folders.IMPORT_ROOT,
            env={**os.environ, "OMP_NUM_THREADS": "1", "PYTHONUNBUFFERED": "1"},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
        )


def _wait(job: Job) -> None:
    """When the process ends, put its result where it is found; nothing else of it stays."""
    code = _going[job.folder].wait()
    with _lock:
        try:
            if code == 0:
                (job.work / "making.json").replace(job.folder / _RESULT)
                _make_room(job.folder.parent)
            elif job.folder not in _cancelled:
                _reasons[job.folder] = _last_line(job.work / "log.txt")
        except OSError as error:
            _reasons[job.folder] = reason(error)
        finally:
            _clean(job)
            del _going[job.folder]


def _last_line(path: Path) -> str:
    try:
        log = path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    lines = [line for line in log.replace("\r", "\n").split("\n") if line.strip()]
    return lines[-1].removeprefix("error: ")[:300] if lines else ""


def _clean(job: Job) -> None:
    """Remove what a process worked with, also what an earlier server could not; and the folders
    that are empty then."""
    shutil.rmtree(job.work, ignore_errors=True)
    for path in job.folder.glob("making-*"):
        if _changed(path) / 1e9 < time.time() - _ABANDONED:
            shutil.rmtree(path, ignore_errors=True)
    with suppress(OSError):
        job.folder.rmdir()
        job.folder.parent.rmdir()


@atexit.register
def end_all() -> None:
    """End what is under way, with the server: nobody could look on or cancel it any more."""
    going = dict(_going)  # without the lock, which a thread may hold for ever by now
    for process in going.values():
        process.terminate()
    for folder, process in going.items():
        try:
            process.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
        _clean(Job(folder))


def _written(model: "ExplorableModel", folder: Path) -> Path:
    from explorer.model.checkpoint import save_checkpoint

    path = folder / f"{model.name}.safetensors"
    save_checkpoint(model.checkpoint, path)
    return path


def _check_task(model: "ExplorableModel") -> None:
    from explorer.heads.evaluation_batches import task_sentences

    task_sentences(model, 1)


def _check_lines(lines: Sequence[str], limit: int, model: "ExplorableModel", language: str) -> None:
    """Raise `MeasuringError`, naming the line, on one that the model cannot read."""
    from explorer.core.errors import InterventionError, VocabularyError

    if not lines:
        raise InterventionError("no_sentences")
    sides: list[tuple[str, Callable[[str], list[int]]]] = [
        ("long_source", model.source_vocabulary.encode),
        ("long_target", model.target_vocabulary.encode),
    ]
    for number, line in enumerate(lines, start=1):
        for (key, encode), text in zip(sides, line.split("\t"), strict=False):
            try:
                got = len(encode(text)) + 1
                if got > limit:
                    raise VocabularyError(key, got=got, limit=limit)
            except ExplorerError as error:
                reason = error.in_language(language)
                raise MeasuringError("bad_line", line=number, reason=reason) from error


def _make_room(folder: Path) -> None:
    """Forget the oldest batches of one model."""
    kept = sorted(folder.glob(f"*/{_RESULT}"), key=_changed, reverse=True)
    for path in kept[MOST_KEPT:]:
        shutil.rmtree(path.parent, ignore_errors=True)


def _own(digest: str) -> Path:
    return folders.reports() / digest


def _key(path: Path) -> str:
    return f"{path.parent.name}/{path.name} {_changed(path)}"


def _changed(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0


@lru_cache(maxsize=64)
def _read(path: Path, changed: int) -> Findings | None:
    """The findings in a file; None when it holds none."""
    try:
        return Findings.load(path)
    except ExplorerError:
        return None
