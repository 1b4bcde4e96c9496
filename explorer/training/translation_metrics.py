"""Evaluation of translations: greedy outputs, loss on held-out pairs, BLEU and chrF.

Scores are those of sacrebleu (Post 2018, arXiv 1804.08771): BLEU (Papineni et al. 2002) and chrF
(Popović 2015), with every known translation of a source as a reference.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from explorer.core.errors import VocabularyError
from explorer.core.vocabulary import EOS, PAD, Vocabulary
from explorer.data.batch import Batch
from explorer.model.greedy_decoding import greedy
from explorer.model.transformer import Transformer

DECODED_TOGETHER = 64
"""Sequences that are decoded or judged as one batch."""


@dataclass(frozen=True, slots=True)
class Scores:
    """BLEU and chrF of a corpus, 0 to 100, and sacrebleu's signatures of their settings."""

    bleu: float
    chrf: float
    bleu_signature: str
    chrf_signature: str
    length_ratio: float  # words of the outputs ÷ words of the references nearest in length


Advance = Callable[[int], object]
"""Called with the number of texts that are done since the last call."""


@dataclass(frozen=True, slots=True)
class MeanLoss:
    """Mean cross-entropy, nats a target token, and shares, 0 to 1, of what is predicted right."""

    smoothed: float  # with the label smoothing of the training
    plain: float
    accuracy: float  # the share of the tokens that are the most probable ones
    exact: float  # the share of the targets all of whose tokens are

    @property
    def perplexity(self) -> float:
        """exp(plain); infinite if that is too large."""
        return math.exp(min(self.plain, 50.0)) if math.isfinite(self.plain) else math.inf


def translate(
    model: Transformer,
    source: Vocabulary,
    target: Vocabulary,
    texts: Sequence[str],
    advance: Advance = lambda count: None,
) -> list[str]:
    """The greedy output for each text; texts of similar length are decoded together.

    advance: called with the number of texts that were decoded since the last call.

    Raises `VocabularyError` on a text that cannot be encoded or is too long for the model.
    """
    limit = model.config.max_length
    encoded = [[*source.encode(text), EOS] for text in texts]
    if (longest := max(map(len, encoded), default=0)) > limit:
        raise VocabularyError("long_source", got=longest, limit=limit)
    order = sorted(range(len(texts)), key=lambda place: len(encoded[place]))
    written = [""] * len(texts)
    with torch.inference_mode():
        for start in range(0, len(order), DECODED_TOGETHER):
            numbers = order[start : start + DECODED_TOGETHER]
            ids = padded([encoded[number] for number in numbers]).to(model.device)
            room = min(limit, 3 * ids.size(1) + 20)  # an endless repetition ends here
            for number, row in zip(numbers, greedy(model, ids, room).tolist(), strict=True):
                written[number] = target.decode(row)
            advance(len(numbers))
    return written


@torch.inference_mode()
def mean_loss(model: Transformer, batches: Iterable[Batch], smoothing: float = 0.0) -> MeanLoss:
    """The teacher-forced loss of `model`, in evaluation mode, on `batches`.

    smoothing: share of the probability that is spread evenly over the vocabulary.
    """
    plain, even, right, exact, tokens, targets = 0.0, 0.0, 0, 0, 0, 0
    for batch in batches:
        logits = model(batch.source, batch.target[:, :-1]).float()  # (B, T, V)
        expected = batch.target[:, 1:]
        counts = expected != PAD  # (B, T)
        is_best = logits[..., EOS:].argmax(-1) + EOS == expected  # never padding nor the beginning
        right += int((is_best & counts).sum())
        exact += int((is_best | ~counts).all(1).sum())
        log = F.log_softmax(logits[counts], -1)  # (N, V)
        plain -= float(log.gather(1, expected[counts][:, None]).sum())
        even -= float(log.mean(-1).sum())
        tokens += len(log)
        targets += len(expected)
    tokens = max(tokens, 1)
    smoothed = ((1 - smoothing) * plain + smoothing * even) / tokens
    return MeanLoss(smoothed, plain / tokens, right / tokens, exact / max(targets, 1))


def score(outputs: Sequence[str], references: Sequence[Sequence[str]]) -> Scores:
    """BLEU and chrF of outputs against all references of each.

    BLEU counts words; in scripts without spaces, characters.
    """
    from sacrebleu.metrics.bleu import BLEU  # takes half a second, and few processes need it
    from sacrebleu.metrics.chrf import CHRF

    most = max(map(len, references))
    streams: list[Any] = [  # None where a text has fewer references than another
        [known[number] if number < len(known) else None for known in references]
        for number in range(most)
    ]
    bleu, chrf = BLEU(tokenize=_tokenizer(references)), CHRF()
    first = bleu.corpus_score(list(outputs), streams)
    second = chrf.corpus_score(list(outputs), streams)
    return Scores(
        first.score,
        second.score,
        str(bleu.get_signature()),
        str(chrf.get_signature()),
        first.sys_len / max(first.ref_len, 1),
    )


def _tokenizer(texts: Sequence[Sequence[str]]) -> str:
    """The tokenizer of sacrebleu for the language of `texts`: words; in scripts without spaces,
    characters."""
    letters = [letter for known in texts for text in known for letter in text if letter.isalpha()]
    if 2 * sum(map(str.isascii, letters)) > len(letters):
        return "13a"
    chinese = sum("\u4e00" <= letter <= "\u9fff" for letter in letters)
    kana = sum("\u3040" <= letter <= "\u30ff" for letter in letters)
    if 10 * kana > len(letters):
        return "char"
    return "zh" if 2 * chinese > len(letters) else "13a"


def padded(rows: Sequence[Sequence[int]]) -> Tensor:
    """Ids (B, longest); shorter rows end in padding."""
    longest = max(map(len, rows))
    return torch.tensor([[*row, *[PAD] * (longest - len(row))] for row in rows])
