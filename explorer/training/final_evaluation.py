"""Final evaluation of a checkpoint: once, on the test part, which influenced no earlier choice."""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from explorer.core.errors import PairsError
from explorer.data.parallel_corpus import ParallelCorpus, read_pairs, references, separator_of
from explorer.data.text_corpus import TextCorpus, read_corpus
from explorer.data.toy_data import find_task
from explorer.model.checkpoint import Checkpoint
from explorer.training.config import TrainingConfig
from explorer.training.text_data import text_batches
from explorer.training.toy_evaluation import (
    evaluate,
    exact_match_by_length,
    mean_by_halves,
    typed_alphabets,
)
from explorer.training.translation_data import fitting
from explorer.training.translation_metrics import Scores, mean_loss, score, translate

JOINED = 100
"""Number of texts of several held-out sentences, to test whether longer input is translated
completely."""

SENTENCES_JOINED = (3, 6)
"""Numbers of sentences in a joined text."""

_MOST_REFERENCES = 4  # of a sentence in a joined text of three; all combinations are used


Progress = Callable[[float], object]
"""Called with the share that is done, 0 to 1."""


class _Parts:
    """Tells `progress` the share of parts that are done, of `total`."""

    def __init__(self, total: int, progress: Progress) -> None:
        self._done, self._total = 0, total
        self._progress = progress

    def done(self, count: int = 1) -> None:
        self._done += count
        self._progress(self._done / self._total)


@dataclass(frozen=True, slots=True)
class FinalEvaluation:
    """facts: JSON values for the checkpoint; sentence: a summary to print."""

    facts: dict[str, Any]
    sentence: str


def evaluate_checkpoint(
    checkpoint: Checkpoint, config: TrainingConfig, progress: Progress = lambda share: None
) -> FinalEvaluation:
    """Evaluate a model on the data its training held out. Raises `PairsError`."""
    if config.texts:
        return evaluate_texts(checkpoint, read_corpus(config.texts, config.columns[0]))
    if config.pairs:
        corpus = read_pairs(config.pairs, config.columns)
        return evaluate_translations(checkpoint, corpus, progress)
    return _evaluate_task(checkpoint, config, progress)


def _evaluate_task(
    checkpoint: Checkpoint, config: TrainingConfig, progress: Progress
) -> FinalEvaluation:
    task, alphabets = find_task(config.task), typed_alphabets(config.symbols)
    lengths = range(1, config.longest + 1)
    part = _Parts((1 + len(alphabets)) * len(lengths), progress)
    evaluation = evaluate(
        checkpoint.model, task, len(config.symbols), config.longest, advance=part.done
    )
    layer, head = evaluation.best_head
    by_length = evaluation.exact_match_by_length
    by_alphabet = {}
    for name, alphabet in alphabets.items():
        exact = exact_match_by_length(checkpoint.model, task, alphabet, lengths, advance=part.done)
        by_alphabet[name] = mean_by_halves(exact)
    worst = min(share for halves in by_alphabet.values() for share in halves.values())
    facts = {
        "exact_match": round(evaluation.exact_match, 5),
        "exact_match_by_length": {str(size): round(share, 5) for size, share in by_length.items()},
        "exact_match_by_alphabet": {
            name: {half: round(share, 5) for half, share in halves.items()}
            for name, halves in by_alphabet.items()
        },
        "gold_weight": evaluation.gold.round(4).tolist(),
    }
    sentence = (
        f"exact match {evaluation.exact_match:.2%} on held-out sequences of 1 to "
        f"{config.longest} symbols, 300 each; of digits, letters or few symbols alone at least "
        f"{worst:.2%}; best cross head L{layer} H{head}, gold weight {evaluation.gold.max():.3f}"
    )
    return FinalEvaluation(facts, sentence)


def evaluate_texts(checkpoint: Checkpoint, corpus: TextCorpus) -> FinalEvaluation:
    """Perplexity of a decoder alone on the test part, a piece and a word: the nats of all texts and
    their ends, divided by the number of pieces or words, ends included.

    Raises `PairsError` when all texts are too long for the model.
    """
    room = checkpoint.model.config.max_length - 1  # EOS takes one position
    test = corpus.part("test")
    rows = checkpoint.target_vocabulary.encode_all(test)
    known = [(text, row) for text, row in zip(test, rows, strict=True) if len(row) <= room]
    if not known:
        raise PairsError("texts_overlong", longest=room)
    known.sort(key=lambda pair: len(pair[1]))  # little is padded
    judged = [row for _, row in known]
    loss = mean_loss(checkpoint.model, text_batches(judged, checkpoint.model.device))
    pieces, words = (sum(len(one) + 1 for one in rows) for rows in (judged, _words(known)))
    by_word = math.exp(loss.plain * pieces / words)
    facts = {
        "perplexity": round(loss.perplexity, 3),
        "word_perplexity": round(by_word, 3),
        "accuracy": round(loss.accuracy, 5),
        "test_texts": len(known),
        "test_overlong": len(test) - len(known),
    }
    sentence = (
        f"perplexity {by_word:.2f} a word, {loss.perplexity:.2f} a piece on {len(known)} held-out "
        f"texts; {loss.accuracy:.1%} of the next pieces are the most probable ones"
    )
    return FinalEvaluation(facts, sentence)


