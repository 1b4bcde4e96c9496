from pathlib import Path

import numpy as np
import pytest
import torch

from explorer.core.interventions import Interventions
from explorer.data.batch import Batch
from explorer.heads.metrics.bootstrap import PerExampleMean
from explorer.heads.metrics.evaluation_batches import task_sentences, token_losses
from explorer.heads.removal.ablation import MOST_ROWS, ablation, effect, remove_sites
from explorer.heads.removal.counterfactuals import mean_outputs
from explorer.heads.reports.head_report import HeadReport
from explorer.model.evaluation_batch import EvaluationBatch
from explorer.model.transformer_run import acting, transformer_actions
from explorer.training.toy_evaluation import judge

CHECKPOINTS = Path(__file__).parents[3] / "checkpoints"


@pytest.fixture
def batch(explorable) -> EvaluationBatch:
    """Four whose targets the model outputs, so that a match can be lost, and two others."""
    batch = explorable.passes.texts(["1 2 3", "甲", "3 3 1", "2", "1 2", "3"], "six")
    batch.labels.ids[-2:, 1] = 3 + (batch.labels.ids[-2:, 1] - 2) % 5
    batch.queries.ids[-2:, 2] = batch.labels.ids[-2:, 1]
    return batch


@torch.no_grad()
def outcomes(explorable, batch, interventions, means) -> tuple[float, float]:
    """Mean loss of a token and share of exact matches, one sentence at a time."""
    model, loss, tokens, exact = explorable.transformer, 0.0, 0, 0
    with acting(model, transformer_actions(interventions, model.config, means)):
        for one in batch.parts(1):
            source, queries, labels = one.source.ids, one.queries.ids, one.labels
            loss += token_losses(model(source, queries), labels).sum().item()
            tokens += int(labels.real.sum())
            target = torch.cat([queries[:, :1], labels.ids], 1)
            exact += int(judge(model, Batch(source, target))[1])
    return loss / tokens, exact / len(batch)


@pytest.mark.parametrize("rows", [MOST_ROWS, 13])
def test_ablation_in_batches_is_removing_each_head_by_itself(explorable, batch, monkeypatch, rows):
    """The loss by a plain pass, matches by greedy decoding, one sentence at a time."""
    monkeypatch.setattr("explorer.heads.removal.ablation.MOST_ROWS", rows)
    means = mean_outputs(explorable, batch)
    table = ablation(explorable, batch, means).set_index(["site", "layer", "head"])
    loss, exact = outcomes(explorable, batch, Interventions(), means)
    assert exact == pytest.approx(4 / 6)
    for head in explorable.transformer.config.all_heads:
        variants = {
            "zero": Interventions.gather(ablate=[head]),
            "mean": Interventions.gather(ablate=[(*head, "mean")]),
            "only": Interventions.gather(keep=[head]),
        }
        for name, interventions in variants.items():
            one_loss, one_exact = outcomes(explorable, batch, interventions, means)
            row = table.loc[tuple(head)]
            assert row[f"{name}_loss"] == pytest.approx(one_loss - loss, abs=1e-5)
            assert row[f"{name}_exact"] == pytest.approx(one_exact - exact, abs=1e-9)
            assert row[f"{name}_loss_low"] <= row[f"{name}_loss"] <= row[f"{name}_loss_high"]
            assert row[f"{name}_exact_low"] <= row[f"{name}_exact"] <= row[f"{name}_exact_high"]
    assert (table.only_loss.abs() > 1e-3).any()


def test_the_interval_is_that_of_the_changes_of_the_sentences(explorable, batch):
    """Taken one by one; weighted by their tokens."""
    found = ablation(explorable, batch, mean_outputs(explorable, batch), variants=("zero",))
    row = found.set_index(["site", "layer", "head"]).loc[("cross", 1, 0)]
    removed, lost = Interventions.gather(ablate=[("cross", 1, 0)]), []
    for one in batch.parts(1):
        whole, without = (
            outcomes(explorable, one, done, None) for done in (Interventions(), removed)
        )
        tokens = int(one.labels.real.sum())
        lost.append([(without[0] - whole[0]) * tokens, without[1] - whole[1], tokens])
    loss, match, tokens = np.array(lost).T[:, :, None]
    for name, total, count in (("loss", loss, tokens), ("exact", match, np.ones_like(match))):
        (low,), (high,) = PerExampleMean(total, count).interval()
        assert row[f"zero_{name}_low"] == pytest.approx(low, abs=1e-5)
        assert row[f"zero_{name}_high"] == pytest.approx(high, abs=1e-5)


