"""BLEU (Papineni et al. 2002) from counts of each sentence, so that sentences can be drawn again.

The counts are those of sacrebleu (Post 2018, arXiv 1804.08771); summed over sentences they give
the BLEU of the corpus, so a bootstrap need not count n-grams again.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

ORDER = 4
"""The longest n-grams."""


def sentence_counts(
    outputs: Sequence[str], references: Sequence[Sequence[str]]
) -> NDArray[np.int64]:
    """Counts (sentence, 2 · `ORDER` + 2) of each output.

    For n from 1 to `ORDER` the numbers of n-grams that are in a reference, then the numbers of all
    n-grams; then its words, and the words of the reference nearest in length.
    """
    from sacrebleu.metrics.bleu import BLEU  # takes half a second, and few processes need it

    # The effective order changes only the score of a single sentence, not the counts.
    bleu = BLEU(tokenize=tokenizer_of(references), effective_order=True)
    rows = []
    for output, known in zip(outputs, references, strict=True):
        found = bleu.sentence_score(output, list(known))
        rows.append([*found.counts, *found.totals, found.sys_len, found.ref_len])
    return np.array(rows, dtype=np.int64)


def corpus_bleu(counts: NDArray[np.int64]) -> float:
    """BLEU, 0 to 100, of the sentences with these counts, or of one row that is their sum."""
    from sacrebleu.metrics.bleu import BLEU

    total = [int(count) for count in np.atleast_2d(counts).sum(0)]
    matches, ngrams, (words, wanted) = total[:ORDER], total[ORDER:-2], total[-2:]
    return float(BLEU.compute_bleu(matches, ngrams, words, wanted, smooth_method="exp").score)


def tokenizer_of(texts: Sequence[Sequence[str]]) -> str:
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
