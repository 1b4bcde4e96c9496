from dataclasses import replace

import numpy as np
import pytest
import torch

from explorer.core.errors import InterventionError
from explorer.heads.metrics.evaluation_batches import task_sentences
from explorer.heads.removal.counterfactuals import compare_traces, mean_outputs

PAIRS = [("1 2 3", "3 2"), ("甲", "甲 1 3"), ("2 2 1 3", "1")]


def test_means_are_over_the_queries_of_all_sentences_and_no_padding(explorable):
    batch = explorable.passes.pairs(PAIRS, "three")
    means = mean_outputs(explorable, batch)
    assert means.name == "three (3)"
    sums = {
        site_layer: torch.zeros(3, 4) for site_layer in explorable.transformer.config.attentions
    }
    counts = dict.fromkeys(sums, 0)
    for source, target in PAIRS:
        trace = explorable.trace(source, target=target, capture="full")
        for site, layer in sums:
            output = torch.tensor(trace.head_output(site)[layer])  # (head, query, K)
            sums[site, layer] += output.sum(1)
            counts[site, layer] += output.shape[1]
    for site_layer in sums:
        torch.testing.assert_close(
            means.outputs[site_layer], sums[site_layer] / counts[site_layer], atol=1e-5, rtol=1e-4
        )


def test_a_comparison_forces_the_changed_model_to_the_original_output(explorable):
    options = {"ablate": [("cross", 0, 1), ("cross", 1, 0), ("decoder", 0, 2)]}
    original = explorable.trace("1 2 3", pad_to=5)
    changed = explorable.trace("1 2 3", pad_to=5, **options)
    result = compare_traces(explorable, original, changed)
    assert result.forced.predicted_tokens == original.predicted_tokens
    assert result.forced.target_tokens == original.target_tokens
    prefix = " ".join(original.predicted_tokens[:-1])
    again = explorable.trace("1 2 3", pad_to=5, prefix=prefix, **options)
    expected = original.losses[:-1] - again.losses[: len(original.losses) - 1]
    change = original.losses - result.forced.losses
    np.testing.assert_allclose(change[:-1], expected, atol=1e-5)
    assert result.log_probability == pytest.approx(float(change.sum()), abs=1e-4)
    assert result.outputs == (list(original.predicted_tokens), list(changed.predicted_tokens))
    assert result.same_text == (original.predicted_tokens == changed.predicted_tokens)
    difference = result.attention.difference("cross")
    assert difference.shape == original.attention("cross").shape
    assert np.abs(difference).max() > 1e-3
    np.testing.assert_allclose(difference.sum(-1), 0, atol=1e-5)


def test_without_interventions_there_is_no_difference(explorable):
    original = explorable.trace("1 2 3")
    result = compare_traces(explorable, original, original)
    assert result.same_text
    assert result.log_probability == pytest.approx(0, abs=1e-5)
    assert np.abs(result.attention.difference("decoder")).max() < 1e-6
    assert all(result.same)


def test_an_output_cut_off_at_the_limit_can_be_compared(explorable):
    with torch.no_grad():
        explorable.transformer.logits.bias[2] = -100
    original = explorable.trace("1 2")
    result = compare_traces(explorable, original, explorable.trace("1 2", ablate=[("cross", 0, 0)]))
    assert len(result.same) == 11


def test_a_mean_needs_its_batch_again(explorable):
    means = mean_outputs(explorable, task_sentences(explorable, 8))
    original = explorable.trace("1 2")
    changed = explorable.trace("1 2", ablate=[("cross", 0, 0, "mean")], means=means)
    assert changed.facts["means"] == means.name
    assert compare_traces(explorable, original, changed, means).log_probability != 0
    with pytest.raises(InterventionError):
        compare_traces(explorable, original, changed)


def test_two_texts_are_not_compared(explorable):
    with pytest.raises(InterventionError) as caught:
        compare_traces(explorable, explorable.trace("1"), explorable.trace("2"))
    assert caught.value.key == "nothing_changed"


@pytest.mark.parametrize("other", [{"model": "mine"}, {"pair": "2"}, {"pad_to": 7}])
def test_traces_of_another_model_second_text_or_padding_are_not_compared(explorable, other):
    trace = explorable.trace("1")
    changed = replace(trace, facts={**trace.facts, **other})
    with pytest.raises(InterventionError) as caught:
        compare_traces(explorable, trace, changed)
    assert caught.value.key == "nothing_changed"


def test_keeping_one_head_changes_the_output_of_the_shipped_model(reverse_model):
    text = "7 3 9 1 4 a b c"
    original = reverse_model.trace(text)
    changed = reverse_model.trace(text, keep=[("cross", 1, 1)])
    result = compare_traces(reverse_model, original, changed)
    assert original.text == "c b a 4 1 9 3 7"
    assert not result.same_text
    assert result.log_probability < -1
    assert changed.integrity().ok.all()


def test_a_decoder_alone_is_forced_to_its_output_after_the_prompt(continuing):
    original = continuing.trace("1 2 3")
    changed = continuing.trace("1 2 3", ablate=[("decoder", 0, 1)])
    compared = compare_traces(continuing, original, changed)
    assert compared.forced.predicted_tokens == original.predicted_tokens
    total = original.losses.sum() - compared.forced.losses.sum()
    assert compared.log_probability == pytest.approx(float(total), abs=1e-4)