def test_a_change_that_is_rounding_is_none(explorable, batch, monkeypatch):
    means = mean_outputs(explorable, batch)
    found = ablation(explorable, batch, means, variants=("zero",))
    monkeypatch.setattr("explorer.heads.removal.ablation.ROUNDING", 100.0)
    again = ablation(explorable, batch, means, variants=("zero",))
    assert (found.zero_loss != 0).any()
    assert (again[["zero_loss", "zero_loss_low", "zero_loss_high"]] == 0).all(axis=None)


def test_interventions_are_applied_together(explorable, batch):
    interventions = Interventions.parse(
        ["ablate cross.1.0", "ablate cross.0.1", "close encoder.*.* 1 0"]
    )
    result = effect(explorable, batch, interventions)
    for number, name in enumerate(("loss", "exact")):
        before = outcomes(explorable, batch, Interventions(), None)[number]
        after = outcomes(explorable, batch, interventions, None)[number]
        assert result.before[name] == pytest.approx(before, abs=1e-5)
        assert result.after[name] == pytest.approx(after, abs=1e-5)
        assert result.change[name] == pytest.approx(after - before, abs=1e-5)
    assert (result.low <= result.change).all()
    assert (result.change <= result.high).all()


def test_only_the_named_variants_are_measured(explorable):
    shares: list[float] = []
    some = task_sentences(explorable, 6)
    means = mean_outputs(explorable, some)
    table = ablation(explorable, some, means, shares.append, variants=("zero",))
    assert shares == sorted(shares)
    assert shares[-1] == pytest.approx(1)
    assert "zero_loss" in table
    assert "only_loss" not in table


def exact(model, batch, *lines: str) -> float:
    """The share of outputs that match under the interventions."""
    return effect(model, batch, Interventions.parse(lines)).after["exact"]


def test_redundant_heads_matter_little_alone_and_none_suffices_alone(reverse_model, reverse_batch):
    """Layer 1's four do the same: the weight on the gold position does not say what removal
    costs. It costs most in layer 0, at the head with the least weight there."""
    table = ablation(
        reverse_model, reverse_batch, mean_outputs(reverse_model, reverse_batch)
    ).query("site == 'cross'")
    last = table[table.layer == 1]
    assert (last.zero_exact.abs() < 0.02).all()
    assert (last.mean_exact.abs() < 0.02).all()
    assert (table.only_exact < -0.7).all()
    assert tuple(table.loc[table.zero_exact.idxmin(), ["layer", "head"]]) == (0, 1)


def test_the_shipped_report_has_the_effect_of_removing_all_heads_of_a_site(
    reverse_model, reverse_batch
):
    shipped = HeadReport.load(CHECKPOINTS / "heads" / "reverse.json").facts["ablation"]
    found = remove_sites(
        reverse_model, task_sentences(reverse_model, 256).first(shipped["sentences"])
    )
    for site, rows in found.items():
        for name, ends in rows.items():
            assert shipped["together"][site][name] == pytest.approx(ends, abs=2e-2)
    assert found["cross"]["exact"][1] == 0
    assert found["decoder"]["exact"][1] > 0.05  # some outputs need no decoder self-attention


def test_removing_all_cross_heads_breaks_the_output(reverse_model, reverse_batch):
    """Without all eight, or layer 0's four, no output is right; without layer 1's four, some."""
    lines = [f"ablate cross.{layer}.{head}" for layer in range(2) for head in range(4)]
    assert exact(reverse_model, reverse_batch) > 0.95
    assert exact(reverse_model, reverse_batch, *lines) < 0.05  # 0.00
    assert exact(reverse_model, reverse_batch, *lines[:4]) < 0.05  # 0.00
    assert 0.05 < exact(reverse_model, reverse_batch, *lines[4:]) < 0.4  # 0.20


def test_one_head_of_the_last_layer_keeps_most_outputs_and_the_best_head_alone_does_not(
    reverse_model, reverse_batch
):
    others = [f"ablate cross.1.{head}" for head in (0, 1, 3)]
    assert exact(reverse_model, reverse_batch, *others) > 0.8  # 0.91
    assert exact(reverse_model, reverse_batch, "keep cross.1.1") < 0.05
