"""The batches of each epoch of a training on pairs of sentences."""

from collections.abc import Iterable, Sequence

import numpy as np

from explorer.core.sentencepiece_vocabulary import PieceVocabulary
from explorer.data.augmentation import Augmentation
from explorer.data.parallel_corpus import Pair, separator_of
from explorer.training.config import TrainingConfig
from explorer.training.epochs import Epochs, count_pieces, encoded

PairRow = tuple[list[int], list[int]]
"""The ids of a source and of its target, without specials."""

_UNUSUAL_SEPARATOR = 0.15  # share of the joined sources with a space too many, or one too few
_FINAL_MARKS = ".!?。！？"


class TranslationEpochs(Epochs[PairRow]):
    """Pairs, lines made from patterns and copied lines, by step."""

    def __init__(
        self,
        config: TrainingConfig,
        pairs: Sequence[Pair],
        vocabularies: tuple[PieceVocabulary, PieceVocabulary],
        augmentation: Augmentation,
        starts: Iterable[int] = (0,),
    ) -> None:
        self._vocabularies = vocabularies
        self._augmentation = augmentation
        sides = [pair.source for pair in pairs], [pair.target for pair in pairs]
        self._separators = separator_of(sides[0]), separator_of(sides[1])
        lengths = map(count_pieces, vocabularies, sides)
        super().__init__(config, np.stack(list(lengths), 1), starts)

    def _rows(self, random: np.random.Generator) -> list[PairRow]:
        return self._encode(self._texts(random), random)

    def _size(self, row: PairRow) -> tuple[int, ...]:
        return tuple(len(ids) + 1 for ids in row)

    def _texts(self, random: np.random.Generator) -> list[Pair]:
        """The texts of an epoch.

        Every fitting pair once, alone or in a joined text; lines made from patterns, also alone or
        joined; and copied lines.
        """
        config, augmentation = self._config, self._augmentation
        texts = [
            self._text(
                [augmentation.swapped(int(n), config.swapped, random) for n in group], random
            )
            for group in self._groups(random)
        ]
        lines = round(config.patterned * len(self.fitting))
        while lines > 0:
            size = min(self._group_size(random), lines)
            texts.append(self._text([augmentation.patterned(random) for _ in range(size)], random))
            lines -= size
        copies = round(config.copied * len(self.fitting))
        return texts + [augmentation.copied(random) for _ in range(copies)]

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

    def _encode(self, texts: Sequence[Pair], random: np.random.Generator) -> list[PairRow]:
        """The rows of texts, with sampled segmentations unless these are too long.

        Drops rows that are too long or have an empty side.
        """
        sides = [
            encoded(vocabulary, side, self._config, int(random.integers(2**31)))
            for vocabulary, side in zip(
                self._vocabularies,
                ([pair.source for pair in texts], [pair.target for pair in texts]),
                strict=True,
            )
        ]
        rows = zip(*sides, strict=True)
        return [(s, t) for s, t in rows if max(len(s), len(t)) <= self._room and min(s, t)]


def without_final_mark(pair: Pair) -> Pair:
    """The pair without the final mark of both sides; unchanged if one side has none."""
    source, target = pair.source, pair.target
    if not (source[-1:] in _FINAL_MARKS and target[-1:] in _FINAL_MARKS):
        return pair
    source, target = source[:-1].rstrip(), target[:-1].rstrip()
    return Pair(source, target) if source and target else pair
