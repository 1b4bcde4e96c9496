"""Requests, selections and visits."""

from dataclasses import replace

import numpy as np
import pytest

from explorer.core.look import Reading, Request, Selection
from explorer.core.trace import Trace
from tests.support.example_traces import example_trace


def test_a_request_without_forced_tokens_keeps_the_rest():
    assert Request("sort", "1 2", 5, ((2, 7),)).without_forced() == Request("sort", "1 2", 5)


@pytest.mark.parametrize(
    ("selection", "kept", "missing"),
    [
        (Selection("cross", 1, 3, 6), Selection("cross", 1, 3, 6), ()),
        (Selection("cross", 2, 3, 7), Selection("cross", None, 3, None), ("layer", "step")),
        (Selection("decoder", 0, 4, 0), Selection("decoder", 0, None, None), ("head", "step")),
        (Selection("memory", 0, 0, 2), Selection(step=2), ("site",)),
    ],
)
def test_a_selection_is_reduced_to_what_a_trace_has(selection, kept, missing):
    assert selection.within(example_trace()) == (kept, missing)


def test_a_trace_without_a_target_has_no_steps():
    trace = Trace.from_arrays(["a"], encoder=[[[[1.0]]]])
    assert Selection("encoder", 0, 0, 1).within(trace) == (Selection("encoder", 0, 0), ("step",))
    assert Selection("encoder", 0, 0).within(trace) == (Selection("encoder", 0, 0), ())


def test_the_steps_of_an_encoder_alone_are_its_mask_tokens():
    columns = {
        "step": np.array([2]),
        "rank": np.array([1]),
        "id": np.array([5]),
        "probability": np.array([0.5], np.float32),
        "chosen": np.array([True]),
        "forced": np.array([False]),
    }
    weights = np.full((1, 1, 2, 2), 0.5)
    trace = Trace.from_arrays(["a", "[MASK]"], encoder=weights)
    arrays = {**trace.arrays, **{f"steps.{name}": column for name, column in columns.items()}}
    masked = replace(trace, arrays=arrays, candidate_tokens=("x",))
    assert Selection("encoder", 0, 0, 2).within(masked) == (Selection("encoder", 0, 0, 2), ())
    assert Selection("encoder", 0, 0, 1).within(masked)[1] == ("step",)


def test_what_a_model_is_given_is_a_text_or_a_message():
    none = {"source_language": None, "target_language": None}
    assert Request("m", "x", 2, ((1, 2),)).given == {"text": "x", "pair": None, **none}
    assert Request("m", "x", pair="").given["pair"] is None
    assert Request("m", "x", pair="y").given["pair"] == "y"
    asked = Request("m", "x", reading=Reading("fr", "de", chat=True))
    languages = {"source_language": "fr", "target_language": "de"}
    assert asked.given == {"messages": [{"role": "user", "content": "x"}], **languages}


def test_what_is_on_stays_and_the_rest_is_of_the_model_that_is_looked_at():
    seen = Selection("cross", 1, 2, 3, "input", guess=True, cell=(2, 0), shows="alti", words=True)
    assert Selection("decoder").with_flags_of(seen) == Selection("decoder", guess=True, words=True)
    assert seen.with_flags_of(Selection()) == replace(seen, guess=None, words=None)


def test_a_page_without_a_server_computes_nothing():
    seen = Selection("cross", 1, 2, 3, inside="score", cell=(2, 0), shows="alti", next="heads")
    assert seen.without_server() == replace(seen, shows=None, next=None)


def test_a_report_is_read_part_by_part():
    report = {"site": "../x", "layer": 1.0, "head": "2", "step": 0, "cell": [1, 2], "more": 3}
    assert Selection.reported(report) == Selection(layer=1, cell=(1, 2))
