"""Texts in batches by step. Only one epoch is in memory.

Everything random of an epoch follows from the seed and the number of the epoch, so that a resumed
training sees the same batches again.
"""

from abc import ABC, abstractmethod
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from explorer.core.sentencepiece_vocabulary import PieceVocabulary
from explorer.training.config import TrainingConfig

Row = TypeVar("Row")
"""One text as token ids, or one on each side."""

_MOST_JOINED = 8  # texts in a row, at most


class Epochs(ABC, Generic[Row]):
    """Batches by step.

    Order of the rows: texts in random order, some of them joined to longer ones, then sorted by
    length and cut into batches, whose order is random again. Rows of similar length share a batch,
    so little is padded.

    fitting: the numbers of the texts that have at most `longest` pieces on each side.
    starts: the first steps of the epochs, as far as they are known.
    """

    def __init__(
        self, config: TrainingConfig, lengths: NDArray[np.intp], starts: Iterable[int]
    ) -> None:
        """lengths: (text, side) pieces of each text by the most probable segmentation."""
        self._config = config
        self._lengths = lengths
        self._room = config.model_config().max_length - 2  # BOS and EOS take the rest
        self.fitting = np.flatnonzero(lengths.max(1) <= config.longest)
        self.starts = list(starts)
        self._number = -1
        self._batches: list[list[Row]] = []

    @abstractmethod
    def _rows(self, random: np.random.Generator) -> list[Row]:
        """The rows of an epoch in random order."""

    @abstractmethod
    def _size(self, row: Row) -> tuple[int, ...]:
        """The tokens of each side of a row, one special included."""

    def batch(self, step: int) -> list[Row]:
        """The rows of step 0, 1, …"""
        while True:
            number = bisect_right(self.starts, step) - 1
            if number != self._number:
                self._batches = []  # so that two epochs are never in memory
                self._batches = self._epoch_batches(number)
                self._number = number
            place = step - self.starts[number]
            if place < len(self._batches):
                return self._batches[place]
            self.starts.append(self.starts[number] + len(self._batches))

    def _epoch_batches(self, number: int) -> list[list[Row]]:
        """The batches of an epoch. Memory: all its rows."""
        random = np.random.default_rng((self._config.seed, number))
        batches = list(self._cut(self._rows(random), random))
        return [batches[place] for place in random.permutation(len(batches))]

    def _group_size(self, random: np.random.Generator) -> int:
        """Random number of texts in a row: two to eight with probability `joined`, else one."""
        joined = random.random() < self._config.joined
        return int(random.integers(2, _MOST_JOINED + 1)) if joined else 1

    def _groups(self, random: np.random.Generator) -> Iterator[NDArray[np.intp]]:
        """Groups of fitting texts in random order, each to be one row; a group ends where it gets
        too long."""
        order, longest = random.permutation(self.fitting), self._config.longest
        at = 0
        while at < len(order):
            group = order[at : at + self._group_size(random)]
            sums = self._lengths[group].cumsum(0).max(1)
            group = group[: max(1, int((sums <= longest).sum()))]
            yield group
            at += len(group)

    def _cut(self, rows: Sequence[Row], random: np.random.Generator) -> Iterator[list[Row]]:
        """Batches of rows of similar length.

        A batch has `batch` rows, or all if there are fewer; if `batch_tokens` is set, it has at
        most that many tokens, padding and specials included.
        """
        config = self._config
        order = random.permutation(len(rows))
        size = min(config.batch, len(rows))
        if not config.batch_tokens:  # only whole batches; the rows left over differ by epoch
            order = order[: len(rows) // size * size]
        sizes = np.array([self._size(row) for row in rows])  # (row, side)
        order = order[np.lexsort(sizes[order, ::-1].T)]
        if not config.batch_tokens:
            for at in range(0, len(order), size):
                yield [rows[place] for place in order[at : at + size]]
            return
        chosen: list[int] = []
        widest = np.zeros(sizes.shape[1], dtype=np.intp)
        for place in order:
            wider = np.maximum(widest, sizes[place])
            if chosen and (len(chosen) + 1) * wider.sum() > config.batch_tokens:
                yield [rows[place] for place in chosen]
                chosen, wider = [], sizes[place]
            chosen.append(int(place))
            widest = wider
        if chosen:
            yield [rows[place] for place in chosen]


def count_pieces(vocabulary: PieceVocabulary, texts: Iterable[str]) -> NDArray[np.intp]:
    """(text,) the pieces of each text by the most probable segmentation."""
    return np.array([len(ids) for ids in vocabulary.encode_all(texts)], dtype=np.intp)


def encoded(
    vocabulary: PieceVocabulary, texts: Sequence[str], config: TrainingConfig, seed: int
) -> list[list[int]]:
    """The ids of texts, in sampled segmentations if `subword_alpha` is set; in the most probable
    one where a sampled one is too long."""
    alpha = config.subword_alpha
    if not alpha:
        return vocabulary.encode_all(texts)
    found = vocabulary.sample_all(texts, alpha, seed)
    long = [place for place, ids in enumerate(found) if len(ids) > config.longest]
    shorter = vocabulary.encode_all([texts[place] for place in long])
    for place, ids in zip(long, shorter, strict=True):
        found[place] = ids
    return found
