"""The data module of a training on texts to continue.

SentencePiece learns its pieces from the training part alone; the dev part judges each moment.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

import torch
from torch import Tensor

from explorer.core.errors import PairsError
from explorer.core.sentencepiece_vocabulary import PieceVocabulary, learn_pieces
from explorer.core.vocabulary import BOS, EOS
from explorer.data.batch import Batch
from explorer.data.parallel_corpus import HELD_OUT_PARTS, normalised, read_sources
from explorer.data.text_corpus import TextCorpus, beginning
from explorer.model.greedy_decoding import continuation
from explorer.model.transformer import Transformer
from explorer.training.config import TrainingConfig
from explorer.training.text_epochs import TextEpochs, TextRow
from explorer.training.translation_metrics import MeanLoss, mean_loss, padded

LOSS_SAMPLE = 500
"""Texts on which each of the two losses is measured."""

SHOWN = 4
"""Continuations that each moment shows."""

EXAMPLES = 24
"""Beginnings that a checkpoint carries as examples to try."""

JUDGED_TOGETHER = 64
"""Texts that are judged as one batch."""

_FEW, _MANY = 8, 16  # pieces of the texts that are shown


class TextDataModule:
    """Texts in batches; the rows of a step follow from its number and the seed."""

    fixed_shapes = False
    generator = None

    def __init__(
        self,
        config: TrainingConfig,
        corpus: TextCorpus,
        device: torch.device,
        saved: Mapping[str, Tensor] | None = None,
        vocabulary: PieceVocabulary | None = None,
    ) -> None:
        """saved: the `state` of an earlier data module, whose pieces are used again.
        vocabulary: of the checkpoint that a new training begins with; None = learn it.

        Raises `PairsError` when too few texts are left, or when `saved` is of other texts.
        """
        self.config = config
        self.device = device
        self.corpus = corpus
        excluded = set(map(normalised, read_sources(config.excluded) if config.excluded else ()))
        training = corpus.part("training")
        self._training = [text for text in training if normalised(text) not in excluded]
        self.excluded = len(training) - len(self._training)
        starts = [0]
        if saved is not None:
            vocabulary, starts = _restored(saved, corpus.digest)
        elif vocabulary is None:
            vocabulary = learn_pieces(self._training, config.pieces)
        self.source_vocabulary = self.target_vocabulary = vocabulary
        self.model_config = config.model_config(len(vocabulary), len(vocabulary))
        self._epochs = TextEpochs(config, self._training, vocabulary, starts)
        fits, dev = len(self._epochs.fitting), corpus.part("dev")
        self._held_out = [text for text in dev if self._pieces(text) <= config.longest]
        if not fits or not self._held_out:
            raise PairsError("texts_overlong", longest=config.longest)
        self.overlong = len(self._training) - fits + len(dev) - len(self._held_out)
        apart = max(1, fits // LOSS_SAMPLE)  # all over the file
        seen = self._epochs.fitting[::apart][:LOSS_SAMPLE]
        self._seen = vocabulary.encode_all(self._training[place] for place in seen)
        self._judged = vocabulary.encode_all(self._held_out[:LOSS_SAMPLE])

    def batch(self, step: int) -> Batch:
        return text_batch(self._epochs.batch(step), self.device)

    def measure(self, model: Transformer) -> dict[str, Any]:
        """training_loss on texts of the training part; held_out_loss, perplexity and accuracy, the
        share of tokens that are the most probable ones, on texts of the dev part; and greedy
        continuations of some of these."""
        seen, held_out = (self._mean_loss(model, rows) for rows in (self._seen, self._judged))
        return {
            "training_loss": round(seen.smoothed, 5),
            "held_out_loss": round(held_out.smoothed, 5),
            "perplexity": round(held_out.perplexity, 4),
            "accuracy": round(held_out.accuracy, 5),
            "samples": [self._sample(model, text) for text in islice(self._shown(), SHOWN)],
        }

    def score(self, measured: dict[str, Any]) -> float:
        return float(measured["accuracy"])

    def probe(self) -> tuple[str, str]:
        """The beginning of a held-out text, and the rest of it."""
        return beginning(next(self._shown()))

    def part_sizes(self) -> dict[str, int]:
        """Number of texts of each part; for training, only those short enough to train on."""
        held_out: dict[str, int] = {name: len(self.corpus.part(name)) for name in HELD_OUT_PARTS}
        return {"training": len(self._epochs.fitting), **held_out}

    def text_counts(self) -> dict[str, int]:
        """Numbers of texts: rows of the file, distinct ones, and those left out by reason."""
        kept = len(self.corpus.texts)
        left_out = {"excluded": self.excluded, "overlong": self.overlong}
        return {"rows": self.corpus.rows, "kept": kept, **left_out}

    def facts(self) -> dict[str, Any]:
        pieces = sum(map(len, self._seen)) / len(self._seen)
        starts = (beginning(text)[0] for text in self._shown())
        counts = {**self.text_counts(), "pieces": round(pieces, 2), "digest": self.corpus.digest}
        return {
            "task": self.config.task,
            "longest": self.config.longest,
            "examples": list(islice(dict.fromkeys(starts), EXAMPLES)),
            "texts": counts,
        }

    def state(self) -> dict[str, Tensor]:
        """The pieces, the hash of the texts they were learnt from, and where epochs start."""
        digest = self.corpus.digest.encode()
        return {
            "digest": torch.frombuffer(bytearray(digest), dtype=torch.uint8),
            "pieces": torch.frombuffer(bytearray(self.source_vocabulary.proto), dtype=torch.uint8),
            "epoch_starts": torch.tensor(self._epochs.starts),
        }

    def _pieces(self, text: str) -> int:
        return len(self.source_vocabulary.encode_all([text])[0])

    def _shown(self) -> Iterator[str]:
        """Held-out texts, those of a length that fits on a screen first."""
        rows = zip(self._held_out, self._judged, strict=False)
        fitting = [text for text, row in rows if _FEW <= len(row) <= _MANY]
        return iter(dict.fromkeys([*fitting, *self._held_out]))

    def _sample(self, model: Transformer, text: str) -> dict[str, str]:
        vocabulary, (start, rest) = self.target_vocabulary, beginning(text)
        written = continuation(model, vocabulary.encode(start), self.config.longest)
        return {"source": start, "written": vocabulary.decode(written), "reference": rest}

    def _mean_loss(self, model: Transformer, rows: Sequence[TextRow]) -> MeanLoss:
        return mean_loss(model, text_batches(rows, self.device), self.config.label_smoothing)


def text_batches(rows: Sequence[TextRow], device: torch.device) -> Iterator[Batch]:
    """Texts to judge, in their order."""
    for at in range(0, len(rows), JUDGED_TOGETHER):
        yield text_batch(rows[at : at + JUDGED_TOGETHER], device)


def text_batch(rows: Sequence[TextRow], device: torch.device) -> Batch:
    """Target (B, T + 1) begins with BOS and ends in EOS; the source is empty."""
    target = padded([[BOS, *ids, EOS] for ids in rows]).to(device)
    return Batch(target[:, :0], target)


def _restored(saved: Mapping[str, Tensor], digest: str) -> tuple[PieceVocabulary, list[int]]:
    """Pieces and epoch starts from a `state`. Raises `PairsError` when the texts have changed."""
    if bytes(saved["digest"].numpy()).decode() != digest:
        raise PairsError("texts_changed")
    return PieceVocabulary(saved["pieces"].numpy().tobytes()), saved["epoch_starts"].tolist()
