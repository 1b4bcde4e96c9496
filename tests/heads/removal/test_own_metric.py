import numpy as np
import pytest
import torch

import explorer
from explorer.core.errors import EvaluationBatchError, ExplorerError
from explorer.heads.reports.head_report import HeadReport
from explorer.public.studied_model import StudiedModel, load
from tests.support.model_directories import bert, gpt2, marian
from tests.support.projected_heads import projected

NAMES = {"gpt2": gpt2, "bert": bert}
PROMPTS = ["the cat sees a dog", "a dog", "the cat"]
MASKED = ["the [MASK] sees a dog", "a [MASK]", "the cat [MASK] the dog"]


@pytest.fixture(scope="module")
def opened(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    return {name: load(make(folder / name)) for name, make in NAMES.items()}


def differences(model, name, texts, one, other, without=None):
    """Of each text on its own, by the library, with the input of an output projection changed."""

    def changed(site, layer, states):
        if without is not None and layer == without.layer:
            states[:, :, without.head] = 0
        return states

    tokenizer, found = model.tokens.tokenizer, []
    for text in texts:
        encoded = tokenizer(text, return_tensors="pt")
        ids = encoded["input_ids"][0].tolist()
        row = ids.index(tokenizer.mask_token_id) if name == "bert" else -1
        with torch.no_grad(), projected(model.model, name, model.anatomy, changed):
            logits = model.model(**encoded).logits[0, row]
        found.append(float(logits[one] - logits[other]))
    return np.array(found)


@pytest.mark.parametrize(
    ("name", "texts", "words"),
    [("gpt2", PROMPTS, (" the", " cat")), ("bert", MASKED, ("cat", "dog"))],
)
def test_the_difference_of_two_logits_without_each_head_is_that_of_the_library(
    opened, name, texts, words
):
    model = opened[name]
    one, other = (model.passes.logit(word) for word in words)
    assert model.tokens.label(one).strip("▁") == words[0].strip()
    metric = explorer.logit_difference(*words)
    report = model.measure([*texts, texts[0]], removed_on=3, metric=metric)
    base = differences(model, name, texts, one, other)
    table = report.heads.set_index(["site", "layer", "head"])
    for head in model.passes.heads:
        change = differences(model, name, texts, one, other, head) - base
        assert table.loc[tuple(head)].zero_metric == pytest.approx(change.mean(), abs=5e-5)
        row = model.ablate([head], texts, metric=metric).iloc[0]
        assert row.before == pytest.approx(base.mean(), abs=5e-5)
        assert row.change == pytest.approx(change.mean(), abs=5e-5)
        assert row.low <= row.change <= row.high
    assert {"zero_metric", "mean_metric", "only_metric"} <= set(report.metrics)
    assert "zero_loss" not in report.heads
    assert report.facts["metric"]["sentences"] == 3
    assert report.facts["metric"]["name"] == metric.name
    assert HeadReport.from_json(report.to_json()).facts == report.facts


def test_a_function_of_the_logits_is_a_metric_of_a_classifier_too(opened, tmp_path):
    def confidence(logits):
        return logits.softmax(-1).max()

    model = load(bert(tmp_path / "own", head="BertForSequenceClassification", num_labels=3))
    texts = ["the cat", "a dog sees the cat"]
    row = model.ablate([("encoder", 0, 1)], texts, metric=confidence).loc["confidence"]
    shares = [model.trace(text).predictions().probability.max() for text in texts]
    assert row.before == pytest.approx(np.mean(shares), abs=1e-5)
    assert model.measure(texts, metric=confidence).heads.zero_metric.notna().all()
    last = opened["gpt2"].ablate([("decoder", 0, 1)], PROMPTS, metric=lambda logits: logits[5])
    assert last.index.to_list() == ["<lambda>"]


@pytest.mark.parametrize("names", [("NEGATIVE", "POSITIVE"), ("no", *"abcdefgh", "yes")])
def test_the_difference_of_two_logits_of_a_classifier_is_that_of_classes(names, tmp_path):
    """The library's own logits; token ids are below the number of many classes."""
    settings = {"id2label": dict(enumerate(names))}
    model = load(bert(tmp_path / "own", head="BertForSequenceClassification", **settings))
    texts, last = ["the cat", "a dog sees the cat"], len(names) - 1
    encoded = [model.tokens.tokenizer(text, return_tensors="pt") for text in texts]
    with torch.no_grad():
        logits = torch.cat([model.model(**one).logits for one in encoded])
    expected = float((logits[:, last] - logits[:, 0]).mean())
    for one, other in [(names[last], names[0]), (last, 0), (names[last].lower(), "0")]:
        metric = explorer.logit_difference(one, other)
        row = model.ablate([model.passes.heads[0]], texts, metric=metric).loc[metric.name]
        assert row.before == pytest.approx(expected, abs=1e-5)
    for unknown in ("cat", len(names), -1):
        with pytest.raises(EvaluationBatchError) as caught:
            model.measure(texts, metric=explorer.logit_difference(names[0], unknown))
        assert caught.value.key == "unknown_label"


@pytest.mark.parametrize(
    ("name", "texts", "metric", "key"),
    [
        ("gpt2", PROMPTS, explorer.logit_difference(" the", " a cat"), "several_tokens"),
        ("gpt2", PROMPTS, explorer.logit_difference("", " cat"), "empty_sentence"),
        ("gpt2", PROMPTS, explorer.logit_difference(5, " cat"), "no_token"),
        ("gpt2", PROMPTS, 3, "no_metric"),
        ("gpt2", PROMPTS, lambda logits: logits, "no_finite_metric"),
        ("gpt2", PROMPTS, lambda logits: logits[0] / 0, "no_finite_metric"),
        ("bert", PROMPTS, explorer.logit_difference("cat", "dog"), "one_mask"),
        ("bert", ["[MASK] [MASK]"], explorer.logit_difference("cat", "dog"), "one_mask"),
    ],
)
def test_a_metric_that_cannot_be_computed_gets_one_sentence(opened, name, texts, metric, key):
    with pytest.raises(ExplorerError) as caught:
        opened[name].ablate([opened[name].passes.heads[0]], texts, metric=metric)
    assert caught.value.key == key


def test_models_with_both_stacks_or_without_logits_have_no_metric(explorable, tmp_path):
    own = StudiedModel(explorable.checkpoint, explorable.name)
    sentence_encoder = load(bert(tmp_path / "plain", head="BertModel"))
    tagger = load(bert(tmp_path / "tagger", head="BertForTokenClassification", num_labels=3))
    for model in (own, load(marian(tmp_path / "marian")), sentence_encoder, tagger):
        with pytest.raises(EvaluationBatchError) as caught:
            model.ablate([model.passes.heads[0]], ["1", "2"], metric=lambda logits: logits[0])
        assert caught.value.key == "not_continued"
