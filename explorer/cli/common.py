"""Code that several commands share: a type of option, a lower priority, and an end with the
parent."""

import argparse
import os
import shutil
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from explorer.core.errors import (
    ConfigError,
    EvaluationBatchError,
    ExplorerError,
    FileError,
    MeasurementError,
    RemovedError,
    VocabularyError,
)
from explorer.core.memory import limit_memory, ran_out_of_memory
from explorer.core.number_format import MOST_DIGITS, typed_number
from explorer.core.vocabulary import shorten

if TYPE_CHECKING:
    from explorer.data.column_guess import Rows
    from explorer.model.evaluation_batch import EvaluationBatch
    from explorer.model.explorable import ExplorableModel
    from explorer.model.huggingface.traced_model import HuggingFaceModel
    from explorer.model.measurable import MeasurableModel

LEAST_MEMORY = 512 * 2**20
"""Least memory, in bytes, with which a job can load its libraries, whatever it measures."""

LARGEST_SEED = 2**63 - 1
"""For the generators of torch, whose seeds have 64 bits."""


def comma_list(text: str) -> tuple[str, ...]:
    """The entries of an option, separated by commas, or by spaces if it has none."""
    return tuple(entry.strip() for entry in (text.split(",") if "," in text else text.split()))


def whole_number(text: str) -> int:
    """The value of an option that counts something. It may have a sign, which a later check
    refuses."""
    number = typed_number(text.removeprefix("-"))
    if number is None:
        raise argparse.ArgumentTypeError(
            f"write a whole number of at most {MOST_DIGITS} digits, not {shorten(text)!r}"
        )
    return -number if text.startswith("-") else number


def add_model(command: argparse.ArgumentParser) -> None:
    """Add the option of the model, which a command opens with `located`, and whether it may be
    fetched."""
    command.add_argument(
        "model",
        type=Path,
        help="a checkpoint, the name of one that ships, a model directory, or the name of a model "
        "in the cache of the hub, such as openai-community/gpt2",
    )
    command.add_argument(
        "--download", action="store_true", help="fetch the model from the hub where it is not here"
    )


class _Removed(argparse.Action):
    """Raise the `RemovedError` whose sentence `metavar` names."""

    def __call__(self, *_: object) -> None:
        raise RemovedError(str(self.metavar))


def add_removed(command: argparse.ArgumentParser, sentence: str, *options: str) -> None:
    """Answer each of these options of earlier versions with a sentence that names what remains."""
    for option in options:
        command.add_argument(
            option, nargs="?", action=_Removed, metavar=sentence, help=argparse.SUPPRESS
        )


def opened(options: argparse.Namespace) -> "ExplorableModel | HuggingFaceModel":
    """The model that the options name, in their languages; its notes are printed. Raises as
    `explorer.load`, and `ConfigError` on a language."""
    from explorer.model.opening import load

    model = load(options.model, download=options.download)
    for note in model.notes:
        print(f"note: {note}", file=sys.stderr)
    return model.in_languages(options.source_language, options.target_language)


def check_report(path: Path | None, inputs: Iterable[Path | None]) -> None:
    """Raise `FileError` if a report could not be written to `path`, or would replace one of
    `inputs`."""
    from explorer.core.files import check_output

    if path is not None:
        if path.suffix not in (".csv", ".json"):
            raise FileError("bad_report_suffix", name=path.name)
        check_output(path, inputs)


def add_job_options(command: argparse.ArgumentParser) -> None:
    """Add the options of a command that the app runs in a process of its own."""
    command.add_argument("--progress", type=Path, help="a file for the share done")
    command.add_argument("--background", action="store_true", help="run at a low priority")
    command.add_argument(
        "--end-with-parent", action="store_true", help="end when the standard input is closed"
    )
    command.add_argument("--job", type=Path, help=argparse.SUPPRESS)  # the folder of a measurement
    command.add_argument("--most-memory", type=int, metavar="BYTES", help="end above this (Linux)")


