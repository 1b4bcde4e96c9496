from dataclasses import replace

import numpy as np
import pytest

from explorer.app.widgets.changed_prediction import prediction_sentence
from explorer.core.i18n import LANGUAGES
from explorer.core.predictions import Prediction, PredictionKind
from explorer.core.trace import Trace

TOKENS = ("[CLS]", "▁a", "▁b", "[SEP]")


def traced(kind, labels, probabilities, chosen, places=None):
    count = len(labels)
    spots = np.array(places or [(0, 4)] * count)
    columns = {
        "start": spots[:, 0],
        "stop": spots[:, 1],
        "rank": np.ones(count, int),
        "value": np.full(count, -1.5, np.float32),
        "probability": np.array(probabilities, np.float32),
        "chosen": np.array(chosen),
    }
    found = Prediction(PredictionKind(kind), labels, columns)
    plain = Trace.from_arrays(TOKENS, encoder=np.full((1, 1, 4, 4), 0.25, np.float32))
    return replace(
        plain, arrays={**plain.arrays, **found.arrays}, facts=found.facts, text="", digest=""
    )


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_class_is_named_before_and_after(language):
    before = traced("class", ("yes", "no"), [0.75, 0.25], [True, False])
    after = traced("class", ("no", "yes"), [0.625, 0.375], [True, False])
    said = prediction_sentence(before, after, language).replace("\u00a0", " ")
    assert said.index("“yes” (75.0 %)") < said.index("“no” (62.5 %)")


def test_a_score_without_a_sigmoid_is_a_number():
    score = traced("score", ("LABEL_0",), [np.nan], [True])
    assert "predicts −1.50" in prediction_sentence(score, score, "en")


def test_no_label_may_be_predicted():
    one = traced("labels", ("yes",), [0.75], [True])
    none = traced("labels", ("yes",), [0.25], [False])
    assert prediction_sentence(one, none, "en").endswith("and no label with it.")


def test_tokens_with_another_tag_are_counted():
    places = [(1, 2), (2, 3)]
    before = traced("tags", ("O", "B"), [0.9, 0.8], [True, True], places)
    after = traced("tags", ("O", "O"), [0.9, 0.6], [True, True], places)
    assert prediction_sentence(before, after, "en").startswith("1 of 2 tokens")


def test_a_model_that_predicts_tokens_has_no_such_sentence():
    plain = Trace.from_arrays(TOKENS, encoder=np.full((1, 1, 4, 4), 0.25, np.float32))
    assert prediction_sentence(plain, plain, "en") == ""
