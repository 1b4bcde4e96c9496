"""Evaluation batches: from a toy task, from pairs, or from lines of text."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pandas as pd
import torch
import torch.nn.functional as F
from torch import Tensor

from explorer.core.errors import EvaluationBatchError, PairsError, VocabularyError
from explorer.core.files import read_text
from explorer.core.sites import SIDES
from explorer.core.vocabulary import shorten
from explorer.data.continued_data import find_continued_task
from explorer.data.parallel_corpus import read_pairs, read_rows, references
from explorer.data.task_names import CONTINUED_TASKS, task_of
from explorer.data.toy_data import FIRST, find_task
from explorer.heads.metrics import batch_names
from explorer.model.evaluation_batch import PART_SIZE, EvaluationBatch, TokenKind, TokenRows
from explorer.model.explorable import ExplorableModel
from explorer.model.measurable import MeasurableModel
from explorer.model.transformer_passes import forced_batch

_T = TypeVar("_T")

Progress = Callable[[float], None]
"""Called with the share done, 0 to 1; an exception it raises ends the work."""

SENTENCES = 256
"""Default number of sentences of a toy task."""

MOST_TASK_SENTENCES = 100_000
"""Limit for a toy task, because all its sentences are drawn before anything is measured."""

LARGEST_TEXTS = 64 * 2**20
"""Bytes of a file of sentences."""

LARGEST_ATTENTION = 2**27
"""Weights of all layers in one pass: 512 MB."""

LARGEST_LOGITS = 2**26
"""Logits of one pass: 256 MB."""

MOST_OF_A_SENTENCE = 2**27
"""Logits of one sentence, which is never divided: 512 MB, and a measurement has several copies."""


def no_progress(share: float) -> None:
    """No-op progress callback."""


def parts(
    model: MeasurableModel, batch: EvaluationBatch, progress: Progress = no_progress
) -> Iterator[EvaluationBatch]:
    """The batch divided into parts, each as large as one pass allows; a part counts as done when
    the next one is asked for.

    Raises `EvaluationBatchError` as `part_size`.
    """
    done = 0
    for part in batch.parts(part_size(model, batch)):
        yield part
        done += len(part)
        progress(done / len(batch))


def part_size(model: MeasurableModel, batch: EvaluationBatch) -> int:
    """The most sentences of the batch in one pass, at least 1.

    Limits of one pass: `LARGEST_ATTENTION` weights of all layers, and `LARGEST_LOGITS` logits.

    Raises `EvaluationBatchError` on a sentence with more logits than `MOST_OF_A_SENTENCE`.
    """
    passes, longest = model.passes, batch.longest
    rows, entries = batch.labels.ids.size(1), passes.logits_size
    if rows * entries > MOST_OF_A_SENTENCE:
        limit = MOST_OF_A_SENTENCE // entries
        raise EvaluationBatchError("too_many_logits", got=rows, entries=entries, limit=limit)
    by_weights = LARGEST_ATTENTION // (len(passes.heads) * longest**2)
    by_logits = LARGEST_LOGITS // (longest * max(1, passes.logits_size))
    return max(1, min(PART_SIZE, by_weights, by_logits))


def task_sentences(model: MeasurableModel, size: int, seed: int = 0) -> EvaluationBatch:
    """`size` held-out sequences of the model's toy task, evenly over all lengths; of a task that a
    decoder alone continues, all of the longest.

    Task and longest length are in the model's facts; below five symbols none are held out.
    Raises `EvaluationBatchError` for a model without a toy task, and for a size below 1 or above
    `MOST_TASK_SENTENCES`.
    """
    name = task_of(model.facts)
    if name is None:
        raise EvaluationBatchError("no_generator")
    if size < 1:
        raise EvaluationBatchError("no_sentences")
    if size > MOST_TASK_SENTENCES:
        raise EvaluationBatchError("too_many_sentences", most=MOST_TASK_SENTENCES)
    assert isinstance(model, ExplorableModel)  # others know no toy task
    most = model.transformer.config.max_length - 1
    longest = min(int(model.facts.get("longest", most)), most)
    alphabet = range(len(model.source_vocabulary) - FIRST)
    generator = torch.Generator().manual_seed(seed)
    continues = name in CONTINUED_TASKS
    kind = "continued" if continues else "task"
    title = batch_names.written(kind, task=name, longest=longest, seed=seed)
    if continues:
        continued = find_continued_task(name)
        drawn = continued.held_out_batch(size, longest, alphabet, generator).target.tolist()
        return _known_labels(forced_batch(None, drawn, title, "task", continued))
    task = find_task(name)
    sources, targets = [], []
    for length in range(1, longest + 1):
        share = size * length // longest - size * (length - 1) // longest
        if share:
            batch = task.held_out_batch(share, length, alphabet, generator)
            sources += batch.source.tolist()
            targets += batch.target.tolist()
    return forced_batch(sources, targets, title, "task", task)


def _known_labels(batch: EvaluationBatch) -> EvaluationBatch:
    """The batch with labels only where the next token can be known: where it has a gold alignment,
    and at the end."""
    gold, labels = batch.gold(), batch.labels
    assert gold is not None
    known = torch.from_numpy(gold.any(-1)) | labels.ends
    kinds = labels.kinds.masked_fill(~known, TokenKind.PADDING)
    return replace(batch, labels=TokenRows(labels.ids, kinds))


def repeated_sequences(model: MeasurableModel, size: int, seed: int = 0) -> EvaluationBatch:
    """`size` sequences of random tokens, each a block of them twice, in which nothing but what came
    before tells the next token: for induction heads. Source: Olsson et al. 2022, arXiv 2209.11895.

    Raises `EvaluationBatchError` unless the model is a decoder alone.
    """
    batch = model.passes.repeated(size, seed)
    block = int(batch.labels.real[0].sum()) + 1
    return replace(batch, name=batch_names.written("random", block=block, seed=seed))


def given_sentences(
    model: MeasurableModel,
    texts: Iterable[str] | Iterable[tuple[str, str]] | None,
    labels: Iterable[Any] | None = None,
) -> EvaluationBatch:
    """Texts, whose targets are as in `BatchPasses.texts`, or pairs of source and target, in a list,
    an array or another iterable; with None `SENTENCES` held-out sequences of the model's toy task.

    labels: of a classifier, one for each text or pair of two texts, by name or number; of a tagger
        one for each word of a text, in a list or with spaces between.

    Raises `EvaluationBatchError` on anything else, on an empty list, and for a model without a toy
    task if `texts` is None; `VocabularyError` on a text that cannot be read or is too long.
    """
    if labels is not None:
        return _labelled(model, listed_texts(texts), labels)
    if texts is None:
        return task_sentences(model, SENTENCES)
    given = listed_texts(texts)
    are_pairs = any(not isinstance(text, str) for text in given)
    kept, name = distinct(given, "pairs" if are_pairs else "texts")
    if len(given) > 1:
        refuse_unreadable(model, given)
    return model.passes.pairs(kept, name) if are_pairs else model.passes.texts(kept, name)


def _labelled(model: MeasurableModel, given: list[Any], labels: Iterable[Any]) -> EvaluationBatch:
    """Distinct examples: a text with another label is another example."""
    if isinstance(labels, str | bytes | Mapping) or not isinstance(labels, Iterable):
        raise EvaluationBatchError("no_list_of_labels", got=type(labels).__name__)
    plain = labels.tolist() if isinstance(labels, np.ndarray | pd.Series) else labels
    listed = [tuple(one) if isinstance(one, list) else one for one in plain]
    if len(listed) != len(given):
        raise EvaluationBatchError("label_count", got=len(listed), texts=len(given))
    kept, name = distinct(zip(given, listed, strict=True), "labelled texts")
    return model.passes.labelled([text for text, _ in kept], [label for _, label in kept], name)


def read_labelled(model: MeasurableModel, path: Path, most: int) -> EvaluationBatch:
    """The first `most` distinct lines of a file, each a text, or two, and behind the last tab its
    label, or the tags of its words with spaces between.

    Raises `FileError` on a file that cannot be read, `EvaluationBatchError` on a line without a
    tab; otherwise as `BatchPasses.labelled`.
    """
    texts: list[Any] = []
    labels = []
    kept, name = _distinct_lines(path)
    for line in kept[:most]:
        *sides, label = line.split("\t")
        if len(sides) not in (1, 2):
            raise EvaluationBatchError("no_labelled_line", line=shorten(line), name=path.name)
        texts.append(sides[0] if len(sides) == 1 else tuple(sides))
        labels.append(label)
    return model.passes.labelled(texts, labels, name)


def refuse_unreadable(model: MeasurableModel, given: Sequence[str | tuple[str, str]]) -> None:
    """Raise `VocabularyError` with the number of the first text or pair that the model cannot
    read."""
    for number, text in enumerate(given, start=1):
        sides = (text,) if isinstance(text, str) else text
        for side, words in zip(SIDES, sides, strict=False):
            try:
                model.check_text(words, side)
            except VocabularyError as error:
                raise VocabularyError("text_of_several", number=number, reason=error) from error


def distinct(given: Iterable[_T], name: str) -> tuple[list[_T], str]:
    """Each text or pair once, and the name of these sentences, which says how many are left out.

    A sentence given ten times is no evidence of ten: all intervals are over distinct sentences.
    """
    every = list(given)
    kept = list(dict.fromkeys(every))
    repeated = len(every) - len(kept)
    return kept, batch_names.written("repeated", name=name, repeated=repeated) if repeated else name


def listed_texts(texts: Iterable[str] | Iterable[tuple[str, str]] | None) -> list[Any]:
    """Texts, or pairs as tuples, from an iterable. Raises `EvaluationBatchError` on anything
    else."""
    if isinstance(texts, pd.DataFrame):
        raise EvaluationBatchError("table_of_texts", columns=", ".join(map(str, texts.columns[:3])))
    plain = texts.tolist() if isinstance(texts, np.ndarray) else texts
    if isinstance(plain, str | bytes | Mapping) or not isinstance(plain, Iterable):
        raise EvaluationBatchError("no_list_of_texts", got=type(texts).__name__)
    given = list(plain)
    pairs = [text for text in given if not isinstance(text, str)]
    for number, pair in enumerate(given, start=1):
        if pd.api.types.is_scalar(pair) and pd.isna(pair):
            raise EvaluationBatchError("missing_text", number=number, got=str(pair))
    for pair in pairs:
        whole = isinstance(pair, tuple | list) and len(pair) == 2
        if not whole or len(pairs) < len(given) or not all(isinstance(side, str) for side in pair):
            got = f"{type(texts).__name__} with {str(pair)[:40]}"
            raise EvaluationBatchError("no_list_of_texts", got=got)
    return [text if isinstance(text, str) else tuple(text) for text in given]


def held_out_pairs(
    path: Path, most: int, columns: Sequence[str] = ("1", "2")
) -> tuple[list[tuple[str, str]], str]:
    """At most `most` distinct sources of a file of pairs, each with its first translation, and the
    name of these sentences.

    They are from the dev part, which training on the file leaves out; a file with at most `most`
    pairs is used whole, and so is one from which nothing is held out.

    Raises `PairsError` on a file that is not a table of pairs.
    """
    try:
        pairs = read_pairs(path, columns)
    except PairsError:  # too few to be split, or no table: then `read_rows` raises
        rows, name = distinct(read_rows(path, columns), path.name)
        return [(row.source, row.target) for row in rows[:most]], name
    chosen, name = pairs.pairs, path.name
    if len(chosen) > most and pairs.holds_out:
        chosen, name = pairs.part("dev"), batch_names.written("dev", name=path.name)
    first = [(source, targets[0]) for source, targets in references(chosen).items()]
    return first[:most], name


def read_texts(model: MeasurableModel, path: Path, most: int, seed: int = 0) -> EvaluationBatch:
    """The first `most` distinct lines of a file. seed: of the choice of masked tokens.

    Raises `FileError` on a file that cannot be read; otherwise as `BatchPasses.texts`.
    """
    kept, name = _distinct_lines(path)
    return model.passes.texts(kept[:most], name, seed)


def _distinct_lines(path: Path) -> tuple[list[str], str]:
    """The lines of a file that are not empty, each once, and their name; see `distinct`."""
    lines = [line for line in read_text(path, LARGEST_TEXTS).splitlines() if line.strip()]
    return distinct(lines, path.name)


def refuse_without_targets(batch: EvaluationBatch) -> None:
    """Raise `EvaluationBatchError` if the model predicts no tokens: then there is no loss."""
    if batch.targets == "none":
        raise EvaluationBatchError("no_predictions")


def token_losses(logits: Tensor, labels: TokenRows) -> Tensor:
    """−ln probability (N, T) of the labels (N, T) under logits (N, T, V); 0 for padding."""
    # Flattened: the softmax of a transposed tensor takes four times as long on a CPU.
    losses = F.cross_entropy(logits.flatten(0, 1), labels.ids.flatten(), reduction="none")
    return losses.view(labels.ids.shape).masked_fill(~labels.real, 0.0)
