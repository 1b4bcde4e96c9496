"""Indexes of attention that the app builds, and the files of those that are built."""

from collections.abc import Sequence
from dataclasses import asdict
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from explorer.heads.reports.report_files import REPORT_FILES, measured_folder, newest_first
from explorer.jobs import measurement_jobs
from explorer.jobs.measurement import Measurement, QueuedMeasurement, submit
from explorer.jobs.measurement_jobs import Sentences

if TYPE_CHECKING:
    from explorer.model.measurable import MeasurableModel

MOST_SENTENCES = 5000


def check(model: "MeasurableModel", sentences: Sentences, language: str) -> None:
    """Raise `MeasurementError` or `ExplorerError` on sentences that the process would refuse."""
    measurement_jobs.check(model, sentences, language, MOST_SENTENCES)


def start(
    checkpoint: Path | bytes, name: str, sentences: Sentences, digest: str
) -> QueuedMeasurement:
    """Start or queue the building of an index. If the same one is active or done, return its job
    instead.

    `checkpoint`, `name` and errors as in `measurement_jobs.start`.
    """
    batch = sha256(repr(sorted(asdict(sentences).items())).encode()).hexdigest()[:16]
    job = Measurement.of("index", digest, batch)
    queued = QueuedMeasurement(job, name, sentences.named())
    submit(queued, checkpoint, partial(_command, sentences))
    return queued


def stored_indexes(digest: str) -> list[Path]:
    """The files of all indexes of the model with this digest, the newest first, by whichever
    command or job."""
    return newest_first(measured_folder(digest, "index"), REPORT_FILES["index"])


def _command(sentences: Sentences, folder: Path, checkpoint: Path, index: Path) -> Sequence[str]:
    """The arguments that build the index."""
    return ["search", str(checkpoint), "--index", str(index), *sentences.options(folder)]
