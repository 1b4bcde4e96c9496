"""The data module of a training on pairs of sentences.

SentencePiece learns its pieces from the training part alone; the dev part judges each moment.
"""

import operator
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from explorer.core.errors import PairsError
from explorer.core.sentencepiece_vocabulary import PieceVocabulary, learn_pieces, learn_words
from explorer.core.source_language import frequent_words
from explorer.core.vocabulary import BOS, EOS, Vocabulary, shorten
from explorer.data.augmentation import Augmentation
from explorer.data.batch import Batch
from explorer.data.parallel_corpus import (
    HELD_OUT_PARTS,
    Pair,
    ParallelCorpus,
    normalised,
    read_further_pairs,
    read_sources,
    references,
)
from explorer.model.transformer import Transformer
from explorer.training.config import TrainingConfig
from explorer.training.translation_epochs import PairRow, TranslationEpochs
from explorer.training.translation_metrics import (
    DECODED_TOGETHER,
    MeanLoss,
    mean_loss,
    padded,
    score,
    translate,
)

SAMPLE = 200
"""Distinct sources of the dev part whose greedy translations judge each moment."""

LOSS_SAMPLE = 500
"""Pairs on which each of the two losses is measured: distinct sources of the dev part with their
first translations, and pairs of the training part."""

SHOWN = 4
"""Translations that each moment shows."""

EXAMPLES = 24
"""Sources that a checkpoint carries as examples to try."""

WHOLE_WORDS_BELOW = 1000
"""Pairs. With fewer, each word is one piece."""

_SIDES = ("source", "target")


