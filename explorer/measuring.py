"""Measure the heads of a model in a process of its own, for everybody who looks at that model.

The command line does the work, `python -m explorer heads`, on a copy of the model that it reads
itself. What it found is kept by the model's digest and stays when the server ends; what ships
with a model is found in the same way.
"""

import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from explorer.errors import ExplorerError
from explorer.findings import Findings
from explorer.language import say
from explorer.library import FOLDER_VARIABLE

if TYPE_CHECKING:
    from explorer.tracing import ExplorableModel

FINDINGS_VARIABLE = "EXPLORER_FINDINGS"
"""The environment variable that names another folder for what is measured."""

Kind = Literal["task", "lines", "pairs"]
KINDS: tuple[Kind, ...] = ("task", "lines", "pairs")

MOST_SENTENCES = 1024
MOST_CHARACTERS = 400_000
MOST_KEPT = 16
"""Batches kept of one model; the oldest makes way."""

REMOVED_ON = 64
"""Sentences on which each head is removed in turn."""

_REPOSITORY = Path(__file__).resolve().parent.parent
_RESULT = "findings.json"
_CANCELLED = "cancelled"

_lock = threading.Lock()
_going: dict[Path, "subprocess.Popen[bytes]"] = {}


class MeasuringError(ExplorerError):
    """A measurement that cannot be made; its sentences are the page's."""

    def in_language(self, language: str) -> str:
        return say(f"heads.{self.key}", language, **self.facts)


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
    def going(self) -> bool:
        with _lock:
            return self.folder in _going

    @property
    def done(self) -> bool:
        return (self.folder / _RESULT).exists()

    @property
    def share(self) -> float:
        """How much is done, 0 to 1."""
        try:
            return min(max(float((self.folder / "progress").read_text(encoding="utf-8")), 0.0), 1.0)
        except (OSError, ValueError):
            return 0.0

    @property
    def cancelled(self) -> bool:
        return (self.folder / _CANCELLED).exists()

    def findings(self) -> Findings:
        """What was found. Raises `TraceError` before it is done."""
        return Findings.load(self.folder / _RESULT)

    @property
    def reason(self) -> str:
        """The last line the process wrote."""
        try:
            log = (self.folder / "log.txt").read_text(encoding="utf-8", errors="replace")
        except OSError:
            return ""
        lines = [line for line in log.replace("\r", "\n").split("\n") if line.strip()]
        return lines[-1].removeprefix("error: ")[:300] if lines else ""

    def cancel(self) -> None:
        """End the process; what it had measured so far is lost."""
        with _lock:
            process = _going.get(self.folder)
        if process is not None:
            (self.folder / _CANCELLED).touch()
            process.terminate()


def known(digest: str) -> list[Findings]:
    """All that was measured of the model with this digest: what ships first, then the newest."""
    shipped = [_read(path, path.stat().st_mtime_ns) for path in sorted(_shelf().glob("*.json"))]
    paths = sorted(_own(digest).glob(f"*/{_RESULT}"), key=_changed, reverse=True)
    own = [_read(path, _changed(path)) for path in paths]
    return [found for found in (*shipped, *own) if found and found.facts.get("digest") == digest]


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
        shutil.rmtree(job.folder, ignore_errors=True)
        try:
            job.folder.mkdir(parents=True)
            _going[job.folder] = _launch(job.folder, source or _written(model, job.folder), batch)
        except OSError as error:
            reason = error.strerror or type(error).__name__
            raise MeasuringError("measure_failed", reason=reason) from error
    threading.Thread(target=_wait, args=(job.folder,), name="measuring", daemon=True).start()
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
            cwd=_REPOSITORY,
            env={**os.environ, "OMP_NUM_THREADS": "1", "PYTHONUNBUFFERED": "1"},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
        )


def _wait(folder: Path) -> None:
    """When the process ends, put its result where it is found."""
    try:
        if _going[folder].wait() == 0:
            (folder / "making.json").replace(folder / _RESULT)
            _make_room(folder.parent)
    finally:
        with _lock:
            del _going[folder]


def _written(model: "ExplorableModel", folder: Path) -> Path:
    from explorer.checkpoint import save_checkpoint

    path = folder / f"{model.name}.safetensors"
    save_checkpoint(model.checkpoint, path)
    return path


def _check_task(model: "ExplorableModel") -> None:
    from explorer.sentences import task_sentences

    task_sentences(model, 1)


def _check_lines(lines: Sequence[str], limit: int, model: "ExplorableModel", language: str) -> None:
    """Raise `MeasuringError`, naming the line, on one that the model cannot read."""
    from explorer.errors import InterventionError, VocabularyError

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
    return Path(os.environ.get(FINDINGS_VARIABLE) or _REPOSITORY / "findings") / digest


def _shelf() -> Path:
    return Path(os.environ.get(FOLDER_VARIABLE) or _REPOSITORY / "checkpoints") / "heads"


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
