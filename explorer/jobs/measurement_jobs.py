"""Measurements of a model's heads: the choice of sentences, and the command that measures."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from explorer.core.errors import EvaluationBatchError, ExplorerError, MeasurementError
from explorer.core.interventions import refuse_weights_only
from explorer.core.sites import SIDES
from explorer.data.task_names import task_of
from explorer.heads.reports.head_report import REMOVED_ON
from explorer.jobs.measurement import MeasuredSentences, Measurement, QueuedMeasurement, submit

if TYPE_CHECKING:
    from explorer.model.measurable import MeasurableModel

SourceKind = Literal["task", "lines", "pairs"]
SOURCE_KINDS: tuple[SourceKind, ...] = ("task", "lines", "pairs")

MOST_SENTENCES = 1024
MOST_CHARACTERS = 400_000


@dataclass(frozen=True, slots=True)
class Sentences:
    """The sentences to measure on.

    text: the visitor's lines, or pairs separated by a tab; empty for the task's generator.
    """

    kind: SourceKind = "task"
    size: int = 256
    seed: int = 0
    text: str = ""

    @property
    def lines(self) -> list[str]:
        """The non-empty lines; for pairs, only those with a tab."""
        lines = [line for line in self.text.splitlines() if line.strip()]
        return [line for line in lines if "\t" in line] if self.kind == "pairs" else lines

    def named(self, name: str = "") -> MeasuredSentences:
        """Description of the sentences for a list of jobs. name: as in `options`."""
        if self.kind == "task":
            return MeasuredSentences(self.kind, self.size, self.seed)
        return MeasuredSentences(name or f"your {self.kind}", min(self.size, len(self.lines)))

    def options(self, folder: Path, name: str = "") -> list[str]:
        """Options of the command that measures on them; writes their file into its work folder.

        name: of the file, and so of the evaluation batch; "" = "your lines" or "your pairs".
        """
        options = ["--sentences", str(self.size), "--seed", str(self.seed)]
        if self.kind == "task":
            return options
        given = folder / (name or f"your {self.kind}")
        given.write_text("\n".join(self.lines) + "\n", encoding="utf-8")
        return [*options, "--pairs" if self.kind == "pairs" else "--texts", str(given)]


@dataclass(frozen=True, slots=True)
class MeasurementSettings(Sentences):
    """The sentences to measure on, and the choice of measurements."""

    gradients: bool = True
    removal: bool = True


def check(
    model: "MeasurableModel", sentences: Sentences, language: str, most: int = MOST_SENTENCES
) -> None:
    """Raise `MeasurementError` or `ExplorerError` on sentences that the process would refuse, and
    on more than `most`."""
    lines = sentences.lines
    if isinstance(sentences, MeasurementSettings) and (sentences.gradients or sentences.removal):
        refuse_weights_only(model.facts)
    if sentences.size > most or len(lines) > most or len(sentences.text) > MOST_CHARACTERS:
        raise MeasurementError("measure_too_large", limit=most, characters=MOST_CHARACTERS)
    if sentences.kind == "task":
        if task_of(model.facts) is None:
            raise EvaluationBatchError("no_generator")
    else:
        _check_lines(lines, model, language)


def start(
    checkpoint: Path | bytes, name: str, settings: MeasurementSettings, digest: str
) -> QueuedMeasurement:
    """Start or queue a measurement. If the same one is active or done, return its job instead.

    checkpoint: its file; or its contents, which are written to a file called `name`.
    Raises `MeasurementError` when the queue is full, and when nothing can be written.
    """
    batch = sha256(repr(sorted(asdict(settings).items())).encode()).hexdigest()[:16]
    job = Measurement.of("heads", digest, batch)
    queued = QueuedMeasurement(job, name, settings.named())
    submit(queued, checkpoint, partial(_command, settings))
    return queued


def _command(
    settings: MeasurementSettings, folder: Path, checkpoint: Path, report: Path
) -> list[str]:
    """The arguments that measure heads."""
    command = ["measure", str(checkpoint), "--out", str(report), *settings.options(folder)]
    command += ["--importance"] * settings.gradients
    if settings.removal:
        command += ["--ablation", "--removed-on", str(REMOVED_ON)]
    return command


def _check_lines(lines: Sequence[str], model: "MeasurableModel", language: str) -> None:
    """Raise `MeasurementError` with the number of the first line that the model cannot read."""
    if not lines:
        raise EvaluationBatchError("no_sentences")
    for number, line in enumerate(lines, start=1):
        for side, text in zip(SIDES, line.split("\t"), strict=False):
            try:
                model.check_text(text, side)
            except ExplorerError as error:
                facts = {"line": number, "reason": error.in_language(language)}
                raise MeasurementError("bad_line", **facts) from error
