import numpy as np
import pytest

from explorer.core.errors import ConfigError
from explorer.core.interventions import Interventions
from explorer.core.sites import Head
from explorer.heads import pruning_curve as curves
from explorer.heads.pruning_curve import pruning_curve
from explorer.heads.removal.ablation import effect
from explorer.heads.removal.gradient_importance import importance
from explorer.model.evaluation_batch import EvaluationBatch


@pytest.fixture
def batch(explorable) -> EvaluationBatch:
    return explorable.passes.texts(["1 2 3", "甲", "3 3 1", "2 2"], "four")


@pytest.mark.parametrize("order", ["importance", "confidence", "contribution", "greedy"])
def test_each_point_is_the_loss_without_the_removed_heads(explorable, batch, order, monkeypatch):
    """Removed together as interventions, in a pass of their own."""
    monkeypatch.setattr(curves, "POINTS", 4)
    table = pruning_curve(explorable, batch, order)
    heads = explorable.passes.heads
    removed = table.attrs["removed"]
    assert sorted(removed) == sorted(heads)
    assert table.heads_left.tolist() == [15, 10, 5, 0]
    for row in table.itertuples():
        count = len(heads) - row.heads_left
        if 0 < count < len(heads):
            found = effect(explorable, batch, Interventions.gather(ablate=removed[:count]))
            assert row.loss == pytest.approx(found.after["loss"], abs=1e-5)
            assert row.change_low == pytest.approx(found.low["loss"], abs=1e-5)
            assert row.change_high == pytest.approx(found.high["loss"], abs=1e-5)
    assert table.change_low[0] == table.change_high[0] == 0
    whole = effect(explorable, batch, Interventions.parse(["ablate cross.0.0"])).before["loss"]
    assert table.loss[0] == pytest.approx(whole, abs=1e-5)
    assert (table.low <= table.loss).all()
    assert (table.loss <= table.high).all()


def test_the_least_important_head_goes_first(explorable, batch):
    found = importance(explorable, batch)
    expected = [explorable.passes.heads[row] for row in found.importance.argsort()]
    assert pruning_curve(explorable, batch, "importance").attrs["removed"] == expected


def test_the_greedy_order_tries_every_head_that_is_left(explorable, batch):
    """By removing each of them as an intervention."""
    removed: list[Head] = []
    for _ in range(3):
        left = [head for head in explorable.passes.heads if head not in removed]
        losses = []
        for head in left:
            without = Interventions.gather(ablate=(*removed, head))
            losses.append(effect(explorable, batch, without).after["loss"])
        removed.append(left[int(np.argmin(losses))])
    assert pruning_curve(explorable, batch, "greedy").attrs["removed"][:3] == removed


def test_a_contribution_is_the_mean_length_of_what_a_head_adds(explorable, batch):
    """From full traces of each sentence: ‖z_h W_O‖, mean over all queries."""
    lengths: dict[Head, list[float]] = {}
    for text in ("1 2 3", "甲", "3 3 1", "2 2"):
        trace = explorable.trace(text, capture="full")
        for site in trace.sites:
            weights = explorable.output_weights()[site]
            for layer, own in enumerate(trace.arrays[f"{site}.head_output"]):
                for head, output in enumerate(own):  # (Q, K)
                    part = weights[layer].detach().numpy()[head * 4 : head * 4 + 4]  # (K, D)
                    added = np.linalg.norm(output @ part, axis=-1)
                    lengths.setdefault(Head(site, layer, head), []).extend(added)
    expected = sorted(lengths, key=lambda head: np.mean(lengths[head]))
    assert pruning_curve(explorable, batch, "contribution").attrs["removed"] == expected


def test_random_orders_have_the_range_of_their_draws(explorable, batch):
    one = pruning_curve(explorable, batch, "random", seed=1)
    assert one.equals(pruning_curve(explorable, batch, "random", seed=1))
    assert not one.equals(pruning_curve(explorable, batch, "random", seed=2))
    assert one.low[0] == one.high[0]  # all heads are left
    assert one.low.iloc[-1] == pytest.approx(one.high.iloc[-1])  # none is
    assert (one.low <= one.loss + 1e-12).all()
    assert (one.loss <= one.high + 1e-12).all()
    assert (one.high - one.low)[3] > 1e-4


def test_another_order_is_refused(explorable, batch):
    with pytest.raises(ConfigError, match="importance, confidence, contribution, greedy, random"):
        pruning_curve(explorable, batch, "size")
