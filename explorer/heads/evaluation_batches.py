"""Evaluation batches: from a toy task, from pairs, or from lines of text."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor

from explorer.core.errors import EvaluationBatchError, PairsError, VocabularyError
from explorer.core.files import read_text
from explorer.core.vocabulary import BOS, EOS, PAD
from explorer.data.parallel_corpus import read_pairs, read_rows, references
from explorer.data.task_names import task_of
from explorer.data.toy_data import FIRST, Task, find_task
from explorer.model.explorable import ExplorableModel
from explorer.model.greedy_decoding import greedy
from explorer.model.threads import threads_for

Progress = Callable[[float], None]
"""Called with the share done, 0 to 1; an exception it raises ends the work."""

LARGEST_LINES = 64 * 2**20
"""Bytes of a file of sentences."""

PART_SIZE = 32
"""Sentences of one forward pass."""


def no_progress(share: float) -> None:
    """No-op progress callback."""


@dataclass(frozen=True, slots=True, eq=False)
class EvaluationBatch:
    """N sources with a target each. Raises `EvaluationBatchError` when there are none.

    source: (N, S) ids, EOS last, then padding.
    target: (N, T + 1) ids, BOS first, then the output, EOS, padding.
    name: shown beside the figures.
    targets: where the targets are from: the task's rule, given translations, or the model's own
        greedy output, which is not ground truth.
    task: the toy task, which knows the gold alignment; None for text.
    """

    source: Tensor
    target: Tensor
    name: str
    targets: Literal["task", "given", "greedy"]
    task: Task | None = None

    def __post_init__(self) -> None:
        if not len(self.source):
            raise EvaluationBatchError("no_sentences")

    def __len__(self) -> int:
        return len(self.source)

    def __repr__(self) -> str:
        return f"EvaluationBatch({self.name!r}: {len(self)} sentences, targets {self.targets})"

    @property
    def labels(self) -> Tensor:
        """(N, T) the token each query has to predict; padding for a padding query."""
        return self.target[:, 1:]

    @property
    def queries(self) -> Tensor:
        """(N, T) the decoder's input: the target without its last token."""
        return self.target[:, :-1].masked_fill(self.labels == PAD, PAD)

    @property
    def pass_tokens(self) -> int:
        """At most so many tokens go through the model in one pass."""
        return min(len(self), PART_SIZE) * max(self.source.size(1), self.target.size(1))

    def first(self, size: int) -> "EvaluationBatch":
        """`size` sentences, spread evenly over all. Raises `EvaluationBatchError` below 1."""
        if size < 1:
            raise EvaluationBatchError("no_sentences")
        chosen = torch.linspace(0, len(self) - 1, min(size, len(self))).round().long()
        return replace(self, source=self.source[chosen], target=self.target[chosen])

    def parts(self, size: int = PART_SIZE) -> Iterator["EvaluationBatch"]:
        """All sentences, `size` at a time, sorted by length, padded to the longest of each part."""
        used = [(tokens != PAD).sum(1) for tokens in (self.source, self.target)]
        order = (used[0] + used[1]).argsort(stable=True)
        for start in range(0, len(self), size):
            rows = order[start : start + size]
            source, target = (
                tokens[rows, : int(lengths[rows].max())]
                for tokens, lengths in zip((self.source, self.target), used, strict=True)
            )
            yield replace(self, source=source, target=target)

    def gold(self) -> NDArray[np.bool_] | None:
        """(N, T, S) True where the prediction of a query comes from; None without a task."""
        if self.task is None:
            return None
        size, width = self.source.shape
        gold = np.zeros((size, self.labels.size(1), width), dtype=np.bool_)
        for sentence, source in zip(gold, self.source.tolist(), strict=True):
            symbols = [token for token in source if token >= FIRST]
            rows = min(len(symbols), len(sentence))
            sentence[:rows, : len(symbols)] = self.task.alignment(symbols)[:rows]
        return gold


