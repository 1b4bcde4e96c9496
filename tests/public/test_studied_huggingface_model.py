import numpy as np
import pytest
import torch
from transformers import GPT2LMHeadModel

from explorer.core.errors import ConfigError, EvaluationBatchError
from explorer.heads.metrics.evaluation_batches import repeated_sequences
from explorer.model.huggingface.traced_model import HuggingFaceModel
from explorer.public.head_studies import HeadStudies
from explorer.public.studied_model import load


@pytest.mark.parametrize("kind", ["opus", "gpt", "bert"])
def test_a_directory_is_the_same_model_with_more_methods(model_folder, kind):
    model = load(model_folder / f"{kind}-tiny", "mine")
    assert isinstance(model, HuggingFaceModel)
    assert isinstance(model, HeadStudies)
    assert repr(model).startswith("HuggingFaceModel('mine', ")
    assert model.trace("5 6 7").facts["model"] == "mine"


def test_a_model_that_predicts_no_next_tokens_is_not_compared_with_leave_one_out(model_folder):
    model = load(model_folder / "bert-tiny", "mine")
    with pytest.raises(ConfigError, match="“mine” predicts no next tokens"):
        model.contribution_agreement(["5 6 7"])


@pytest.mark.parametrize("kind", ["opus", "gpt", "bert"])
def test_a_trace_is_saved_as_a_page_and_a_model_is_refused_with_that_advice(
    model_folder, kind, tmp_path
):
    model = load(model_folder / f"{kind}-tiny", "mine")
    with pytest.raises(ConfigError, match=r"“mine” is a model of the library.*trace\(…\)\.to_html"):
        model.to_html(tmp_path / "model.html", text="5 6 7")
    assert not (tmp_path / "model.html").exists()
    model.trace("5 6 7").to_html(tmp_path / "trace.html")
    assert (tmp_path / "trace.html").read_text("utf-8").startswith("<!doctype html>")


def test_rollout_of_an_encoder_with_a_decoder_is_the_product_of_its_attention(model_folder):
    model = load(model_folder / "opus-tiny")
    found, trace = model.contributions("5 6 7", "rollout"), model.trace("5 6 7")
    assert found.source_tokens == trace.source_tokens
    assert found.target_tokens == trace.target_tokens
    weights = {
        site: trace.attention(site).astype(np.float64).mean(1) / 2
        for site in ("encoder", "decoder", "cross")
    }
    memory = np.eye(len(found.source_tokens))
    for layer in weights["encoder"]:
        memory = (layer + np.eye(len(layer)) / 2) @ memory
    rows = np.concatenate([np.zeros_like(weights["cross"][0]), np.eye(len(trace.target_tokens))], 1)
    for own, cross in zip(weights["decoder"], weights["cross"], strict=True):
        rows = (own @ rows + rows / 2) / 2
        rows[:, : len(memory)] += cross @ memory
    np.testing.assert_allclose(found.matrix, rows, rtol=0, atol=1e-5)
    np.testing.assert_allclose(found.matrix.sum(-1), 1, atol=1e-6)


def test_rollout_of_one_stack_is_the_product_of_its_attention(model_folder):
    for kind, site in (("gpt", "decoder"), ("bert", "encoder")):
        model = load(model_folder / f"{kind}-tiny")
        found, trace = model.contributions("5 6 7", "rollout"), model.trace("5 6 7")
        expected = np.eye(len(found.tokens))
        for layer in trace.attention(site).astype(np.float64).mean(1):
            expected = (layer + np.eye(len(layer))) / 2 @ expected
        np.testing.assert_allclose(found.matrix, expected, rtol=0, atol=1e-6)


def test_the_methods_are_those_of_models_trained_here(model_folder):
    model = load(model_folder / "opus-tiny", "mine")
    found = model.logit_attribution("5 6 7")
    total = found.parts.groupby("step").value.sum().to_numpy() + found.remainder
    np.testing.assert_allclose(total, found.difference, rtol=0, atol=1e-4)
    cell = model.score_parts("5 6 7", "cross", 0, 0, 0, 0)
    np.testing.assert_allclose(cell.parts.value.sum(), cell.score, rtol=0, atol=1e-4)


def test_a_decoder_alone_is_measured_on_random_tokens_that_come_twice(model_folder):
    model = load(model_folder / "gpt-tiny")
    report = model.measure(repeated=8)
    ids = repeated_sequences(model, 8).queries.ids
    block = ids.size(1) // 2
    first = ids.size(1) - 2 * block  # after what the tokenizer puts before a text
    assert torch.equal(ids[:, first : first + block], ids[:, first + block :])
    library = GPT2LMHeadModel.from_pretrained(
        model_folder / "gpt-tiny", attn_implementation="eager"
    )
    with torch.inference_mode():
        attention = library(ids, output_attentions=True).attentions
    again = torch.arange(first + block, ids.size(1))  # rows of the second block
    for layer, weights in enumerate(attention):  # (B, H, T, T)
        hits = weights[:, :, again].argmax(-1) == again - block + 1
        for head, expected in enumerate(hits.double().mean((0, 2)).tolist()):
            rows = {row["role"]: row for row in report.role_rows("decoder", layer, head)}
            assert rows["induction"]["score"] == pytest.approx(expected)
            assert rows["induction"]["queries"] == 8 * block
    for given in ({"texts": ["5 6"]}, {"labels": ["6"]}):
        with pytest.raises(ConfigError, match="take the place of texts"):
            model.measure(repeated=8, **given)
    with pytest.raises(EvaluationBatchError, match="are for models with a decoder alone"):
        load(model_folder / "bert-tiny").measure(repeated=8)


@pytest.mark.parametrize("kind", ["opus", "gpt"])
def test_its_tokens_are_drawn_with_a_seed(model_folder, kind):
    model = load(model_folder / f"{kind}-tiny")
    first, again, other = (
        model.trace("5 6 7", draw=(3.0, seed), max_new_tokens=6) for seed in (1, 1, 2)
    )
    assert first.predicted_tokens == again.predicted_tokens != other.predicted_tokens
    assert first.facts["interventions"] == ["draw 3 1"]
    assert first.integrity().ok.all()
    steps = first.steps()
    drawn = steps[steps.chosen & ~steps.forced]
    assert (drawn["rank"] > 1).any()
    low = model.trace("5 6 7", draw=(0.1, 1), max_new_tokens=6)
    assert low.predicted_tokens != first.predicted_tokens
    with pytest.raises(ConfigError, match="writes no tokens"):
        load(model_folder / "bert-tiny").trace("5 6 7", draw=(1.0, 1))


def test_its_heads_are_measured_and_removed_over_texts(model_folder):
    model = load(model_folder / "gpt-tiny")
    report = model.measure(["5 6 7", "9 8"])
    assert len(report.heads) == len(model.passes.heads)
    first = model.passes.heads[0]
    assert model.ablate([first], ["5 6 7", "9 8"]).change.loss != 0
    with pytest.raises(EvaluationBatchError):
        model.measure([("5 6", "7")])
    with pytest.raises(EvaluationBatchError, match="no task"):
        model.measure()
