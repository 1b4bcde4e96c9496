from dataclasses import replace

import numpy as np
import pytest

from explorer.core.errors import TraceError
from explorer.core.score_formula import capped, score_formula
from tests.support.example_traces import example_trace


@pytest.fixture
def trace(explorable):
    return explorable.trace("1 2 3", pad_to=6, capture="full")


def test_scores_are_products_divided_by_the_root_of_their_number(trace):
    formula = score_formula(trace, "cross", 0, 1)
    width = trace.query_vectors("cross").shape[-1]
    assert formula.width == width
    assert formula.scale == pytest.approx(width**-0.5)
    assert formula.divides_by_root
    assert formula.cap is None
    assert formula.bias is None


def test_a_cap_and_what_is_added_are_told(trace):
    bias = np.arange(trace.scores("cross")[0, 0].size, dtype=np.float32)
    bias = bias.reshape(trace.scores("cross").shape[2:])
    more = {
        "cross.scores": np.tanh(trace.scores("cross") / 2) * 2 + bias,
        "cross.score_cap": np.full(len(trace.scores("cross")), 2, np.float32),
    }
    arrays = {**trace.arrays, **more}
    formula = score_formula(replace(trace, arrays=arrays, digest=""), "cross", 0, 0)
    assert formula.cap == 2
    np.testing.assert_allclose(formula.bias, bias, atol=1e-4)


def test_another_scale_is_no_division_by_the_root(trace):
    arrays = {**trace.arrays, "cross.score_scale": 2 * trace.arrays["cross.score_scale"]}
    arrays["cross.scores"] = 2 * trace.scores("cross")
    formula = score_formula(replace(trace, arrays=arrays, digest=""), "cross", 0, 0)
    assert not formula.divides_by_root
    assert formula.bias is None


def test_a_capped_score_keeps_its_sign_and_stays_below_the_cap():
    scores = np.array([-100.0, -0.5, 0.0, 30.0])
    np.testing.assert_allclose(
        capped(scores, 30.0), [-29.923739, -0.49995371, 0, 22.847825], rtol=1e-6
    )
    assert capped(scores, None) is scores


def test_a_trace_of_weights_alone_has_no_scores():
    with pytest.raises(TraceError, match="query_vectors"):
        score_formula(example_trace(), "cross", 0, 0)
