"""The oracle is the library: its own forward pass on the ids of its own tokenizer."""

from functools import cache
from itertools import product

import numpy as np
import pytest
import torch
from transformers import AutoTokenizer

from explorer.core.predictions import PredictionKind
from explorer.core.trace import Trace
from explorer.model.huggingface import answers
from explorer.model.huggingface.answers import answer_of, label_names
from explorer.model.huggingface.opening.loading import open_directory
from explorer.model.row_logits import CANDIDATES
from tests.support.model_directories import bert

TEXT = "The cat sees the dog."
SECOND = "A dog is here."
NAMES = {0: "negative", 1: "neutral", 2: "positive"}
LABELS = {"id2label": NAMES}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """By class and settings: the opened model, and what the library itself computes of a text."""

    @cache
    def make(head, settings, family="bert"):
        folder = bert(tmp_path_factory.mktemp("m") / "model", family, head, **dict(settings))
        model = open_directory(folder)
        tokenizer = AutoTokenizer.from_pretrained(folder)

        @torch.inference_mode()
        def library(*texts):
            given = tokenizer(*texts, return_tensors="pt", return_token_type_ids=True)
            return given, model.model(**given)

        return model, library

    return lambda head, family="bert", **settings: make(head, tuple(settings.items()), family)


def test_a_class_has_the_softmax_of_the_library(made):
    model, library = made("BertForSequenceClassification", num_labels=3)
    model.model.config.id2label = NAMES
    trace = model.trace(TEXT)
    logits = library(TEXT)[1].logits[0]
    found = trace.predictions().set_index("label")
    for number, name in NAMES.items():
        assert found.probability[name] == pytest.approx(float(logits.softmax(-1)[number]), abs=1e-6)
        assert found.value[name] == pytest.approx(float(logits[number]), abs=1e-5)
    assert found.probability.is_monotonic_decreasing
    assert found.probability.sum() == pytest.approx(1, abs=1e-6)
    assert found.index[found.chosen].tolist() == [NAMES[int(logits.argmax())]]
    assert trace.text == NAMES[int(logits.argmax())]
    assert trace.steps().empty
    assert trace.integrity().ok.all()


def test_several_labels_have_a_sigmoid_each(made):
    model, library = made(
        "BertForSequenceClassification", num_labels=5, problem_type="multi_label_classification"
    )
    shares = library(TEXT)[1].logits[0].sigmoid()
    found = model.trace(TEXT).predictions().set_index("label")
    expected = {f"LABEL_{number}": float(share) for number, share in enumerate(shares)}
    assert found.probability.to_dict() == pytest.approx(expected, abs=1e-6)
    assert found.chosen.to_dict() == {name: share > 0.5 for name, share in expected.items()}


@pytest.mark.parametrize(
    ("said", "has_sigmoid"),
    [
        ({}, False),
        ({"function_to_apply": "sigmoid"}, True),
        ({"function_to_apply": "none"}, False),
        ({"problem_type": "multi_label_classification"}, True),
        ({"problem_type": "regression"}, False),
        ({"sentence_transformers": {"activation_fn": "torch.nn.modules.activation.Sigmoid"}}, True),
        ({"sentence_transformers": {"activation_fn": "torch.nn.modules.linear.Identity"}}, False),
        ({"sbert_ce_default_activation_function": "torch.nn.modules.activation.Sigmoid"}, True),
        ({"sentence_transformers": 7}, False),
    ],
)
def test_a_score_has_a_sigmoid_only_where_the_config_says_so(made, said, has_sigmoid):
    model, library = made("BertForSequenceClassification", num_labels=1)
    logit = library(TEXT, SECOND)[1].logits[0, 0]
    before = dict(vars(model.model.config))
    try:
        vars(model.model.config).update(said)
        trace = model.trace(TEXT, pair=SECOND)
    finally:
        vars(model.model.config).clear()
        vars(model.model.config).update(before)
    row = trace.predictions().iloc[0]
    assert row.value == pytest.approx(float(logit), abs=1e-5)
    if has_sigmoid:
        assert row.probability == pytest.approx(float(logit.sigmoid()), abs=1e-6)
    else:
        assert np.isnan(row.probability)
    assert trace.text == f"{row.probability if has_sigmoid else row.value:.4g}"


@pytest.mark.parametrize(
    ("settings", "kind"),
    [
        ({"num_labels": 4, "function_to_apply": "sigmoid"}, PredictionKind.LABELS),
        ({"num_labels": 4, "problem_type": "regression"}, PredictionKind.SCORE),
        ({"num_labels": 4, "problem_type": "single_label_classification"}, PredictionKind.CLASS),
    ],
)
def test_the_config_says_how_logits_are_read(made, settings, kind):
    model, _ = made("BertForSequenceClassification", **settings)
    assert answer_of(model.model) == kind
    assert model.trace(TEXT).facts["predictions"]["kind"] == kind


