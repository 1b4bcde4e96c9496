"""Indexes of attention that the app builds, and the files of those that are built."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from explorer.heads.reports.report_files import (
    REPORT_FILES,
    Stored,
    measured_folder,
    newest_first,
    stored,
)
from explorer.jobs import measurement_jobs
from explorer.jobs.measurement import Measurement, QueuedMeasurement, submit
from explorer.jobs.measurement_jobs import Sentences

if TYPE_CHECKING:
    from explorer.model.measurable import MeasurableModel

MOST_SENTENCES = 5000


@dataclass(frozen=True, slots=True)
class IndexFile:
    """A file that holds an index. name, sentences: of its corpus."""

    path: Path
    name: str
    sentences: int


def check(model: "MeasurableModel", sentences: Sentences, language: str) -> None:
    """Raise `MeasurementError` or `ExplorerError` on sentences that the process would refuse."""
    measurement_jobs.check(model, sentences, language, MOST_SENTENCES)


def start(
    checkpoint: Path | bytes, name: str, sentences: Sentences, digest: str, corpus: str = ""
) -> QueuedMeasurement:
    """Start or queue the building of an index. If the same one is active or done, return its job
    instead.

    corpus: the name of the sentences; "" = those of the visitor, or of the model's task.
    `checkpoint`, `name` and errors as in `measurement_jobs.start`.
    """
    described = repr((sorted(asdict(sentences).items()), corpus))
    batch = sha256(described.encode()).hexdigest()[:16]
    job = Measurement.of("index", digest, batch)
    queued = QueuedMeasurement(job, name, sentences.named(corpus))
    submit(queued, checkpoint, partial(_command, sentences, corpus))
    return queued


def stored_indexes(digest: str) -> list[Stored[IndexFile]]:
    """All indexes of the model with this digest, the newest first, by whichever command or job."""
    paths = newest_first(measured_folder(digest, "index"), REPORT_FILES["index"])
    return stored(_described, paths)


def _described(path: Path) -> IndexFile:
    """Raises `ExplorerError` on a file that holds no index."""
    from explorer.heads.search.attention_index import open_index  # late: with torch

    index = open_index(path)
    return IndexFile(path, index.facts["name"], len(index))


def _command(
    sentences: Sentences, corpus: str, folder: Path, checkpoint: Path, index: Path
) -> Sequence[str]:
    """The arguments that build the index."""
    options = sentences.options(folder, corpus)
    return ["search", str(checkpoint), "--index", str(index), *options]
