"""Learn to translate from pairs of sentences, and judge translations.

SentencePiece learns its pieces from the training part alone; scores are taken on held-out
sources with all their translations as references (Papineni et al. 2002; Popović 2015; through
sacrebleu, Post 2018, arXiv 1804.08771).
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor

from explorer.core.errors import PairsError, VocabularyError
from explorer.core.sentencepiece_vocabulary import PieceVocabulary, learn_pieces
from explorer.core.vocabulary import BOS, EOS, PAD, Vocabulary
from explorer.data.batch import Batch
from explorer.data.parallel_corpus import Pair, Pairs, references
from explorer.model.greedy_decoding import greedy
from explorer.model.transformer import Transformer
from explorer.training.config import TrainingConfig

SAMPLE = 200
"""Distinct sources of the dev part that each moment of a training is judged by."""

SHOWN = 4
"""Translations of them that each moment shows."""

EXAMPLES = 24
"""Sources of them that a checkpoint brings along, to try it with."""

_SIDES = ("source", "target")
_SORTED_TOGETHER = 50  # batches whose pairs are sorted by length among themselves
_MOST_JOINED = 4  # pairs in one, at most
_DECODED_TOGETHER = 64


@dataclass(frozen=True, slots=True)
class Scores:
    """BLEU and chrF, 0 to 100, of a corpus, and how sacrebleu says they were computed."""

    bleu: float
    chrf: float
    bleu_signature: str
    chrf_signature: str
    length_ratio: float  # words written per word of the nearest reference


class PairsLesson:
    """Pairs of sentences, batched by length; which ones a step sees follows from its number."""

    fixed_shapes = False
    generator = None

    def __init__(
        self,
        config: TrainingConfig,
        pairs: Pairs,
        device: torch.device,
        vocabularies: tuple[PieceVocabulary, PieceVocabulary] | None = None,
    ) -> None:
        self.config = config
        self.device = device
        self.pairs = pairs
        training, dev = pairs.part("training"), pairs.part("dev")
        chosen = vocabularies or vocabularies_of(training, config)
        self.source_vocabulary, self.target_vocabulary = chosen
        self.model_config = config.model_config(len(chosen[0]), len(chosen[1]))
        self._sources = self.source_vocabulary.encode_all(pair.source for pair in training)
        self._targets = self.target_vocabulary.encode_all(pair.target for pair in training)
        sizes = np.maximum([len(x) for x in self._sources], [len(x) for x in self._targets])
        self._fitting = np.flatnonzero(sizes <= config.longest)
        known = fitting(dev, chosen, config.longest)
        self.overlong = len(training) - len(self._fitting) + len(dev) - len(known)
        if len(self._fitting) < config.batch:
            raise PairsError("too_few_to_batch", got=len(self._fitting), batch=config.batch)
        self._epoch: tuple[int, list[list[NDArray[np.intp]]]] = (-1, [])
        if not known:
            raise PairsError("nothing_to_judge_by", longest=config.longest)
        everything = references(known)
        self._sample = dict(list(everything.items())[:SAMPLE])
        firsts = [targets[0] for targets in self._sample.values()]
        self._held = list(
            zip(
                self.source_vocabulary.encode_all(self._sample),
                self.target_vocabulary.encode_all(firsts),
                strict=True,
            )
        )

    @property
    def steps_an_epoch(self) -> int:
        return len(self._fitting) // self.config.batch

    def batch(self, step: int) -> Batch:
        epoch, number = divmod(step, self.steps_an_epoch)
        if self._epoch[0] != epoch:
            self._epoch = (epoch, self._deal(epoch))
        chosen = self._epoch[1][number]
        return self._assemble(
            [
                (
                    [number for place in places for number in self._sources[place]],
                    [number for place in places for number in self._targets[place]],
                )
                for places in chosen
            ]
        )

    def measure(self, model: Transformer) -> dict[str, Any]:
        """perplexity, BLEU and chrF on a sample of the dev part, and some translations."""
        written = translate(
            model, self.source_vocabulary, self.target_vocabulary, list(self._sample)
        )
        scores = score(written, list(self._sample.values()))
        starts = range(0, len(self._held), _DECODED_TOGETHER)
        held = (self._assemble(self._held[at : at + _DECODED_TOGETHER]) for at in starts)
        samples = zip(self._sample.items(), written, strict=True)
        return {
            "perplexity": round(perplexity(model, held), 4),
            "bleu": round(scores.bleu, 2),
            "chrf": round(scores.chrf, 2),
            "samples": [
                {"source": source, "written": text, "reference": targets[0]}
                for (source, targets), text in list(samples)[:SHOWN]
            ],
        }

    def score(self, measured: dict[str, Any]) -> float:
        """BLEU ÷ 100."""
        return float(measured["bleu"]) / 100

    def probe(self) -> tuple[str, str]:
        """The first held-out source of six to twelve pieces, with its first translation."""
        source = next(iter([*self._of_size(6, 12), *self._sample]))
        return source, self._sample[source][0]

    def examples(self) -> list[str]:
        """Held-out sources that are neither very short nor long, the probe first."""
        first = self.probe()[0]
        some = (text for text in self._of_size(4, 16) if text != first)
        return [first, *islice(some, EXAMPLES - 1)]

    def _of_size(self, least: int, most: int) -> Iterator[str]:
        """Sources of the sample with `least` to `most` pieces."""
        for source, (ids, _) in zip(self._sample, self._held, strict=True):
            if least <= len(ids) <= most:
                yield source

    def facts(self) -> dict[str, Any]:
        counts = self.pairs.counts
        return {
            "task": self.config.task,
            "longest": self.config.longest,
            "examples": self.examples(),
            "pairs": {
                "rows": counts.rows,
                "kept": counts.kept,
                "incomplete": counts.incomplete,
                "blank": counts.blank,
                "duplicate": counts.duplicate,
                "overlong": self.overlong,
                "digest": self.pairs.digest,
            },
        }

    def state(self) -> dict[str, Tensor]:
        """The pieces, and which file they were learnt from."""
        return {
            "digest": _bytes(self.pairs.digest.encode()),
            **{
                side: _bytes(vocabulary.proto)
                for side, vocabulary in zip(
                    _SIDES, (self.source_vocabulary, self.target_vocabulary), strict=True
                )
            },
        }

    def _deal(self, epoch: int) -> list[list[NDArray[np.intp]]]:
        """The batches of an epoch: each a list of groups of pairs that are joined.

        Groups of similar length go together, so that little is padded.
        """
        random = np.random.default_rng((self.config.seed, epoch))
        order = random.permutation(self._fitting)
        groups = [self._group(place, random) for place in order]
        sources, targets = (
            np.array([sum(len(side[place]) for place in group) for group in groups])
            for side in (self._sources, self._targets)
        )
        size = self.config.batch
        chunks = np.split(
            np.arange(len(groups)),
            range(_SORTED_TOGETHER * size, len(groups), _SORTED_TOGETHER * size),
        )
        sequence = np.concatenate(
            [chunk[np.lexsort((sources[chunk], targets[chunk]))] for chunk in chunks]
        )
        batches = [
            [groups[place] for place in sequence[start : start + size]]
            for start in range(0, self.steps_an_epoch * size, size)
        ]
        return [batches[number] for number in random.permutation(len(batches))]

    def _group(self, first: np.intp, random: np.random.Generator) -> NDArray[np.intp]:
        """A pair, or with the chance `joined` several that make one longer text."""
        alone = np.array([first])
        if random.random() >= self.config.joined:
            return alone
        more = random.choice(self._fitting, random.integers(1, _MOST_JOINED))
        group = np.concatenate([alone, more])
        for side in (self._sources, self._targets):
            if sum(len(side[place]) for place in group) > self.config.longest:
                return alone
        return group

    def _assemble(self, rows: Sequence[tuple[Sequence[int], Sequence[int]]]) -> Batch:
        source = padded([[*ids, EOS] for ids, _ in rows])
        target = padded([[BOS, *ids, EOS] for _, ids in rows])
        return Batch(source.to(self.device), target.to(self.device))


def vocabularies_of(
    pairs: Iterable[Pair], config: TrainingConfig
) -> tuple[PieceVocabulary, PieceVocabulary]:
    """The pieces of both sides, learnt together or apart."""
    pairs = list(pairs)
    sources, targets = ([pair.source for pair in pairs], [pair.target for pair in pairs])
    if config.joint:
        both = learn_pieces([*dict.fromkeys(sources), *targets], config.pieces)
        return both, both
    return learn_pieces(dict.fromkeys(sources), config.pieces), learn_pieces(targets, config.pieces)


def padded(rows: Sequence[Sequence[int]]) -> Tensor:
    """Ids (B, longest), the shorter ones followed by padding."""
    longest = max(map(len, rows))
    return torch.tensor([[*row, *[PAD] * (longest - len(row))] for row in rows])


def translate(
    model: Transformer, source: Vocabulary, target: Vocabulary, texts: Sequence[str]
) -> list[str]:
    """The greedy output for each text, decoded many at a time.

    Raises `VocabularyError` on a text that cannot be read or is too long.
    """
    device = next(model.parameters()).device
    limit = model.config.max_length
    encoded = [[*source.encode(text), EOS] for text in texts]
    if (longest := max(map(len, encoded), default=0)) > limit:
        raise VocabularyError("long_source", got=longest, limit=limit)
    order = sorted(range(len(texts)), key=lambda place: len(encoded[place]))
    written = [""] * len(texts)
    with torch.inference_mode():
        for start in range(0, len(order), _DECODED_TOGETHER):
            places = order[start : start + _DECODED_TOGETHER]
            ids = padded([encoded[place] for place in places]).to(device)
            room = min(limit, 3 * ids.size(1) + 20)  # a loop that never ends ends here
            for place, row in zip(places, greedy(model, ids, room).tolist(), strict=True):
                written[place] = target.decode(row)
    return written


@torch.inference_mode()
def perplexity(model: Transformer, batches: Iterable[Batch]) -> float:
    """exp of the mean loss a token, teacher-forced; infinite where that is too large."""
    loss, tokens = 0.0, 0
    for batch in batches:
        logits = model(batch.source, batch.target[:, :-1]).flatten(0, 1)  # (B · T, V)
        expected = batch.target[:, 1:].flatten()
        loss += float(F.cross_entropy(logits, expected, ignore_index=PAD, reduction="sum"))
        tokens += int((expected != PAD).sum())
    mean = loss / max(tokens, 1)
    return math.exp(min(mean, 50.0)) if math.isfinite(mean) else math.inf


def score(written: Sequence[str], right: Sequence[Sequence[str]]) -> Scores:
    """BLEU and chrF of what was written against all the right translations of each.

    BLEU counts words; in scripts without spaces, characters.
    """
    from sacrebleu.metrics.bleu import BLEU  # half a second that few need
    from sacrebleu.metrics.chrf import CHRF

    most = max(map(len, right))
    streams: list[Any] = [  # None where a text has fewer translations than another
        [known[place] if place < len(known) else None for known in right] for place in range(most)
    ]
    bleu, chrf = BLEU(tokenize=_tokenizer(right)), CHRF()
    first = bleu.corpus_score(list(written), streams)
    second = chrf.corpus_score(list(written), streams)
    return Scores(
        first.score,
        second.score,
        str(bleu.get_signature()),
        str(chrf.get_signature()),
        first.sys_len / max(first.ref_len, 1),
    )


def vocabularies_in(
    state: Mapping[str, Tensor], pairs: Pairs
) -> tuple[PieceVocabulary, PieceVocabulary]:
    """The pieces in a `PairsLesson.state`. Raises `PairsError` when `pairs` are others now."""
    if bytes(state["digest"].numpy()).decode() != pairs.digest:
        raise PairsError("pairs_changed")
    source, target = (PieceVocabulary(state[side].numpy().tobytes()) for side in _SIDES)
    return source, target


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


def _tokenizer(texts: Sequence[Sequence[str]]) -> str:
    """What sacrebleu should split the language of `texts` with."""
    letters = [letter for known in texts for text in known for letter in text if letter.isalpha()]
    if 2 * sum(map(str.isascii, letters)) > len(letters):
        return "13a"
    chinese = sum("\u4e00" <= letter <= "\u9fff" for letter in letters)
    kana = sum("\u3040" <= letter <= "\u30ff" for letter in letters)
    if 10 * kana > len(letters):
        return "char"
    return "zh" if 2 * chinese > len(letters) else "13a"


def _bytes(data: bytes) -> Tensor:
    return torch.frombuffer(bytearray(data), dtype=torch.uint8)