def as_job(run: Callable[[argparse.Namespace], int]) -> Callable[[argparse.Namespace], int]:
    """The function of a command, run only after these options are applied.

    Raises `MeasurementError` if the memory is not enough, otherwise as `run`.
    """

    def run_job(options: argparse.Namespace) -> int:
        if options.background:
            lower_priority()
        if options.end_with_parent:
            end_with_parent(options.job)
        if options.job is None:
            return within_memory(options)
        from explorer.jobs.measurement import Measurement, carry_out

        job = Measurement.at(options.job)
        options.progress = job.progress_path
        return carry_out(job, lambda: within_memory(options))

    def within_memory(options: argparse.Namespace) -> int:
        # Imported before the limit is set: its libraries may need more than that.
        import pandas  # noqa: F401

        if options.most_memory:
            if options.most_memory < LEAST_MEMORY:
                raise MeasurementError("measure_little_memory", least=LEAST_MEMORY // 2**20)
            limit_memory(options.most_memory)
        try:
            return run(options)
        except (MemoryError, RuntimeError) as error:
            if not ran_out_of_memory(error):
                raise
            in_app = options.job is not None
            raise MeasurementError(f"measure_memory{'_app' if in_app else ''}") from error

    return run_job


def progress_writer(path: Path | None) -> Callable[[float], None]:
    """Function that writes the share done to a file, if there is one. Raises `FileError`, now and
    when called, if the file cannot be written."""
    from explorer.core.files import check_output, writing

    if path is not None:
        check_output(path)

    def write(share: float) -> None:
        if path is not None:
            with writing(path):
                path.write_text(f"{share:.3f}", encoding="utf-8")

    return write


@contextmanager
def progress_bar(write: Callable[[float], None]) -> Iterator[Callable[[float], None]]:
    """A progress bar; yields a function that shows the share done, and writes it with `write`."""
    from tqdm import tqdm

    with tqdm(total=1.0, bar_format="{percentage:3.0f} % |{bar}| {remaining}") as bar:

        def show(share: float) -> None:
            bar.update(share - bar.n)
            write(share)

        yield show


def lower_priority() -> None:
    """Lower the priority of this process, so that a server on this machine stays responsive."""
    if sys.platform == "win32":
        import ctypes

        below_normal = 0x00004000
        kernel = ctypes.windll.kernel32
        kernel.SetPriorityClass(kernel.GetCurrentProcess(), below_normal)
    else:
        os.nice(10)


def end_with_parent(folder: Path | None = None) -> None:
    """End this process, after deleting `folder`, as soon as its standard input is closed. The
    system closes it when the process that started this one ends, even if that was killed."""

    def wait_for_end_of_input() -> None:
        while os.read(0, 1):  # not sys.stdin: Python could not end while a thread reads that
            pass
        if folder is not None:
            shutil.rmtree(folder, ignore_errors=True)
        os._exit(1)

    threading.Thread(target=wait_for_end_of_input, name="parent", daemon=True).start()


@contextmanager
def asking_for_translator(name: str, facts: Mapping[str, Any]) -> Iterator[None]:
    """Raise `VocabularyError` that recommends a translator if the block finds a symbol that a model
    of a toy task does not know. name, facts: of the model."""
    from explorer.data.task_names import task_of

    try:
        yield
    except ExplorerError as error:
        reason = error.facts.get("reason", error)  # of one row
        task = task_of(facts)
        if (
            task is None
            or not isinstance(reason, VocabularyError)
            or reason.key != "unknown_symbol"
        ):
            raise
        raise VocabularyError("needs_translator", name=name, task=task, **reason.facts) from error


def pair_columns(path: str | Path, given: Sequence[str] | None) -> Sequence[str]:
    """`given`, or without it the columns of a file of pairs that hold texts, by number.

    Raises `FileError`, and `PairsError` if these columns are not clear.
    """
    return given or tuple(str(index + 1) for index in text_columns_of(path)[1])


def text_columns_of(path: str | Path) -> "tuple[Rows, tuple[int, int]]":
    """The first rows of a file of pairs, and the indices of the columns that hold texts. Raises as
    `pair_columns` does."""
    from explorer.core.files import as_path
    from explorer.data.column_guess import first_rows, text_columns
    from explorer.data.parallel_corpus import read_table

    path = as_path(path)
    rows = first_rows(read_table(path), path.name)
    return rows, text_columns(rows, path.name)


def add_sentences(command: argparse.ArgumentParser, *, seed: str, pairs: str = "") -> None:
    """Add the options of `evaluation_sentences` and of their languages.

    seed: what else it is the seed of. pairs: what else is measured on pairs.
    """
    command.add_argument(
        "--sentences", type=whole_number, default=256, help="how many (default: 256)"
    )
    command.add_argument(
        "--seed", type=int, default=0, help=f"of the task's generator{seed} (default: 0)"
    )
    command.add_argument(
        "--pairs",
        type=Path,
        help=f"sentences and translations, a table (TSV or CSV, UTF-8): their dev part{pairs}",
    )
    command.add_argument(
        "--columns",
        type=comma_list,
        help="of that file (default: 1 2, or the two with texts where those have numbers alone)",
    )
    command.add_argument(
        "--texts",
        type=Path,
        help="one text a line: sources, whose targets are decoded; or of a decoder or encoder "
        "alone, whole texts, whose next or masked tokens are predicted",
    )
    command.add_argument(
        "--labels",
        type=Path,
        help="of a classifier or tagger: a text, a tab and its label a line, or two texts and a "
        "label; of a tagger a tag for each word, separated by spaces",
    )
    add_languages(command)


def add_languages(command: argparse.ArgumentParser) -> None:
    """Add the options of the languages of a text and of the output, by the model's own codes, for a
    model that has such."""
    for name, what in (("source", "text"), ("target", "output")):
        command.add_argument(
            f"--{name}-language",
            metavar="CODE",
            help=f"of the {what}, by the model's own code, such as fr, fra_Latn or fr_XX: for "
            "M2M100, NLLB and mBART",
        )


def refuse_sentence_options(options: argparse.Namespace) -> None:
    """Raise `ConfigError` on options of `evaluation_sentences` that work with no model."""
    refuse_seed(options.seed)
    if sum(path is not None for path in (options.texts, options.pairs, options.labels)) > 1:
        raise ConfigError("texts_and_pairs")


def refuse_seed(seed: int) -> None:
    """Raise `ConfigError` on a seed that the generators of torch do not take."""
    if not 0 <= seed <= LARGEST_SEED:
        raise ConfigError("bad_seed", seed=seed, most=LARGEST_SEED)


def evaluation_sentences(
    model: "MeasurableModel", options: argparse.Namespace
) -> "EvaluationBatch":
    """The evaluation batch that the options name.

    Raises `EvaluationBatchError` if they name none and the model has no toy task; otherwise as the
    function of `evaluation_batches` for the batch they name.
    """
    from explorer.data.task_names import task_of
    from explorer.heads.metrics.evaluation_batches import (
        held_out_pairs,
        read_labelled,
        read_texts,
        task_sentences,
    )

    if options.pairs is not None:
        columns = pair_columns(options.pairs, options.columns)
        return model.passes.pairs(*held_out_pairs(options.pairs, options.sentences, columns))
    if options.labels is not None:
        return read_labelled(model, options.labels, options.sentences)
    if options.texts is not None:
        return read_texts(model, options.texts, options.sentences, options.seed)
    if task_of(model.facts) is None:
        raise EvaluationBatchError("no_sentence_options", name=model.name)
    return task_sentences(model, options.sentences, options.seed)
