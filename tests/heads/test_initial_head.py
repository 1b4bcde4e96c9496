"""The head and the step that a model opens with."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import explorer
from explorer.core.sites import Head
from explorer.core.trace import Trace
from explorer.heads.initial_head import (
    InitialChoice,
    coverage,
    initial_choice,
    initial_head,
    initial_step,
)
from explorer.heads.reports.head_report import HeadReport
from tests.support.shared_examples import shared_examples

CHECKPOINTS = Path(__file__).parents[2] / "checkpoints"
SOURCE = ["7", "3", "<eos>"]
TARGET = ["<bos>", "3", "7"]
SHARP = [[0.1, 0.9, 0.0], [0.95, 0.05, 0.0], [0.0, 0.0, 1.0]]
EVEN = [[1 / 3] * 3] * 3
ONE_TOKEN = [[1.0, 0.0, 0.0]] * 3


def traced(*heads: list) -> Trace:
    """A trace of one layer with these cross heads, without a gold alignment."""
    cross = np.array([heads], dtype=np.float32)
    return Trace.from_arrays(SOURCE, TARGET, cross=cross)


def report(weights: Mapping[tuple[str, int, int], float]) -> HeadReport:
    rows = [
        {"site": site, "layer": layer, "head": head, "gold_weight": weight}
        | {"gold_weight_low": weight, "gold_weight_high": weight}
        for (site, layer, head), weight in weights.items()
    ]
    return HeadReport(pd.DataFrame(rows), pd.DataFrame(), pd.DataFrame(), {})


def chosen(probabilities: list[float]) -> dict[str, np.ndarray]:
    """Arrays of one candidate a step, which the model chose."""
    count = len(probabilities)
    return {
        "steps.step": np.arange(1, count + 1),
        "steps.rank": np.ones(count, dtype=np.int64),
        "steps.probability": np.array(probabilities, dtype=np.float32),
        "steps.chosen": np.ones(count, dtype=np.bool_),
        "steps.forced": np.zeros(count, dtype=np.bool_),
        "steps.id": np.arange(count),
    }


@pytest.mark.parametrize("example", shared_examples("opening"))
def test_a_model_opens_at_the_head_and_the_step_that_show_most(example):
    """The examples are those of the tests of `headScores.ts` and `initialView.ts`."""
    predicted = example["predicted"]
    cross = np.array([example["heads"]], dtype=np.float32)
    target = ["<bos>", *predicted[:-1]]
    trace = Trace.from_arrays(example["source"], target, cross=cross, predicted_tokens=predicted)
    if sure := example.get("probabilities"):
        arrays = {**trace.arrays, **chosen(sure)}
        trace = replace(trace, arrays=arrays, candidate_tokens=tuple(predicted), digest="")
    if example["why"] == "gold":
        gold = np.array(example["gold"], dtype=np.bool_)
        trace = replace(trace, arrays={**trace.arrays, "gold": gold}, digest="")
    else:
        assert coverage(trace)[0] == pytest.approx(example["scores"])
    head, best = Head("cross", 0, example["head"]), example["scores"][example["head"]]
    assert initial_choice(trace) == InitialChoice(head, example["why"], pytest.approx(best))
    for site, layer, head, step in example["steps"]:
        assert initial_step(trace, site, layer, head) == step


def test_a_report_on_many_sentences_decides_and_nan_does_not():
    weights = {("cross", 0, 0): float("nan"), ("cross", 0, 1): 0.8, ("cross", 0, 2): 0.4}
    assert initial_head(traced(EVEN, ONE_TOKEN, SHARP), report(weights)) == ("cross", 0, 1)


def test_a_choice_says_by_what_number():
    trace, head = traced(EVEN, ONE_TOKEN, SHARP), Head("cross", 0, 2)
    chosen = initial_choice(trace)
    assert chosen == InitialChoice(head, "coverage", pytest.approx(0.925))
    measured = initial_choice(trace, report({("cross", 0, 1): 0.8}))
    assert measured == InitialChoice(Head("cross", 0, 1), "report", 0.8)
    reverse = explorer.load(CHECKPOINTS / "reverse.safetensors").trace("7 3 9")
    known = initial_choice(reverse)
    weights = reverse.attention("cross")[known.head.layer, known.head.head]
    assert known.why == "gold"
    assert known.value == pytest.approx(np.mean([weights[row, 2 - row] for row in range(3)]))


def test_a_report_on_heads_that_the_trace_lacks_is_not_followed():
    weights = {("cross", 5, 0): 0.9, ("decoder", 0, 0): 0.9}
    assert initial_head(traced(EVEN, SHARP), report(weights)) == ("cross", 0, 1)


def test_the_step_is_one_that_predicts_content_and_goes_back():
    model = explorer.load(CHECKPOINTS / "english-french-early.safetensors")
    trace = model.trace("The black cat is sleeping on the red chair.")
    step = initial_step(trace, "cross", 1, 0)
    assert step is not None
    assert trace.predicted_tokens[step - 1] == "▁noir"


def test_a_trace_without_cross_attention_has_none():
    alone = Trace.from_arrays(["a", "b"], encoder=np.full((1, 1, 2, 2), 0.5))
    assert initial_head(alone) is None


def test_the_shipped_models_open_at_a_head_with_a_large_gold_weight():
    for task in ("copy", "reverse", "sort"):
        trace = explorer.load(CHECKPOINTS / f"{task}.safetensors").trace("7 3 9 1 4")
        head = initial_head(trace)
        assert head is not None
        step = initial_step(trace, "cross", head.layer, head.head)
        assert step is not None
        assert trace.predicted_tokens[step - 1] != "<eos>"
        row = trace.attention("cross")[head.layer, head.head, step - 1]
        assert row[:5].max() > 0.5


def test_the_initial_head_of_english_french_crosses_over_for_chat_noir():
    model = explorer.load(CHECKPOINTS / "english-french-early.safetensors")
    trace = model.trace("The black cat is sleeping on the red chair.")
    head = initial_head(trace)
    assert head is not None
    weights = trace.attention("cross")[head.layer, head.head]
    rows = [trace.predicted_tokens.index(token) for token in ("▁chat", "▁noir")]
    looked_at = [trace.source_tokens[key] for key in weights[rows].argmax(-1)]
    assert looked_at == ["▁cat", "▁black"]
