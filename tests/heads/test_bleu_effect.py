"""The change of BLEU without heads, against traces, and against sacrebleu on drawn sentences."""

import numpy as np
import pytest
from sacrebleu.metrics.bleu import BLEU

from explorer.core.interventions import Interventions
from explorer.heads import bleu_effect as module
from explorer.heads.bleu_effect import bleu_effect
from explorer.heads.bootstrap import RESAMPLES
from explorer.heads.counterfactuals import mean_outputs

PAIRS = [("1 2 3", "3 2 1"), ("甲", "甲"), ("3 3 1 2 2", "2 2 1 3 3"), ("2 2", "2 2")]
KNOWN = [[target] for _, target in PAIRS]
LINES = ["ablate cross.0.1", "ablate encoder.0.2", "ablate decoder.1.0"]
HEADS = [("cross", 0, 1), ("encoder", 0, 2), ("decoder", 1, 0)]


def score(outputs: list[str], rows: list[int], known: list[list[str]] = KNOWN) -> float:
    """Of these sentences, by sacrebleu."""
    chosen = [outputs[row] for row in rows]
    return float(BLEU().corpus_score(chosen, [[known[row][0] for row in rows]]).score)


def test_before_and_after_are_the_scores_of_traces(explorable) -> None:
    batch = explorable.passes.pairs(PAIRS, "pairs")
    found = bleu_effect(explorable, batch, KNOWN, Interventions.parse(LINES))
    rows = list(range(len(PAIRS)))
    before = [explorable.trace(source).text for source, _ in PAIRS]
    after = [explorable.trace(source, ablate=HEADS).text for source, _ in PAIRS]
    assert found.before == pytest.approx(score(before, rows))
    assert found.after == pytest.approx(score(after, rows))
    assert found.change == pytest.approx(found.after - found.before)
    means = mean_outputs(explorable, batch)
    removed = Interventions.gather(ablate=[(*head, "mean") for head in HEADS])
    by_mean = bleu_effect(explorable, batch, KNOWN, removed, means)
    after = [
        explorable.trace(source, ablate=[(*head, "mean") for head in HEADS], means=means).text
        for source, _ in PAIRS
    ]
    assert by_mean.after == pytest.approx(score(after, rows))


def test_each_resample_has_the_same_sentences_before_and_after(explorable, monkeypatch) -> None:
    """With outputs given by hand, and sentences drawn as counts say, scored by sacrebleu."""
    known = [["a b c d e"], ["f g h i j"], ["k l m n o"], ["p q r s t"]]
    before = ["a b c d e", "f g h i x", "k l m n o", "p q r s t"]
    after = ["a b c d x", "f g h i j", "k l x n o", "p q r s t"]
    outputs = iter((before, after))
    monkeypatch.setattr(module, "decoded", lambda *given: next(outputs))
    batch = explorable.passes.pairs(PAIRS, "pairs")
    found = bleu_effect(explorable, batch, known, Interventions.parse(LINES))
    draws = np.random.default_rng(0).multinomial(4, [0.25] * 4, RESAMPLES)
    changes = []
    for draw in draws:
        rows = np.repeat(np.arange(4), draw).tolist()
        changes.append(score(after, rows, known) - score(before, rows, known))
    assert (found.low, found.high) == pytest.approx(tuple(np.percentile(changes, [2.5, 97.5])))
    assert found.low < found.change < found.high


def test_what_is_equal_before_and_after_has_no_interval(explorable, monkeypatch) -> None:
    """Though BLEU itself varies with the sentences."""
    monkeypatch.setattr(module, "decoded", lambda *given: ["3 2 1", "x", "2 2 1 3 3", "2"])
    batch = explorable.passes.pairs(PAIRS, "pairs")
    found = bleu_effect(explorable, batch, KNOWN, Interventions.parse(LINES))
    assert (found.change, found.low, found.high) == (0.0, 0.0, 0.0)