def task_sentences(model: ExplorableModel, size: int, seed: int = 0) -> EvaluationBatch:
    """`size` held-out sequences of the model's toy task, evenly over all lengths.

    Task and longest length are in the model's facts; below five symbols none are held out.
    Raises `EvaluationBatchError` for a model without a toy task, and for a size below 1.
    """
    name = task_of(model.facts)
    if name is None:
        raise EvaluationBatchError("no_generator")
    if size < 1:
        raise EvaluationBatchError("no_sentences")
    task = find_task(name)
    most = model.transformer.config.max_length - 1
    longest = min(int(model.facts.get("longest", most)), most)
    alphabet = range(len(model.source_vocabulary) - FIRST)
    generator = torch.Generator().manual_seed(seed)
    sources, targets = [], []
    for length in range(1, longest + 1):
        share = size * length // longest - size * (length - 1) // longest
        if share:
            batch = task.held_out_batch(share, length, alphabet, generator)
            sources += batch.source.tolist()
            targets += batch.target.tolist()
    title = f"{name}, held out, 1 to {longest} symbols, seed {seed}"
    return EvaluationBatch(_padded(sources), _padded(targets), title, "task", task)


def pair_sentences(
    model: ExplorableModel, pairs: Sequence[tuple[str, str]], name: str
) -> EvaluationBatch:
    """Sources with given targets. Raises `VocabularyError` on a text that is too long."""
    sources = [_ids(model, source, "source") for source, _ in pairs]
    targets = [[BOS, *_ids(model, target, "target")] for _, target in pairs]
    return EvaluationBatch(_padded(sources), _padded(targets), name, "given")


def line_sentences(model: ExplorableModel, lines: Sequence[str], name: str) -> EvaluationBatch:
    """Lines of text, with the model's greedy output as targets.

    Raises `VocabularyError` on a line that cannot be read or is too long.
    """
    limit = model.transformer.config.max_length
    targets: list[list[int]] = []
    sources = [_ids(model, line, "source") for line in lines]
    for start in range(0, len(sources), PART_SIZE):
        part = _padded(sources[start : start + PART_SIZE])
        # Each step decodes one token a sentence.
        with torch.inference_mode(), threads_for(model.transformer.config, len(part)):
            decoded = greedy(model.transformer, part, limit).tolist()
        targets += [[BOS, *(token for token in row if token != PAD)] for row in decoded]
    return EvaluationBatch(_padded(sources), _padded(targets), name, "greedy")


def held_out_sentences(
    model: ExplorableModel, path: Path, most: int, columns: Sequence[str] = ("1", "2")
) -> EvaluationBatch:
    """At most `most` distinct sources of the dev part of a file of pairs, which training on the
    file leaves out, each with its first translation; all of a file with at most `most` pairs.

    Raises `PairsError` on a file that is not a table of pairs; otherwise as `pair_sentences`.
    """
    try:
        pairs = read_pairs(path, columns)
    except PairsError:  # too few to be split, or no table: then `read_rows` raises
        rows = read_rows(path, columns)[:most]
        return pair_sentences(model, [(row.source, row.target) for row in rows], path.name)
    chosen, name = pairs.pairs, path.name
    if len(chosen) > most:
        chosen, name = pairs.part("dev"), f"{path.name}, dev part"
    first = [(source, targets[0]) for source, targets in references(chosen).items()]
    return pair_sentences(model, first[:most], name)


def read_lines(model: ExplorableModel, path: Path, most: int) -> EvaluationBatch:
    """The first `most` non-empty lines of a file.

    Raises `FileError` on a file that cannot be read; otherwise as `line_sentences`.
    """
    lines = [line for line in _lines(path) if line.strip()]
    return line_sentences(model, lines[:most], path.name)


def _lines(path: Path) -> list[str]:
    return read_text(path, LARGEST_LINES).splitlines()


def token_losses(logits: Tensor, labels: Tensor) -> Tensor:
    """−ln probability (N, T) of the labels (N, T) under logits (N, T, V); 0 for padding."""
    # Flattened: the softmax of a transposed tensor takes four times as long on a CPU.
    losses = F.cross_entropy(logits.flatten(0, 1), labels.flatten(), reduction="none")
    return losses.view(labels.shape).masked_fill(labels == PAD, 0.0)


def _ids(model: ExplorableModel, text: str, side: Literal["source", "target"]) -> list[int]:
    """Ids of `text`, EOS last."""
    vocabulary = model.source_vocabulary if side == "source" else model.target_vocabulary
    ids = [*vocabulary.encode(text), EOS]
    limit = model.transformer.config.max_length
    if len(ids) > limit:
        raise VocabularyError(f"long_{side}", got=len(ids), limit=limit)
    return ids


def _padded(rows: Sequence[Sequence[int]]) -> Tensor:
    """(N, longest)."""
    longest = max(map(len, rows), default=0)
    return torch.tensor([[*row, *[PAD] * (longest - len(row))] for row in rows], dtype=torch.long)
