import pytest
import torch

from explorer.core.interventions import Interventions
from explorer.core.vocabulary import PAD
from explorer.data.toy_data import Batch
from explorer.heads.ablation import MOST_ROWS, ablation, effect
from explorer.heads.counterfactuals import mean_outputs
from explorer.heads.evaluation_batches import (
    EvaluationBatch,
    line_sentences,
    task_sentences,
    token_losses,
)
from explorer.model.attention_paths import all_heads
from explorer.model.intervention_hooks import applied
from explorer.training.toy_evaluation import exact_matches


@pytest.fixture
def sentences(explorable) -> EvaluationBatch:
    """Some whose targets the model finds, so that a match can be lost, and some it does not."""
    sentences = line_sentences(explorable, ["1 2 3", "甲", "3 3 1", "2", "1 2", "3"], "six")
    sentences.target[-2:, 2] = 3 + (sentences.target[-2:, 2] - 2) % 5
    return sentences


@torch.no_grad()
def outcomes(explorable, sentences, done, means) -> tuple[float, float]:
    """Mean loss of a token and share of exact matches, one sentence at a time."""
    model, loss, tokens, exact = explorable.transformer, 0.0, 0, 0
    with applied(model, done, means):
        for one in sentences.parts(1):
            loss += token_losses(model(one.source, one.queries), one.labels).sum().item()
            tokens += int((one.labels != PAD).sum())
            exact += int(exact_matches(model, Batch(one.source, one.target)))
    return loss / tokens, exact / len(sentences)


@pytest.mark.parametrize("rows", [MOST_ROWS, 13])
def test_removing_in_batches_is_removing_one_by_one(explorable, sentences, monkeypatch, rows):
    """Loss by a plain pass and matches by greedy decoding, each head by itself."""
    monkeypatch.setattr("explorer.heads.ablation.MOST_ROWS", rows)
    means = mean_outputs(explorable, sentences)
    table = ablation(explorable, sentences, means).set_index(["site", "layer", "head"])
    loss, exact = outcomes(explorable, sentences, Interventions(), means)
    assert exact == pytest.approx(4 / 6)
    for head in all_heads(explorable.transformer.config):
        variants = {
            "zero": Interventions.gather(ablate=[head]),
            "mean": Interventions.gather(ablate=[(*head, "mean")]),
            "only": Interventions.gather(keep=[head]),
        }
        for name, done in variants.items():
            one_loss, one_exact = outcomes(explorable, sentences, done, means)
            row = table.loc[tuple(head)]
            assert row[f"{name}_loss"] == pytest.approx(one_loss - loss, abs=1e-5)
            assert row[f"{name}_exact"] == pytest.approx(one_exact - exact, abs=1e-9)
            assert row[f"{name}_loss_low"] <= row[f"{name}_loss"] <= row[f"{name}_loss_high"]
    assert (table.only_loss.abs() > 1e-3).any()


def test_an_effect_of_several_is_measured_together(explorable, sentences):
    done = Interventions.parse(["ablate cross.1.0", "ablate cross.0.1", "close encoder.*.* 1 0"])
    result = effect(explorable, sentences, done)
    for number, name in enumerate(("loss", "exact")):
        before = outcomes(explorable, sentences, Interventions(), None)[number]
        after = outcomes(explorable, sentences, done, None)[number]
        assert result.before[name] == pytest.approx(before, abs=1e-5)
        assert result.after[name] == pytest.approx(after, abs=1e-5)
        assert result.change[name] == pytest.approx(after - before, abs=1e-5)
    assert (result.low <= result.change).all()
    assert (result.change <= result.high).all()


def test_progress_goes_to_its_end_for_the_variants_that_are_wanted(explorable):
    shares: list[float] = []
    some = task_sentences(explorable, 6)
    means = mean_outputs(explorable, some)
    table = ablation(explorable, some, means, shares.append, variants=("zero",))
    assert shares == sorted(shares)
    assert shares[-1] == pytest.approx(1)
    assert "zero_loss" in table
    assert "only_loss" not in table
