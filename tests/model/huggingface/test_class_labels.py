from types import SimpleNamespace

import numpy as np
import pytest

from explorer.core.errors import EvaluationBatchError
from explorer.model.huggingface.class_labels import Classes
from explorer.model.huggingface.opening.loading import open_directory
from explorer.model.huggingface.tokens import TextTokens
from tests.support.model_directories import bert

CLASSES = Classes(("negative", "POSITIVE", "7"))


@pytest.mark.parametrize(
    ("label", "number"),
    [
        ("negative", 0),
        (" Positive ", 1),
        ("7", 2),
        ("1", 1),
        (2, 2),
        (np.int64(1), 1),
    ],
)
def test_a_class_is_given_by_its_name_or_number(label, number):
    assert CLASSES.number(label) == number


@pytest.mark.parametrize("label", ["good", "", "3", 3, -1, 1.0, True, None, "9" * 5000])
def test_another_label_is_refused_with_those_there_are(label):
    with pytest.raises(EvaluationBatchError, match=r"negative, POSITIVE, 7, or by number 0 to 2\."):
        CLASSES.number(label)


def test_names_that_differ_in_case_alone_are_told_apart():
    classes = Classes(("per", "PER"))
    assert (classes.number("per"), classes.number("PER")) == (0, 1)
    with pytest.raises(EvaluationBatchError):
        classes.number("Per")


@pytest.mark.parametrize(
    ("head", "settings", "names"),
    [
        ("BertForSequenceClassification", {"id2label": {0: "no", 1: "yes"}}, ("no", "yes")),
        ("BertForTokenClassification", {"num_labels": 3}, ("LABEL_0", "LABEL_1", "LABEL_2")),
        ("BertForNextSentencePrediction", {}, ("goes on", "does not go on")),
        ("BertForSequenceClassification", {"num_labels": 1}, ()),
        (
            "BertForSequenceClassification",
            {"num_labels": 3, "problem_type": "multi_label_classification"},
            (),
        ),
        ("BertForQuestionAnswering", {}, ()),
        (None, {}, ()),
    ],
)
def test_the_classes_of_a_model_are_those_of_which_it_predicts_one(head, settings, names, tmp_path):
    model = open_directory(bert(tmp_path / "bert", head=head, **settings)).model
    assert Classes.of(model).names == names
    assert Classes.of(model).of_tokens == (head == "BertForTokenClassification")


def test_a_word_has_its_tag_at_its_first_token():
    tagger = Classes(("O", "PER"), of_tokens=True)
    text = "Mary  sang at Lyon"
    spans = ((0, 0), (0, 2), (2, 4), (5, 10), (13, 18), (0, 0))  # the third word is dropped
    read = TextTokens((1, 4, 5, 6, 7, 2), ("",) * 6, spans, (text,))
    expected = {1: 1, 3: 0, 4: 1}
    assert tagger.of_text("PER O O PER", read) == expected
    assert tagger.of_text(["PER", 0, "O", 1], read) == expected
    for label in ("PER O", [], 3, None):
        with pytest.raises(EvaluationBatchError, match="each of its 4 words"):
            tagger.of_text(label, read)
    without_places = TextTokens(read.ids, read.labels, (), (text,))
    with pytest.raises(EvaluationBatchError, match="tells where its tokens are"):
        tagger.of_text("PER O O PER", without_places)
    of_a_pair = TextTokens(read.ids, read.labels, spans, ("Mary", "Mary"), second=3)
    assert tagger.of_text("PER", of_a_pair) == {1: 1}


def test_a_text_has_its_class_in_the_first_row():
    assert CLASSES.of_text("negative", SimpleNamespace()) == {0: 0}
