"""The change of BLEU without heads, against traces, and against sacrebleu on drawn sentences."""

from statistics import NormalDist

import numpy as np
import pytest
from sacrebleu.metrics.bleu import BLEU
from scipy.stats import binom

from explorer.core.interventions import Interventions
from explorer.data.bleu import corpus_bleu, sentence_counts
from explorer.heads.metrics.bootstrap import RESAMPLES, percentile_ends
from explorer.heads.removal import bleu_effect as module
from explorer.heads.removal.bleu_effect import bleu_by_head, bleu_effect
from explorer.heads.removal.counterfactuals import mean_outputs
from tests.support.documented_tables import rows_below

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


def test_of_each_head_alone_the_change_is_that_of_removing_it(explorable) -> None:
    batch = explorable.passes.pairs(PAIRS, "pairs")
    shares = []
    table = bleu_by_head(explorable, batch, KNOWN, shares.append)
    heads = explorable.passes.heads
    assert table[["site", "layer", "head"]].to_numpy().tolist() == [list(head) for head in heads]
    for row, head in list(zip(table.itertuples(), heads, strict=True))[::4]:
        removed = Interventions.gather(ablate=[head])
        alone = bleu_effect(explorable, batch, KNOWN, removed)
        found = (row.zero_bleu, row.zero_bleu_low, row.zero_bleu_high)
        assert found == pytest.approx((alone.change, alone.low, alone.high))
    assert shares[-1] == 1
    assert shares == sorted(shares)


def test_p_is_of_the_normal_distribution_corrected_for_the_number_of_heads(
    explorable, monkeypatch
) -> None:
    """Outputs given by hand: one head changes nothing, each other one half of the sentences."""
    heads, size = len(explorable.passes.heads), 12
    known = [["a b c d e"]] * size
    whole, worse = ["a b c d e"] * size, ["a b c d e", "a b x y z"] * (size // 2)
    outputs = [whole, whole, *[worse] * (heads - 1)]
    monkeypatch.setattr(module, "decoded_each", lambda *given, **more: outputs)
    batch = explorable.passes.pairs([("1", "1")] * size, "pairs")
    table = bleu_by_head(explorable, batch, known)
    assert table.zero_bleu_p[0] == 1
    assert table.zero_bleu[0] == table.zero_bleu_low[0] == table.zero_bleu_high[0] == 0
    draws = np.random.default_rng(0).multinomial(size, [1 / size] * size, RESAMPLES)
    rows = [np.repeat(np.arange(size), draw).tolist() for draw in draws]
    changes = [score(worse, own, known) - score(whole, own, known) for own in rows]
    change = score(worse, list(range(size)), known) - 100
    assert table.zero_bleu[1] == pytest.approx(change)
    tail = 2 * NormalDist().cdf(-abs(change) / np.std(changes, ddof=1))
    assert table.zero_bleu_p[1] == pytest.approx(min(1, tail * heads), rel=1e-6)


@pytest.mark.parametrize("row", rows_below("Where the intervals are too short")[:2])
def test_the_interval_holds_as_often_as_the_documents_say_where_few_sentences_score_otherwise(row):
    """Their number decides all, and has a binomial distribution."""
    size, *stated = row
    known = [["a b c d e f g h"]]
    right, wrong = (sentence_counts([text], known)[0] for text in (known[0][0], "a b c x y z w h"))
    whole = np.repeat(right[None], size, 0)
    ends = []
    for count in range(31):
        without = whole.copy()
        without[:count] = wrong
        changes = module.resampled_bleu(without) - module.resampled_bleu(whole)
        ends.append(percentile_ends(changes, size))
    for share, percent in zip((0.01, 0.02, 0.05, 0.1), stated, strict=True):
        total = (10_000 * ((1 - share) * right + share * wrong)).round().astype(np.int64)
        true = corpus_bleu(total) - 100
        held = sum(
            binom.pmf(count, size, share) * (low <= true <= high)
            for count, (low, high) in enumerate(ends)
        )
        assert 100 * held == pytest.approx(percent, abs=3), share
