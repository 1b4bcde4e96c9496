import io
import json
from dataclasses import replace

import numpy as np
import pytest

from explorer.core.errors import TraceError
from explorer.core.trace import Trace
from explorer.core.trace_file import pack
from tests.support.small_trace import small_trace

MALFORMED = {
    "a check that no model measures": {"measured": {"rows_sum_to_one": 0.0}},
    "an error that is a string": {"measured": {"hooked_equals_plain": "abc"}},
    "an error that is missing": {"measured": {"hooked_equals_plain": None}},
    "an error that is NaN": {"measured": {"hooked_equals_plain": float("nan")}},
    "a number as a token": {"target_tokens": [1, 2, 3]},
    "a text that is a number": {"text": 5},
    "deeply nested facts": {"facts": {"a": json.loads("[" * 90 + "]" * 90)}},
    "facts that are a string": {"facts": "x"},
    "an unknown field": {"more": 1},
    "a missing field": {"text": ...},
}


def file_with(**changes: object) -> bytes:
    trace = small_trace()
    header = {
        "source_tokens": trace.source_tokens,
        "target_tokens": trace.target_tokens,
        "predicted_tokens": trace.predicted_tokens,
        "candidate_tokens": trace.candidate_tokens,
        "text": trace.text,
        "measured": dict(trace.measured),
        "facts": dict(trace.facts),
        "digest": trace.digest,
    } | {key: value for key, value in changes.items() if key not in trace.arrays}
    arrays = {name: changes.get(name, array) for name, array in trace.arrays.items()}
    kept = {name: array for name, array in arrays.items() if array is not ...}
    file = io.BytesIO()
    pack(file, kept, {key: value for key, value in header.items() if value is not ...})
    return file.getvalue()


def test_a_valid_file_is_read():
    assert Trace.from_bytes(file_with()).integrity().ok.all()


@pytest.mark.parametrize("how", MALFORMED)
def test_a_malformed_header_is_refused(how):
    with pytest.raises(TraceError):
        Trace.from_bytes(file_with(**MALFORMED[how]))


@pytest.mark.parametrize(
    ("name", "array"),
    [
        ("gold", np.full((3, 4), "x")),
        ("gold", np.zeros((3, 4), np.float32)),
        ("steps.rank", np.array(list("1123121"))),
        ("steps.step", np.array([1, 1, 2, 2, 2, 3, 1.5])),
        ("steps.probability", np.full(7, np.nan, np.float32)),
        ("steps.probability", np.full(7, 2.0, np.float32)),
        ("steps.chosen", np.zeros(7, bool)),
        ("steps.forced", ...),
        ("cross.attention", np.full((2, 5, 3, 4), -0.25, np.float32)),
        ("cross.attention", np.full((2, 5, 3, 4), 0.25, np.float64)),
        ("cross.closed", np.full((3, 4), 9, np.uint8)),
        ("cross.closed", ...),
    ],
)
def test_a_malformed_array_is_refused(name, array):
    with pytest.raises(TraceError):
        small_trace(
            arrays={k: v for k, v in {**small_trace().arrays, name: array}.items() if v is not ...}
        )


def test_a_surrogate_in_a_token_is_refused():
    with pytest.raises(TraceError):
        small_trace(source_tokens=("a", "b", "\ud800", "<pad>"))


def test_a_trace_without_attention_is_refused():
    with pytest.raises(TraceError, match="no attention"):
        Trace.from_arrays(("a",))


@pytest.mark.parametrize(
    ("name", "shape"),
    [
        ("cross.input", (2, 3, 5)),
        ("cross.sublayer_input", (2, 3, 5)),
        ("cross.sublayer_output", (2, 3, 5)),
        ("cross.output", (2, 3, 5)),
        ("decoder.layer_output", (1, 3, 5)),
        ("encoder.token_vectors", (4, 5)),
        ("logits", (3, 8)),
    ],
)
def test_vectors_that_do_not_fit_the_tokens_are_refused(name, shape):
    trace = small_trace()  # two layers, three steps, four source tokens

    def with_array(values: np.ndarray) -> Trace:
        return replace(trace, arrays={**trace.arrays, name: values}, digest="")

    with_array(np.zeros(shape, np.float32))
    longer = (*shape[:-2], shape[-2] + 1, shape[-1])
    for wrong in (np.zeros(longer, np.float32), np.full(shape, np.nan, np.float32)):
        with pytest.raises(TraceError):
            with_array(wrong)


def test_predictions_after_layers_that_do_not_fit_are_refused():
    trace = small_trace()
    shape = (2, 3, 1)  # layers, steps, ranks
    good = {
        "early.id": np.full(shape, 5),
        "early.probability": np.full(shape, 0.5, np.float32),
    }
    tokens = [[["a"]] * 3] * 2

    def with_early(arrays, labels):
        facts = {**trace.facts, "early_tokens": labels}
        return replace(trace, arrays={**trace.arrays, **arrays}, facts=facts, digest="")

    table = with_early(good, tokens).early_predictions()
    assert table.step.tolist() == [1, 2, 3, 1, 2, 3]
    assert table.layer.tolist() == [0, 0, 0, 1, 1, 1]
    for arrays, labels in [
        ({"early.id": good["early.id"]}, tokens),
        ({**good, "early.id": np.full((2, 4, 1), 5)}, tokens),
        ({**good, "early.id": np.full(shape, 0.5)}, tokens),
        ({**good, "early.probability": np.full(shape, np.nan, np.float32)}, tokens),
        (good, None),
        (good, [[["a"]] * 3, [["a"]] * 2]),
        (good, [[[1]] * 3] * 2),
    ]:
        with pytest.raises(TraceError):
            with_early(arrays, labels)
