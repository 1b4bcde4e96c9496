"""The batches of each epoch of a training on texts to continue."""

from collections.abc import Iterable, Sequence

import numpy as np

from explorer.core.sentencepiece_vocabulary import PieceVocabulary
from explorer.data.parallel_corpus import separator_of
from explorer.training.config import TrainingConfig
from explorer.training.epochs import Epochs, count_pieces, encoded

TextRow = list[int]
"""The ids of a text, without specials."""


class TextEpochs(Epochs[TextRow]):
    """Texts, alone or several in a row, by step."""

    def __init__(
        self,
        config: TrainingConfig,
        texts: Sequence[str],
        vocabulary: PieceVocabulary,
        starts: Iterable[int] = (0,),
    ) -> None:
        self._texts = texts
        self._vocabulary = vocabulary
        self._separator = separator_of(texts)
        super().__init__(config, count_pieces(vocabulary, texts)[:, None], starts)

    def _rows(self, random: np.random.Generator) -> list[TextRow]:
        joined = [
            self._separator.join(self._texts[number] for number in group)
            for group in self._groups(random)
        ]
        rows = encoded(self._vocabulary, joined, self._config, int(random.integers(2**31)))
        return [row for row in rows if 0 < len(row) <= self._room]

    def _size(self, row: TextRow) -> tuple[int, ...]:
        return (len(row) + 1,)
