"""A language model against a trigram of the same pieces: perplexity per word of held-out texts.

    python -m benchmarks.language_model checkpoints/english.safetensors english.txt

The texts are those the model was trained on. The trigram counts their training part, the test part
judges both: nats of all pieces and ends, divided by the number of words and ends. Interpolated
Kneser–Ney smoothing with one discount an order (Chen & Goodman 1999).
"""

import argparse
import math
from collections import Counter
from collections.abc import Iterable, Sequence

import torch

from explorer.core.vocabulary import BOS, EOS
from explorer.data.text_corpus import read_corpus
from explorer.model.checkpoint import load_checkpoint
from explorer.training.final_evaluation import evaluate_texts

Counts = Counter[tuple[int, ...]]  # of pieces in a row

ADDED = 0.5  # to the count of every piece, so that none is impossible
USUAL_DISCOUNT = 0.5  # where nothing was counted once


class Trigram:
    """Probabilities of a piece after two others."""

    def __init__(self, rows: Iterable[Sequence[int]], pieces: int) -> None:
        """rows: pieces of each text, from two beginnings to its end."""
        self.triples: Counts = Counter(
            triple for row in rows for triple in zip(row, row[1:], row[2:], strict=False)
        )
        self.pairs: Counts = Counter(triple[1:] for triple in self.triples)  # different contexts
        self.single: Counts = Counter(pair[1:] for pair in self.pairs)
        self.all = self.single.total() + ADDED * pieces
        self.after_two, self.followers_of_two = _contexts(self.triples)
        self.after_one, self.followers_of_one = _contexts(self.pairs)
        self.discounts = _discount(self.pairs), _discount(self.triples)

    def probability(self, x: int, y: int, z: int) -> float:
        """Of `z` after `x` and `y`."""
        shorter = self._after_one(y, z)
        total = self.after_two[x, y]
        if not total:
            return shorter
        discount = self.discounts[1]
        left = discount * self.followers_of_two[x, y] / total
        return max(self.triples[x, y, z] - discount, 0) / total + left * shorter

    def _after_one(self, y: int, z: int) -> float:
        shorter = (self.single[(z,)] + ADDED) / self.all
        total = self.after_one[(y,)]
        if not total:
            return shorter
        discount = self.discounts[0]
        left = discount * self.followers_of_one[(y,)] / total
        return max(self.pairs[y, z] - discount, 0) / total + left * shorter

    def nats(self, row: Sequence[int]) -> float:
        """Of a text, from two beginnings to its end."""
        triples = zip(row, row[1:], row[2:], strict=False)
        return -sum(math.log(self.probability(*triple)) for triple in triples)


def _contexts(counts: Counts) -> tuple[Counts, Counts]:
    """By what comes before the last piece: all counts, and the number of different last pieces."""
    totals: Counts = Counter()
    followers: Counts = Counter()
    for pieces, count in counts.items():
        totals[pieces[:-1]] += count
        followers[pieces[:-1]] += 1
    return totals, followers


def _discount(counts: Counts) -> float:
    once, twice = (sum(count == number for count in counts.values()) for number in (1, 2))
    return once / (once + 2 * twice) if once else USUAL_DISCOUNT


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("checkpoint")
    parser.add_argument("texts", help="the file it was trained on")
    parser.add_argument("--column", default="1")
    given = parser.parse_args(arguments)
    torch.set_num_threads(1)
    checkpoint = load_checkpoint(given.checkpoint)
    corpus = read_corpus(given.texts, given.column)
    encode = checkpoint.target_vocabulary.encode_all
    longest = checkpoint.model.config.max_length - 1
    rows = ([BOS, BOS, *row, EOS] for row in encode(corpus.part("training")))
    trigram = Trigram(rows, len(checkpoint.target_vocabulary))
    test = corpus.part("test")
    known = [
        (text, row) for text, row in zip(test, encode(test), strict=True) if len(row) <= longest
    ]
    words = sum(len(text.split()) + 1 for text, _ in known)
    nats = sum(trigram.nats([BOS, BOS, *row, EOS]) for _, row in known)
    by_trigram = math.exp(nats / words)
    by_model = evaluate_texts(checkpoint, corpus).facts["word_perplexity"]
    print(f"{len(known)} held-out texts, {words} words and ends")
    print(f"Kneser-Ney trigram: perplexity per word {by_trigram:.1f}")
    print(f"{given.checkpoint}: {by_model:.1f}, {by_model / by_trigram:.2f} ×")


if __name__ == "__main__":
    main()
