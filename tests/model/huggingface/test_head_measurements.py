"""The measurements of heads on models of the library."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from explorer.__main__ import main
from explorer.core.errors import EvaluationBatchError
from explorer.core.interventions import Interventions
from explorer.heads.ablation import effect
from explorer.heads.attention_metrics import normalised_entropy
from explorer.heads.counterfactuals import compare_traces, mean_outputs
from explorer.heads.evaluation_batches import token_losses
from explorer.heads.head_report import HeadReport
from explorer.heads.measure import measure
from explorer.model.huggingface.loading import open_directory
from tests.support.huggingface_families import saved, tiny_model

TEXTS = ["5 17 8 41 9 23", "9 9 30 31", "12 44 7"]


def with_mask(model):
    """`model` with 41 as its mask."""

    class WithMask(type(model.tokens)):
        mask_id = 41

    return replace(model, tokens=WithMask(None, model.tokens.size))


@pytest.mark.parametrize(
    ("name", "targets"), [("marian", "greedy"), ("gemma2", "next"), ("bert", "masked")]
)
def test_every_head_of_every_kind_is_measured(opened, name, targets):
    model = with_mask(opened(name)) if name == "bert" else opened(name)
    batch = model.passes.texts(TEXTS, "three")
    report = measure(model, batch, gradients=True, removed_on=3)
    assert list(report.heads[["site", "layer", "head"]].itertuples(index=False, name=None)) == [
        tuple(head) for head in model.passes.heads
    ]
    assert report.facts["targets"] == targets
    assert report.facts["digest"] == model.digest
    assert {"importance", "zero_loss", "mean_loss", "only_exact"} <= set(report.metrics)
    assert report.heads[["importance", "zero_loss", "entropy"]].notna().all(axis=None)
    assert HeadReport.from_json(report.to_json()).facts == report.facts
    assert "three (3)" in report.summary()
    head = model.passes.heads[-2]
    removed = Interventions.gather(ablate=[head])
    with torch.no_grad():
        losses = [
            token_losses(model.passes.logits(batch, interventions=done), batch.labels).sum()
            for done in (Interventions(), removed)
        ]
    change = float(losses[1] - losses[0]) / int(batch.labels.real.sum())
    row = report.heads.set_index(["site", "layer", "head"]).loc[tuple(head)]
    assert row.zero_loss == pytest.approx(change, abs=1e-5)


def test_layers_with_other_masks_are_measured_by_their_own(opened):
    """Local attention in two layers of three: how many keys a row has differs."""
    model = opened("gemma2")
    heads = measure(model, model.passes.texts(TEXTS[:1], "one")).heads
    trace = model.trace(TEXTS[0], max_new_tokens=1)
    for layer in range(3):
        weights = trace.attention("decoder")[layer][None]
        mask = trace.mask("decoder", layer)[None]
        expected = normalised_entropy(weights, mask).mean
        own = heads[heads.layer == layer].normalised_entropy
        np.testing.assert_allclose(own, expected, atol=1e-5)


def test_a_model_that_predicts_no_tokens_has_metrics_alone(opened):
    model = opened("bert")  # by ids, without a mask
    batch = model.passes.texts(TEXTS, "three")
    report = measure(model, batch)
    assert report.heads.confidence.between(0, 1).all()
    assert "metrics of attention only" in report.summary()
    for options in ({"gradients": True}, {"removed_on": 2}):
        with pytest.raises(EvaluationBatchError) as caught:
            measure(model, batch, **options)
        assert caught.value.key == "no_predictions"
    with pytest.raises(EvaluationBatchError):
        effect(model, batch, Interventions.gather(ablate=[("encoder", 0, 0)]))


def test_a_head_becomes_its_mean_and_the_outputs_are_compared(opened):
    for name in ("marian", "llama"):
        model = opened(name)
        means = mean_outputs(model, model.passes.texts(TEXTS, "three"))
        done = {"ablate": [("decoder", 1, 2, "mean"), ("decoder", 0, 1)]}
        original = model.trace(TEXTS[0], max_new_tokens=4)
        changed = model.trace(TEXTS[0], max_new_tokens=4, means=means, capture="full", **done)
        output = changed.head_output("decoder")[1, 2]
        np.testing.assert_allclose(output, means.outputs["decoder", 1][2].expand(*output.shape))
        assert changed.facts["means"] == "three (3)"
        result = compare_traces(model, original, changed, means)
        assert result.forced.predicted_tokens == original.predicted_tokens
        assert result.map("decoder").shape == original.attention("decoder").shape
        assert result.log_probability != 0


def test_a_comparison_in_an_encoder_alone_has_nothing_to_force(opened):
    model = opened("bert")
    original = model.trace(TEXTS[0])
    changed = model.trace(TEXTS[0], ablate=[("encoder", 0, 1)])
    result = compare_traces(model, original, changed)
    assert np.abs(result.map("encoder")).max() > 0
    assert result.steps.empty


def test_the_command_measures_a_directory(directory, tmp_path, capsys):
    texts, pairs = tmp_path / "texts.txt", tmp_path / "pairs.tsv"
    texts.write_text("\n".join(TEXTS) + "\n", encoding="utf-8")
    pairs.write_text("5 17\t8 41\n9 9\t30 31\n", encoding="utf-8")
    out = tmp_path / "report.json"
    wanted = ["--importance", "--ablation", "--removed-on", "2", "--out", str(out)]
    assert main(["measure", str(directory("marian")), "--pairs", str(pairs), *wanted]) == 0
    assert HeadReport.load(out).facts["targets"] == "given"
    assert main(["measure", str(directory("llama")), "--texts", str(texts)]) == 0
    assert "each next token" in capsys.readouterr().out
    for options, message in [
        (["--pairs", str(pairs)], "give this one texts"),
        ([], "has no task"),
    ]:
        assert main(["measure", str(directory("llama")), *options]) == 2
        assert message in capsys.readouterr().err


def test_two_models_with_other_weights_or_sizes_have_other_digests(directory, opened, tmp_path):
    assert open_directory(directory("bert")).digest == opened("bert").digest
    other = open_directory(saved(tiny_model("bert", seed=1), tmp_path))
    assert other.digest != opened("bert").digest


def test_what_fills_the_masks_is_compared(opened):
    """The probability of the original's tokens at the masks, under the interventions."""
    model = with_mask(opened("bert"))
    text, done = "5 41 8 41 9 23", {"ablate": [("encoder", 0, 0), ("encoder", 1, 1)]}
    original, changed = model.trace(text), model.trace(text, **done)
    result = compare_traces(model, original, changed)
    assert result.has_output
    steps = original.steps()
    steps = steps[steps.chosen].set_index("step")
    now = model.trace(text, force=steps.id.to_dict(), **done).steps()
    now = now[now.chosen].set_index("step").probability
    found = result.steps.set_index("step")
    assert found.index.tolist() == steps.index.tolist()
    assert len(found) == 2
    assert found.original.tolist() == steps.token.tolist()
    for step, row in found.iterrows():
        before = steps.probability[step]
        assert row.probability == pytest.approx(before, rel=1e-5)
        assert row.forced_probability == pytest.approx(now[step], rel=1e-5)
        assert row.log_probability == pytest.approx(np.log(row.forced_probability / before))
    assert result.log_probability == pytest.approx(float(found.log_probability.sum()))
    assert result.log_probability != 0
    without = model.trace("5 8 9")
    nothing = compare_traces(model, without, model.trace("5 8 9", **done))
    assert not nothing.has_output
    assert nothing.steps.empty
