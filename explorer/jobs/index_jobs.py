"""Indexes of attention that the app builds."""

from collections.abc import Sequence
from dataclasses import asdict
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

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


def _command(
    sentences: Sentences, corpus: str, folder: Path, checkpoint: Path, index: Path
) -> Sequence[str]:
    """The arguments that build the index."""
    options = sentences.options(folder, corpus)
    return ["search", str(checkpoint), "--index", str(index), *options]
