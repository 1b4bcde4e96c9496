from dataclasses import replace

import numpy as np
import pytest

from explorer.core.errors import TraceError
from explorer.core.predictions import Prediction, PredictionKind
from explorer.core.trace import Trace

TOKENS = ("[CLS]", "▁a", "▁b", "[SEP]")


def prediction(kind="class", labels=("yes", "no"), **columns):
    count = len(labels)
    own = {
        "start": np.zeros(count, int),
        "stop": np.full(count, len(TOKENS)),
        "rank": np.arange(count) + 1,
        "value": np.arange(count, 0, -1, dtype=np.float32),
        "probability": np.linspace(0.75, 0.25, count, dtype=np.float32),
        "chosen": np.arange(count) == 0,
    }
    return Prediction(PredictionKind(kind), labels, own | columns)


def traced(found):
    weights = np.full((1, 1, 4, 4), 0.25, np.float32)
    plain = Trace.from_arrays(TOKENS, encoder=weights)
    return replace(
        plain,
        arrays={**plain.arrays, **found.arrays},
        facts=found.facts,
        text=found.text,
        digest="",
    )


def test_a_trace_keeps_its_predictions_in_a_file(tmp_path):
    trace = traced(prediction())
    trace.save(tmp_path / "x.trace")
    read = Trace.load(tmp_path / "x.trace")
    found = read.predictions()
    assert found.label.tolist() == ["yes", "no"]
    assert found.probability.tolist() == [0.75, 0.25]
    assert found.chosen.tolist() == [True, False]
    assert found.token.tolist() == ["", ""]  # of the whole text
    assert read.integrity().ok.all()
    assert read.digest == trace.digest


def test_a_trace_without_predictions_has_an_empty_table():
    plain = Trace.from_arrays(TOKENS, encoder=np.full((1, 1, 4, 4), 0.25, np.float32))
    assert plain.predictions().empty
    assert plain.label is None
    assert list(plain.predictions()) == list(traced(prediction()).predictions())


@pytest.mark.parametrize(
    ("found", "text"),
    [
        (prediction(), "yes"),
        (prediction("labels", chosen=np.array([True, True])), "yes, no"),
        (prediction("tags", ("O", "B-PER"), chosen=np.array([True, True])), "O B-PER"),
        (prediction("span", ("the cat",)), "the cat"),
        (prediction("score", ("LABEL_0",), value=np.float32([-0.5])), "0.75"),
        (
            prediction(
                "score",
                ("LABEL_0",),
                value=np.float32([-0.5]),
                probability=np.float32([np.nan]),
            ),
            "-0.5",
        ),
        (
            prediction("score", probability=np.float32([np.nan] * 2), chosen=np.ones(2, bool)),
            "yes 2, no 1",
        ),
    ],
)
def test_a_line_says_what_is_predicted(found, text):
    assert found.text == traced(found).label == text


def test_a_tag_names_its_token():
    one = prediction("tags", ("O", "B"), start=np.array([1, 2]), stop=np.array([2, 3]))
    assert traced(one).predictions().token.tolist() == ["▁a", "▁b"]


@pytest.mark.parametrize(
    "wrong",
    [
        {"stop": np.array([4, 5])},
        {"start": np.array([-1, 0])},
        {"start": np.array([4, 0])},
        {"rank": np.array([0, 1])},
        {"probability": np.float32([np.nan, 0.5])},
        {"probability": np.float32([1.5, 0.5])},
        {"value": np.float32([np.inf, 0.5])},
        {"chosen": np.array([1, 0])},
        {"rank": np.array([1])},
    ],
)
def test_a_malformed_table_is_refused(wrong):
    with pytest.raises(TraceError) as caught:
        traced(prediction(**wrong))
    assert caught.value.key == "bad_predictions"


@pytest.mark.parametrize(
    "facts",
    [
        {},
        {"predictions": 3},
        {"predictions": {"kind": "class", "labels": ["yes"]}},
        {"predictions": {"kind": "class", "labels": ["yes", 2]}},
        {"predictions": {"kind": "other", "labels": ["yes", "no"]}},
        {"predictions": {"kind": ["class"], "labels": ["yes", "no"]}},
    ],
)
def test_malformed_names_are_refused(facts):
    trace = traced(prediction())
    with pytest.raises(TraceError) as caught:
        replace(trace, facts=facts)
    assert caught.value.key == "bad_predictions"
