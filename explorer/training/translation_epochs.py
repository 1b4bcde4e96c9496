"""The batches of each epoch of a training on pairs of sentences.

Everything random of an epoch follows from the seed and the number of the epoch, so that a resumed
training sees the same batches again.
"""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from explorer.core.sentencepiece_vocabulary import PieceVocabulary
from explorer.data.augmentation import Augmentation
from explorer.data.parallel_corpus import Pair, separator_of
from explorer.training.config import TrainingConfig

Row = tuple[list[int], list[int]]
"""The ids of a source and of its target, without specials."""

_MOST_JOINED = 8  # pairs in one text, at most
_UNUSUAL_SEPARATOR = 0.15  # share of the joined sources with a space too many, or one too few
_FINAL_MARKS = ".!?。！？"


@dataclass(frozen=True, slots=True)
class Lengths:
    """Pieces of the two sides of each pair, by the most probable segmentation."""

    source: NDArray[np.intp]
    target: NDArray[np.intp]

    def fitting(self, longest: int) -> NDArray[np.intp]:
        """The numbers of the pairs that have at most `longest` pieces on either side."""
        return np.flatnonzero(np.maximum(self.source, self.target) <= longest)


class Epochs:
    """Batches by step. Only one epoch is in memory.

    Row order: pairs in random order, some of them joined to longer texts, then sorted by length
    and cut into batches, whose order is random again. Rows of similar length share a batch, so
    little is padded.
    """

    def __init__(
        self,
        config: TrainingConfig,
        pairs: Sequence[Pair],
        vocabularies: tuple[PieceVocabulary, PieceVocabulary],
        augmentation: Augmentation,
        starts: Iterable[int] = (0,),
    ) -> None:
        """starts: the first steps of the epochs, as far as they are known."""
        self._config = config
        self._vocabularies = vocabularies
        self._augmentation = augmentation
        self._room = config.model_config().max_length - 2  # BOS and EOS take the rest
        self._separators = (
            separator_of([pair.source for pair in pairs]),
            separator_of([pair.target for pair in pairs]),
        )
        source, target = vocabularies
        self._lengths = Lengths(
            _count_pieces(source, (pair.source for pair in pairs)),
            _count_pieces(target, (pair.target for pair in pairs)),
        )
        self.fitting = self._lengths.fitting(config.longest)
        self.starts = list(starts)
        self._number = -1
        self._batches: list[list[Row]] = []

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
        texts = self._texts(random)
        rows = self._encode(texts, random)
        batches = list(self._cut(rows, random))
        return [batches[place] for place in random.permutation(len(batches))]

    def _texts(self, random: np.random.Generator) -> list[Pair]:
        """The texts of an epoch.

        Every fitting pair once, alone or in a joined text; lines made from patterns, also alone or
        joined; and copied lines.
        """
        config, augmentation = self._config, self._augmentation
        order = random.permutation(self.fitting)
        texts = [
            self._text(
                [augmentation.swapped(int(n), config.swapped, random) for n in group], random
            )
            for group in self._groups(order, random)
        ]
        lines = round(config.patterned * len(order))
        while lines > 0:
            size = min(self._group_size(random), lines)
            texts.append(self._text([augmentation.patterned(random) for _ in range(size)], random))
            lines -= size
        copies = round(config.copied * len(order))
        return texts + [augmentation.copied(random) for _ in range(copies)]

    def _group_size(self, random: np.random.Generator) -> int:
        """Random number of pairs in one text: two to eight with probability `joined`, else one."""
        joined = random.random() < self._config.joined
        return int(random.integers(2, _MOST_JOINED + 1)) if joined else 1

    def _groups(
        self, order: NDArray[np.intp], random: np.random.Generator
    ) -> Iterator[NDArray[np.intp]]:
        """Groups of consecutive pairs of `order` that form one text; a group ends where it gets too
        long."""
        longest = self._config.longest
        at = 0
        while at < len(order):
            group = order[at : at + self._group_size(random)]
            sums = np.maximum(
                self._lengths.source[group].cumsum(), self._lengths.target[group].cumsum()
            )
            group = group[: max(1, int((sums <= longest).sum()))]
            yield group
            at += len(group)

    def _text(self, pairs: Sequence[Pair], random: np.random.Generator) -> Pair:
        """The pairs of a group as one text on each side."""
        config = self._config
        joined = pairs[0]
        if len(pairs) > 1:
            separator = self._separators[0]
            if random.random() < _UNUSUAL_SEPARATOR:
                separator = "" if separator else " "
            joined = Pair(
                separator.join(pair.source for pair in pairs),
                self._separators[1].join(pair.target for pair in pairs),
            )
        if config.unpunctuated and random.random() < config.unpunctuated:
            return without_final_mark(joined)
        return joined

    def _encode(self, texts: Sequence[Pair], random: np.random.Generator) -> list[Row]:
        """The rows of texts, with sampled segmentations unless these are too long.

        Drops rows that are too long or have an empty side.
        """
        sides = [
            self._encode_side(vocabulary, side, int(random.integers(2**31)))
            for vocabulary, side in zip(
                self._vocabularies,
                ([pair.source for pair in texts], [pair.target for pair in texts]),
                strict=True,
            )
        ]
        rows = zip(*sides, strict=True)
        return [(s, t) for s, t in rows if max(len(s), len(t)) <= self._room and min(s, t)]

    def _encode_side(
        self, vocabulary: PieceVocabulary, texts: Sequence[str], seed: int
    ) -> list[list[int]]:
        alpha = self._config.subword_alpha
        if not alpha:
            return vocabulary.encode_all(texts)
        encoded = vocabulary.sample_all(texts, alpha, seed)
        long = [place for place, ids in enumerate(encoded) if len(ids) > self._config.longest]
        for place, ids in zip(
            long, vocabulary.encode_all([texts[place] for place in long]), strict=True
        ):
            encoded[place] = ids
        return encoded

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
        sizes = np.array([(len(s) + 1, len(t) + 1) for s, t in rows])
        order = order[np.lexsort((sizes[order, 1], sizes[order, 0]))]
        if not config.batch_tokens:
            for at in range(0, len(order), size):
                yield [rows[place] for place in order[at : at + size]]
            return
        chosen: list[int] = []
        widest = np.zeros(2, dtype=np.intp)
        for place in order:
            wider = np.maximum(widest, sizes[place])
            if chosen and (len(chosen) + 1) * wider.sum() > config.batch_tokens:
                yield [rows[place] for place in chosen]
                chosen, wider = [], sizes[place]
            chosen.append(int(place))
            widest = wider
        if chosen:
            yield [rows[place] for place in chosen]


def without_final_mark(pair: Pair) -> Pair:
    """The pair without the final mark of both sides; unchanged if one side has none."""
    source, target = pair.source, pair.target
    if not (source[-1:] in _FINAL_MARKS and target[-1:] in _FINAL_MARKS):
        return pair
    source, target = source[:-1].rstrip(), target[:-1].rstrip()
    return Pair(source, target) if source and target else pair


def _count_pieces(vocabulary: PieceVocabulary, texts: Iterable[str]) -> NDArray[np.intp]:
    return np.array([len(ids) for ids in vocabulary.encode_all(texts)], dtype=np.intp)
