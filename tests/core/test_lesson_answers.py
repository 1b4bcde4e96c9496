"""Each named function against the arrays of a trace made by hand."""

import math
from dataclasses import replace

import numpy as np
import pytest

import explorer
from explorer.core import folders
from explorer.core.errors import LessonError
from explorer.core.lesson_answers import ANSWERS, Place, answer, needs_capture
from explorer.core.number_format import calculated, percent
from tests.support.example_traces import example_trace
from tests.support.printed_equations import cell_texts

CALCULATION = ("width", "product", "score", "exponent", "power", "sum of powers")
CROSS = Place("cross", 0, 2, step=2)


@pytest.fixture(scope="module")
def captured():
    model = explorer.load(folders.shipped_checkpoints() / "reverse.safetensors")
    return model.trace("7 3 9 1 4", pad_to=8, capture="full")


def test_tokens_and_weights_are_those_of_the_row():
    trace = example_trace()
    row = trace.attention("cross")[0, 2, 1]
    key = int(row.argmax())
    said = {name: answer(name, trace, CROSS, "en") for name in ANSWERS if not needs_capture(name)}
    assert said["largest key"] == said["key token"] == trace.source_tokens[key]
    assert said["largest position"] == f"{key + 1}"
    assert said["query token"] == "4"
    assert said["predicted token"] == "1"
    assert said["weight"] == f"{row[key]:.2f}"
    assert float(said["rest"]) == pytest.approx(1 - float(said["weight"]))
    assert said["row sum"] == "1.00"
    assert (said["open keys"], said["masked keys"]) == ("6", "2")
    after = trace.attention("cross")[0, 2, 2].argmax()
    assert said["next key"] == trace.source_tokens[after]


def test_a_cell_is_named_by_its_own_key():
    trace = example_trace()
    cell = replace(CROSS, cell=(0, 7))
    assert answer("query token", trace, cell, "en") == "start"
    assert answer("query token", trace, cell, "zh") == "开始"
    assert answer("key token", trace, cell, "en") == "pad"
    assert answer("weight", trace, cell, "en") == "0.00"
    assert answer("mask reason", trace, cell, "en") == "padding"
    assert answer("mask reason", trace, cell, "zh") == "填充"
    later = Place("decoder", 0, 0, cell=(1, 4))
    assert answer("mask reason", trace, later, "en") == "later position"
    assert answer("mask reason", trace, replace(later, cell=(4, 1)), "en") == "open"


def test_the_probability_is_that_of_the_chosen_candidate():
    trace = example_trace()
    steps = trace.steps()
    chosen = steps[(steps.step == 2) & steps.chosen.astype(bool)].probability.item()
    assert answer("probability", trace, CROSS, "en") == f"{100 * chosen:.1f}\u00a0%"


def test_the_second_token_is_that_of_the_second_candidate():
    trace = example_trace()
    steps = trace.steps()
    second = steps[(steps.step == 2) & (steps["rank"] == 2)].token.item()
    assert answer("second token", trace, CROSS, "en") == second.removeprefix("▁")
    assert second != trace.predicted_tokens[1]


def test_the_best_head_has_the_largest_gold_weight():
    trace = example_trace()
    gold = [
        (trace.attention("cross")[layer, head][trace.gold].mean(), f"L{layer} H{head}")
        for layer in range(2)
        for head in range(4)
    ]
    assert answer("best head", trace, CROSS, "en") == max(gold)[1]


def test_a_calculation_is_that_of_the_vectors(captured):
    place = Place("cross", 0, 1, step=1, cell=(0, 4))
    query = captured.query_vectors("cross")[0, 1, 0].astype(float)
    keys = captured.key_vectors("cross")[0, 1].astype(float)
    scores = keys @ query / math.sqrt(len(query))
    said = {name: answer(name, captured, place, "en") for name in ANSWERS}
    assert said["width"] == "32"
    assert float(said["product"]) == pytest.approx(keys[4] @ query, abs=0.006)
    assert float(said["score"]) == pytest.approx(scores[4], abs=0.006)
    assert said["power"] == "1"  # of the largest score
    assert said["exponent"] == f"({said['score']} − {said['score']})"
    total = np.exp(scores[:6] - scores[:6].max()).sum()
    assert float(said["sum of powers"]) == pytest.approx(total, abs=0.006)
    values = captured.values("cross")[0, 1].astype(float)
    parts = captured.attention("cross")[0, 1, 0] * np.sqrt((values**2).sum(-1))
    assert float(said["part"]) == pytest.approx(parts[4], abs=0.006)
    assert said["largest part"] == captured.source_tokens[parts.argmax()]
    shown = float(said["power"]) / float(said["sum of powers"])
    assert f"{shown:.2f}" == said["weight"]
    assert f"{float(said['product']) / math.sqrt(32):.2f}" == said["score"]


def test_the_way_through_a_layer_is_that_of_the_vectors(captured):
    place = Place("cross", 1, 2, step=3)
    said = {name: answer(name, captured, place, "en") for name in ANSWERS}
    before, added, after, normed = (
        captured.arrays[f"cross.{name}"][1, 2].astype(float)
        for name in ("input", "sublayer_output", "output", "sublayer_input")
    )
    assert (said["heads"], said["side by side"]) == ("4", "128")
    numbers = [said[f"number {name}"] for name in ("before", "added", "after")]
    assert numbers == [calculated(vector[0]) for vector in (before, added, after)]
    assert said["length before"] == calculated(math.hypot(*before))
    assert said["normed length"] == calculated(math.hypot(*normed))
    hidden = captured.arrays["decoder.feed_forward_hidden"][1, 2]
    assert said["hidden numbers"] == "512"
    assert said["active numbers"] == str(np.count_nonzero(hidden))
    assert said["early token"] == captured.predicted_tokens[2]  # it is the last layer
    assert said["early probability"] == percent(captured.arrays["early.probability"][1, 2, 0])
    source = replace(place, site="encoder")
    own = np.count_nonzero(captured.arrays["encoder.feed_forward_hidden"][1, 2])
    assert answer("active numbers", captured, source, "en") == str(own)


def test_a_calculation_has_the_numbers_of_the_panel(captured):
    for site in captured.sites:
        shape = captured.attention(site).shape
        for index, texts in zip(np.ndindex(shape), cell_texts(captured, site), strict=True):
            layer, head, *cell = index
            place = Place(site, layer, head, cell=(cell[0], cell[1]))
            said = {name: answer(name, captured, place, "en") for name in CALCULATION}
            assert texts["product"].endswith(f" sum {said['product']}")
            assert texts["scaled"].startswith(f"{said['product']} ÷ √{said['width']}")
            assert texts["scaled"].endswith(f" {said['score']}")
            assert texts["softmax"].startswith(f"e^{said['exponent']} ÷ Σ")
            assert f" {said['power']} ÷ {said['sum of powers']} " in texts["softmax"]


@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("weight", replace(CROSS, step=99)),
        ("weight", Place("cross", 7, 0, step=1)),
        ("next key", replace(CROSS, step=6)),
        ("score", CROSS),
    ],
)
def test_what_the_trace_does_not_have_is_refused(name, place):
    with pytest.raises(LessonError, match="does not have the place"):
        answer(name, example_trace(), place, "en")