def _words(known: Iterable[tuple[str, list[int]]]) -> list[list[str]]:
    return [text.split() for text, _ in known]


def evaluate_translations(
    checkpoint: Checkpoint, corpus: ParallelCorpus, progress: Progress = lambda share: None
) -> FinalEvaluation:
    """BLEU and chrF of greedy translations of the test part's distinct sources, all references; of
    all sources if none is held out.

    Also on texts that join several sources, compared with the same sentences translated one by one.

    Raises `PairsError` when all sources are too long for the model.
    """
    test = corpus.part("test") if corpus.holds_out else corpus.pairs
    kind = "held-out" if corpus.holds_out else "learnt"
    vocabularies = checkpoint.source_vocabulary, checkpoint.target_vocabulary
    room = checkpoint.model.config.max_length - 1  # EOS takes one position
    known = fitting(test, vocabularies, room)
    judged = references(known)
    if not judged:
        raise PairsError("nothing_to_judge_by", longest=room)
    joinable = {
        size: short
        for size in SENTENCES_JOINED
        if len(short := references(fitting(known, vocabularies, room // size))) >= size
    }
    texts = _Parts(len(judged) + JOINED * len(joinable), progress)
    written = _outputs(checkpoint, list(judged), texts)
    outputs = dict(zip(judged, written, strict=True))
    alone = score(list(outputs.values()), list(judged.values()))
    facts: dict[str, Any] = {
        "bleu": round(alone.bleu, 2),
        "chrf": round(alone.chrf, 2),
        "bleu_signature": alone.bleu_signature,
        "chrf_signature": alone.chrf_signature,
        "test_sources": len(judged),
        "test_overlong": len(test) - len(known),
    }
    sentence = (
        f"BLEU {alone.bleu:.2f} ({alone.bleu_signature}), chrF {alone.chrf:.2f} "
        f"({alone.chrf_signature}) on {len(judged)} {kind} sources, all references, greedy"
    )
    separators = (
        separator_of(list(judged)),
        separator_of([text for texts in judged.values() for text in texts]),
    )
    for size, short in joinable.items():
        joined, apart = _joined_scores(checkpoint, short, outputs, size, separators, texts)
        name = "joined" if size == SENTENCES_JOINED[0] else f"joined_{size}"
        facts |= {
            f"{name}_bleu": round(joined.bleu, 2),
            f"{name}_bleu_one_by_one": round(apart.bleu, 2),
            f"{name}_length_ratio": round(joined.length_ratio, 3),
        }
        sentence += (
            f"; {JOINED} texts of {size} of them: BLEU {joined.bleu:.2f}, one by one "
            f"{apart.bleu:.2f}, length ratio {joined.length_ratio:.3f}"
        )
    return FinalEvaluation(facts, sentence)


def _joined_scores(
    checkpoint: Checkpoint,
    known: dict[str, list[str]],
    outputs: dict[str, str],
    size: int,
    separators: tuple[str, str],
    texts: _Parts,
) -> tuple[Scores, Scores]:
    """Scores of joined texts, translated as one and sentence by sentence.

    known: sources with their references; outputs: their translations one by one; texts: counts the
    translated texts for the progress.
    """
    groups = _groups(list(known), size)
    source, target = separators
    right = [_joined_references([known[text] for text in group], target) for group in groups]
    sources = [source.join(group) for group in groups]
    joined = score(_outputs(checkpoint, sources, texts), right)
    apart = score([target.join(outputs[one] for one in group) for group in groups], right)
    return joined, apart


def _groups(sources: list[str], size: int) -> list[list[str]]:
    random = np.random.default_rng(0)
    chosen = [random.choice(len(sources), size, replace=False) for _ in range(JOINED)]
    return [[sources[number] for number in numbers] for numbers in chosen]


def _joined_references(each: list[list[str]], separator: str) -> list[str]:
    """All combinations of the first few translations of each sentence, joined in order.

    With more sentences, fewer translations of each are used: there would be too many combinations.
    """
    few = max(1, round(_MOST_REFERENCES ** (SENTENCES_JOINED[0] / len(each))))
    return [separator.join(chosen) for chosen in product(*(known[:few] for known in each))]


def _outputs(checkpoint: Checkpoint, sources: list[str], texts: _Parts) -> list[str]:
    vocabularies = checkpoint.source_vocabulary, checkpoint.target_vocabulary
    return translate(checkpoint.model, *vocabularies, sources, texts.done)