@pytest.mark.parametrize("texts", [(TEXT,), (TEXT, SECOND)])
@pytest.mark.parametrize("slice_", [256, 3])
def test_an_answer_is_the_most_probable_span(made, monkeypatch, texts, slice_):
    monkeypatch.setattr(answers, "_SLICE", slice_)  # first tokens that are compared at a time
    model, library = made("BertForQuestionAnswering")
    given, out = library(*texts)
    first, last = out.start_logits[0].softmax(-1), out.end_logits[0].softmax(-1)
    segments = given["token_type_ids"][0].tolist()
    special = [token in (2, 3) for token in given["input_ids"][0].tolist()]
    places = [
        place
        for place, segment in enumerate(segments)
        if not special[place] and segment == len(texts) - 1
    ]
    spans = {
        (start, stop): float(first[start] * last[stop])
        for start, stop in product(places, places)
        if start <= stop
    } | {(0, 0): float(first[0] * last[0])}
    expected = sorted(spans.items(), key=lambda one: -one[1])[:CANDIDATES]
    trace = model.trace(*texts[:1], **({"pair": texts[1]} if len(texts) > 1 else {}))
    found = trace.predictions()
    assert list(zip(found.start, found.stop - 1, strict=True)) == [span for span, _ in expected]
    assert found.probability.tolist() == pytest.approx([share for _, share in expected], abs=1e-6)
    assert found.chosen.tolist() == [True] + [False] * (len(found) - 1)
    for row in found.itertuples():
        spelled = "[CLS]" if row.start == 0 else texts[-1]
        assert row.label in spelled


def test_padding_changes_no_answer(made):
    for head, family in [
        ("BertForQuestionAnswering", "bert"),
        ("BertForTokenClassification", "bert"),
        ("BertForSequenceClassification", "bert"),
        ("ElectraForPreTraining", "electra"),
    ]:
        model, _ = made(head, family)
        plain, padded = model.trace(TEXT), model.trace(TEXT, pad_to=14)
        assert padded.predictions().label.tolist() == plain.predictions().label.tolist()
        np.testing.assert_allclose(
            padded.predictions().probability, plain.predictions().probability, atol=1e-6
        )
        assert padded.integrity().ok.all()
        assert "padding_changes_nothing" in padded.measured


def test_each_token_that_is_text_has_a_tag(made):
    model, library = made("BertForTokenClassification", num_labels=4)
    shares = library(TEXT)[1].logits[0].softmax(-1)
    trace = model.trace(TEXT)
    found = trace.predictions()
    content = range(1, len(trace.source_tokens) - 1)  # without [CLS] and [SEP]
    assert sorted(set(found.start)) == list(content)
    for row in found.itertuples():
        number = int(row.label.removeprefix("LABEL_"))
        assert row.probability == pytest.approx(float(shares[row.start, number]), abs=1e-6)
        assert row.token == trace.source_tokens[row.start]
        assert row.chosen == (number == int(shares[row.start].argmax()))
    tags = [f"LABEL_{int(shares[place].argmax())}" for place in content]
    assert trace.text == " ".join(tags)


def test_a_word_that_the_tokenizer_does_not_know_has_a_tag_as_any_other(made):
    model, library = made("BertForTokenClassification", num_labels=3)
    trace = model.trace("The ☃ dog")
    unknown = library("The ☃ dog")[0].input_ids[0].tolist()
    place = unknown.index(model.tokens.tokenizer.unk_token_id)
    found = trace.predictions()
    assert place in found[found.chosen].start.tolist()
    assert 0 not in found.start.tolist()  # [CLS] has none


def test_a_discriminator_says_which_tokens_were_replaced(made):
    model, library = made("ElectraForPreTraining", "electra")
    replaced = library(TEXT)[1].logits[0].sigmoid()
    found = model.trace(TEXT).predictions()
    for row in found.itertuples():
        share = float(replaced[row.start])
        expected = share if row.label == "replaced" else 1 - share
        assert row.probability == pytest.approx(expected, abs=1e-6)
        assert row.chosen == (expected > 0.5)


def test_whether_a_second_text_follows_has_names_of_its_own(made):
    model, library = made("BertForNextSentencePrediction")
    shares = library(TEXT, SECOND)[1].logits[0].softmax(-1)
    found = model.trace(TEXT, pair=SECOND).predictions().set_index("label")
    assert found.probability["goes on"] == pytest.approx(float(shares[0]), abs=1e-6)
    assert found.probability["does not go on"] == pytest.approx(float(shares[1]), abs=1e-6)


def test_a_model_that_predicts_tokens_answers_nothing_else(made):
    model, _ = made(None)
    assert answer_of(model.model) is None
    trace = model.trace("The cat [MASK].")
    assert trace.predictions().empty
    assert not trace.steps().empty


def test_a_removed_head_changes_the_answer(made):
    model, _ = made("BertForSequenceClassification", num_labels=3)
    plain = model.trace(TEXT).predictions()
    removed = model.trace(TEXT, ablate=[("encoder", layer, None) for layer in range(2)])
    assert removed.predictions().value.tolist() != plain.value.tolist()


def test_names_of_labels_are_a_line_each(made):
    model, _ = made("BertForSequenceClassification", num_labels=3)
    before = model.model.config.id2label
    try:
        model.model.config.id2label = {0: "a\x1b\nb", 1: "\ud800", 2: "x" * 500}
        names = label_names(model.model, 3)
        trace = model.trace(TEXT)
    finally:
        model.model.config.id2label = before
    assert all(name.isprintable() and len(name) <= 100 for name in names)
    assert isinstance(Trace.from_bytes(trace.to_bytes()), Trace)


def test_a_text_of_ids_has_answers_too(made, tmp_path):
    model, _ = made("BertForTokenClassification", num_labels=4)
    model.model.save_pretrained(tmp_path)  # without a tokenizer
    found = open_directory(tmp_path).trace("5 17 8").predictions()
    assert set(found.start) == {0, 1, 2}