class TranslationDataModule:
    """Pairs of sentences in batches; the rows of a step follow from its number and the seed."""

    fixed_shapes = False
    generator = None

    def __init__(
        self,
        config: TrainingConfig,
        corpus: ParallelCorpus,
        device: torch.device,
        saved: Mapping[str, Tensor] | None = None,
        vocabularies: tuple[PieceVocabulary, PieceVocabulary] | None = None,
    ) -> None:
        """saved: the `state` of an earlier data module, whose pieces are used again.
        vocabularies: of the checkpoint that a new training begins with; None = learn them.

        Raises `PairsError` when too few pairs are left, or when `saved` is of another file.
        """
        self.config = config
        self.device = device
        self.corpus = corpus
        excluded = _excluded_sources(config)
        self._training = list(_without(corpus.part("training"), excluded))
        self.excluded = len(corpus.part("training")) - len(self._training)
        further, self._digest = _further_pairs(config, corpus)
        self.further = len(further)
        self._training += further
        if not self._training:
            name = shorten(Path(config.excluded).name)
            raise PairsError("all_excluded", got=self.excluded, excluded=name)
        augmentation = Augmentation(self._training, excluded | _held_out_texts(corpus))
        if config.patterned and (unknown := augmentation.unknown_sides):
            raise PairsError("no_patterns", columns=", ".join(config.columns[n] for n in unknown))
        starts = [0]
        if saved is not None:
            vocabularies, starts = _restored(saved, self._digest)
        elif vocabularies is None:
            new = augmentation.sample(config.swapped, config.patterned, config.seed)
            lines = [*self._training, *new]
            vocabularies = learn_vocabularies(lines, config)
        self.source_vocabulary, self.target_vocabulary = vocabularies
        self.model_config = config.model_config(len(vocabularies[0]), len(vocabularies[1]))
        self._epochs = TranslationEpochs(config, self._training, vocabularies, augmentation, starts)
        fits = len(self._epochs.fitting)
        if not fits:
            raise PairsError("all_overlong", longest=config.longest)
        dev = corpus.part("dev")
        known = fitting(dev, vocabularies, config.longest)
        self.overlong = len(self._training) - fits + len(dev) - len(known)
        if not corpus.holds_out:
            known = [self._training[place] for place in self._epochs.fitting]
        if not known:
            raise PairsError("nothing_to_judge_by", longest=config.longest)
        judged = list(references(known).items())
        self._sample = dict(judged[:SAMPLE])
        self._held_out = self._encode(
            [Pair(source, targets[0]) for source, targets in judged[:LOSS_SAMPLE]]
        )
        apart = max(1, fits // LOSS_SAMPLE)  # all over the file
        seen = self._epochs.fitting[::apart][:LOSS_SAMPLE]
        self._seen = self._encode([self._training[place] for place in seen])

    def batch(self, step: int) -> Batch:
        return self._assemble(self._epochs.batch(step))

    def measure(self, model: Transformer) -> dict[str, Any]:
        """training_loss on pairs of the training part as they are in the file; held_out_loss and
        perplexity on pairs of the dev part; BLEU, chrF and some translations of a sample of its
        sources. If nothing is held out, all this on the pairs that are trained on, and instead of
        BLEU exact_match: the share of the sources that are translated as in a pair."""
        outputs = translate(
            model, self.source_vocabulary, self.target_vocabulary, list(self._sample)
        )
        scores = score(outputs, list(self._sample.values()))
        seen, held_out = (self._mean_loss(model, rows) for rows in (self._seen, self._held_out))
        samples = zip(self._sample.items(), outputs, strict=True)
        right = map(operator.contains, self._sample.values(), outputs)
        exact = {"exact_match": sum(right) / len(outputs)}
        return {
            **({"bleu": round(scores.bleu, 2)} if self.corpus.holds_out else exact),
            "training_loss": round(seen.smoothed, 5),
            "held_out_loss": round(held_out.smoothed, 5),
            "perplexity": round(held_out.perplexity, 4),
            "chrf": round(scores.chrf, 2),
            "samples": [
                {"source": source, "written": text, "reference": targets[0]}
                for (source, targets), text in islice(samples, SHOWN)
            ],
        }

    def _mean_loss(self, model: Transformer, rows: Sequence[PairRow]) -> MeanLoss:
        starts = range(0, len(rows), DECODED_TOGETHER)
        batches = (self._assemble(rows[at : at + DECODED_TOGETHER]) for at in starts)
        return mean_loss(model, batches, self.config.label_smoothing)

    def score(self, measured: dict[str, Any]) -> float:
        """BLEU ÷ 100; if nothing is held out, the exact match."""
        return float(measured["bleu"] / 100 if self.corpus.holds_out else measured["exact_match"])

    def probe(self) -> tuple[str, str]:
        """The first judged source of six to twelve pieces, with its first translation."""
        source = next(iter([*self._of_size(6, 12), *self._sample]))
        return source, self._sample[source][0]

    def examples(self) -> list[str]:
        """Judged sources, the probe first, then those that are neither very short nor long."""
        some = dict.fromkeys([self.probe()[0], *self._of_size(4, 16), *self._sample])
        return list(islice(some, EXAMPLES))

    def _of_size(self, least: int, most: int) -> Iterator[str]:
        """Sources of the sample with `least` to `most` pieces."""
        for source, (ids, _) in zip(self._sample, self._held_out, strict=False):
            if least <= len(ids) <= most:
                yield source

    def pair_counts(self) -> dict[str, int]:
        """Numbers of rows and pairs in the files: all, used, and left out by reason.

        overlong: pairs to train on or in the dev part that are too long.
        """
        return {
            **asdict(self.corpus.counts),
            "excluded": self.excluded,
            "further": self.further,
            "overlong": self.overlong,
        }

    def part_sizes(self) -> dict[str, int]:
        """Number of pairs of each part; for training, only those short enough to train on."""
        held_out: dict[str, int] = {name: len(self.corpus.part(name)) for name in HELD_OUT_PARTS}
        return {"training": len(self._epochs.fitting), **held_out}

    def facts(self) -> dict[str, Any]:
        training = self.corpus.part("training")
        return {
            "task": self.config.task,
            "longest": self.config.longest,
            "examples": self.examples(),
            "source_words": frequent_words(pair.source for pair in training),
            "target_words": frequent_words(pair.target for pair in training),
            "pairs": {
                **self.pair_counts(),
                "pieces": round(self._pieces_a_text(), 2),
                "digest": self.corpus.digest,
            },
        }

    def _pieces_a_text(self) -> float:
        """Mean number of pieces of a text, over both sides of the sample of the training part."""
        return sum(len(ids) for row in self._seen for ids in row) / (2 * len(self._seen))

    def state(self) -> dict[str, Tensor]:
        """The pieces, the hash of the file they were learnt from, and the first steps of epochs."""
        return {
            "digest": _bytes(self._digest.encode()),
            "epoch_starts": torch.tensor(self._epochs.starts),
            **{
                side: _bytes(vocabulary.proto)
                for side, vocabulary in zip(
                    _SIDES, (self.source_vocabulary, self.target_vocabulary), strict=True
                )
            },
        }

    def _encode(self, pairs: Sequence[Pair]) -> list[PairRow]:
        sources = self.source_vocabulary.encode_all(pair.source for pair in pairs)
        targets = self.target_vocabulary.encode_all(pair.target for pair in pairs)
        return list(zip(sources, targets, strict=True))

    def _assemble(self, rows: Sequence[PairRow]) -> Batch:
        """Source (B, S) ends in EOS; target (B, T + 1) begins with BOS and ends in EOS."""
        source = padded([[*ids, EOS] for ids, _ in rows])
        target = padded([[BOS, *ids, EOS] for _, ids in rows])
        return Batch(source.to(self.device), target.to(self.device))


def learn_vocabularies(
    pairs: Iterable[Pair], config: TrainingConfig
) -> tuple[PieceVocabulary, PieceVocabulary]:
    """The vocabularies of both sides, learnt from both together or from each alone."""
    pairs = list(pairs)
    learn = learn_words if len(pairs) < WHOLE_WORDS_BELOW else learn_pieces
    sources, targets = ([pair.source for pair in pairs], [pair.target for pair in pairs])
    if config.joint:
        both = learn([*dict.fromkeys(sources), *targets], config.pieces)
        return both, both
    return learn(dict.fromkeys(sources), config.pieces), learn(targets, config.pieces)


def fitting(
    pairs: Sequence[Pair], vocabularies: tuple[Vocabulary, Vocabulary], longest: int
) -> list[Pair]:
    """The pairs of at most `longest` pieces on either side."""
    source, target = vocabularies
    sizes = zip(
        source.encode_all(pair.source for pair in pairs),
        target.encode_all(pair.target for pair in pairs),
        strict=True,
    )
    return [pair for pair, ids in zip(pairs, sizes, strict=True) if max(map(len, ids)) <= longest]


def _held_out_texts(corpus: ParallelCorpus) -> set[str]:
    """The normalised sources and targets of the held-out parts."""
    judged = [pair for part in HELD_OUT_PARTS for pair in corpus.part(part)]
    return {normalised(text) for pair in judged for text in (pair.source, pair.target)}


def _excluded_sources(config: TrainingConfig) -> set[str]:
    """The normalised sources of the file `excluded`. Raises `PairsError`."""
    return (
        {normalised(source) for source in read_sources(config.excluded)}
        if config.excluded
        else set()
    )


def _further_pairs(config: TrainingConfig, corpus: ParallelCorpus) -> tuple[list[Pair], str]:
    """The pairs of the file `further_pairs`, without those that have a source or a target of
    the held-out parts, or a source of the file `excluded`; and the digest of all pairs.

    Raises `PairsError`.
    """
    if not config.further_pairs:
        return [], corpus.digest
    further = read_further_pairs(config.further_pairs, ("2", "1"))
    known = _held_out_texts(corpus)
    kept = _without(further.pairs, _excluded_sources(config))
    pairs = [p for p in kept if not {normalised(p.source), normalised(p.target)} & known]
    return pairs, sha256(f"{corpus.digest} {further.digest}".encode()).hexdigest()


def _without(pairs: Sequence[Pair], excluded: Collection[str]) -> Iterator[Pair]:
    """The pairs whose normalised source is not among `excluded`."""
    return (pair for pair in pairs if normalised(pair.source) not in excluded)


def _restored(
    saved: Mapping[str, Tensor], digest: str
) -> tuple[tuple[PieceVocabulary, PieceVocabulary], list[int]]:
    """Pieces and epoch starts from a `state`. Raises `PairsError` when the file has changed."""
    if bytes(saved["digest"].numpy()).decode() != digest:
        raise PairsError("pairs_changed")
    source, target = (PieceVocabulary(saved[side].numpy().tobytes()) for side in _SIDES)
    starts = saved["epoch_starts"].tolist() if "epoch_starts" in saved else [0]
    return (source, target), starts


def _bytes(data: bytes) -> Tensor:
    return torch.frombuffer(bytearray(data), dtype=torch.uint8)
