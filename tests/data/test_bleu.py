"""BLEU from counts of sentences, against sacrebleu's own corpus score."""

import pytest
from sacrebleu.metrics.bleu import BLEU

from explorer.data.bleu import corpus_bleu, sentence_counts, tokenizer_of

OUTPUTS = ["The cat sat on the mat.", "He is here today.", "", "A dog ran", "Yes."]
REFERENCES = [
    ["The cat sat on the mat.", "A cat was sitting on the mat."],
    ["He is here now.", "Today he is here, too."],
    ["Nothing."],
    ["A dog was running away"],
    ["Yes, of course."],
]


def own_score(outputs: list[str], references: list[list[str]], tokenizer: str) -> float:
    most = max(map(len, references))
    streams = [
        [known[number] if number < len(known) else None for known in references]
        for number in range(most)
    ]
    return float(BLEU(tokenize=tokenizer).corpus_score(outputs, streams).score)


@pytest.mark.parametrize("rows", [[0, 1, 2, 3, 4], [3], [2], [1, 1, 4]])
def test_the_sum_of_the_counts_gives_the_score_of_the_corpus(rows: list[int]) -> None:
    counts = sentence_counts(OUTPUTS, REFERENCES)
    assert counts.shape == (5, 10)
    outputs, references = [OUTPUTS[row] for row in rows], [REFERENCES[row] for row in rows]
    assert corpus_bleu(counts[rows]) == pytest.approx(own_score(outputs, references, "13a"))


def test_counts_by_hand() -> None:
    """ "A dog ran": A and dog are in the reference, and so is "A dog"; three words against five."""
    (row,) = sentence_counts(OUTPUTS[3:4], REFERENCES[3:4])
    assert row.tolist() == [2, 1, 0, 0, 3, 2, 1, 0, 3, 5]


def test_scripts_without_spaces_are_counted_by_characters() -> None:
    assert tokenizer_of(REFERENCES) == "13a"
    assert tokenizer_of([["猫坐在垫子上。"]]) == "zh"
    assert tokenizer_of([["ねこがいる"]]) == "char"
    assert tokenizer_of([["Кошка сидит"]]) == "13a"
    counts = sentence_counts(["猫坐在这里"], [["猫坐在垫子上"]])
    assert counts[0].tolist() == [3, 2, 1, 0, 5, 4, 3, 2, 5, 6]
