"""BLEU with fewer heads, against traces with these heads removed and sacrebleu's corpus score."""

import numpy as np
import pytest
from sacrebleu.metrics.bleu import BLEU

from explorer.core.interventions import Interventions
from explorer.heads.pruning.pruning_bleu import bleu_points, bleu_with, whole_counts
from explorer.heads.removal.bleu_effect import bleu_effect, resampled_bleu

PAIRS = [("1 2 3", "3 2 1"), ("甲", "甲"), ("3 3 1 2 2", "2 2 1 3 3"), ("2 2", "2 2")]
KNOWN = [[target] for _, target in PAIRS]


@pytest.fixture
def batch(explorable):
    return explorable.passes.pairs(PAIRS, "pairs")


@pytest.fixture
def whole(explorable, batch):
    return whole_counts(explorable, batch, KNOWN)


@pytest.fixture
def outputs(explorable):
    """What the model writes without some of its heads, one sentence at a time."""

    def without(numbers):
        heads = [explorable.passes.heads[number] for number in numbers]
        traces = [explorable.trace(source, ablate=heads) for source, _ in PAIRS]
        return [trace.text for trace in traces]

    return without


@pytest.mark.parametrize("stay", [15, 11, 4])
def test_the_output_is_that_of_a_trace_without_these_heads(explorable, batch, whole, outputs, stay):
    removal = np.random.default_rng(1).permutation(15)
    expected = outputs(removal[: 15 - stay])
    point = bleu_with(explorable, batch, KNOWN, [removal], stay, whole)
    score = BLEU(tokenize="13a").corpus_score(expected, [[known[0] for known in KNOWN]])
    assert point.value == pytest.approx(score.score)
    assert point.low <= point.high
    removed = [explorable.passes.heads[number] for number in removal[: 15 - stay]]
    if removed:
        known = bleu_effect(explorable, batch, KNOWN, Interventions.gather(ablate=removed))
        assert (point.change_low, point.change_high) == pytest.approx((known.low, known.high))
    else:
        assert point.change_low == point.change_high == 0


def test_random_orders_have_the_range_of_their_draws(explorable, batch, whole):
    generator = np.random.default_rng(0)
    removals = [generator.permutation(15) for _ in range(3)]
    single = [bleu_with(explorable, batch, KNOWN, [one], 7, whole).value for one in removals]
    together = bleu_with(explorable, batch, KNOWN, removals, 7, whole)
    assert (together.low, together.high) == (min(single), max(single))
    assert together.value == pytest.approx(np.mean(single))
    all_heads = bleu_with(explorable, batch, KNOWN, removals, 15, whole)
    assert all_heads.low == all_heads.value == all_heads.high
    assert not all_heads.has_change


def test_bleu_is_resampled_over_sentences():
    """Of equal sentences nothing varies; of two kinds, both ends are reached."""
    right = [4, 3, 2, 1, 4, 3, 2, 1, 4, 4]
    wrong = [0, 0, 0, 0, 4, 3, 2, 1, 4, 4]
    assert resampled_bleu(np.array([right] * 5)) == pytest.approx(100.0)
    drawn = resampled_bleu(np.array([right, wrong]))
    assert drawn.min() == 0.0
    assert drawn.max() == pytest.approx(100.0)


def test_bleu_is_measured_at_five_of_the_points_of_the_loss():
    assert bleu_points([72, 66, 60, 54, 48, 42, 36, 30, 24, 18, 12, 6, 0]) == [72, 54, 36, 18, 0]
    assert bleu_points([3, 2, 1, 0]) == [3, 2, 1, 0]
