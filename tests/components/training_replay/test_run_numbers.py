"""The chance weight against heads that look everywhere alike, on many sequences."""

import json
import math
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from explorer.components.training_replay.run_numbers import (
    chance_weight,
    compared_curves,
    comparison_rows,
    curve_numbers,
    finite_number,
    number_map,
    number_table,
    run_results,
)
from explorer.core.vocabulary import EOS
from explorer.data.toy_data import find_task
from explorer.jobs.training_run import create_run
from explorer.training.config import TrainingConfig


@pytest.mark.parametrize("value", [None, "5", True, math.nan, math.inf, [1]])
def test_what_is_no_finite_number_is_none(value):
    assert finite_number(value) is None
    assert number_map({"a": value, "b": 2}) == {"a": None, "b": 2.0}
    assert number_table([[value, 1], 7]) == [[None, 1.0]]


def test_numbers_have_six_digits():
    assert finite_number(0.123456789) == 0.123457
    assert finite_number(3) == 3.0


def test_what_is_no_table_is_empty():
    assert number_map([1]) == {}
    assert number_table({"a": 1}) == []


@pytest.mark.parametrize("task", ["copy", "reverse", "sort"])
def test_the_chance_weight_is_that_of_a_uniform_head(task):
    config = TrainingConfig(task=task, longest=6, symbols=("1", "2", "3", "4"))
    rule = find_task(task)
    batch = rule.batch(3000, 6, 4, torch.Generator().manual_seed(0))
    weights = []
    for source in batch.source.tolist():
        size = source.index(EOS)
        weights.append(rule.alignment(source[:size]).sum(1).mean() / (size + 1))
    assert chance_weight(config) == pytest.approx(sum(weights) / len(weights), abs=0.01)


def test_a_translation_has_no_chance_weight():
    assert chance_weight(replace(TrainingConfig(), pairs="x.tsv")) is None


LINES = [
    {"step": 5, "loss": 2.0, "held_out_loss": 1.5, "exact_match": 0.5, "gold": [[0.1, 0.4]]},
    {"step": 10, "loss": 1.0, "held_out_loss": 0.5, "exact_match": 0.99, "gold": [[0.2, None]]},
    {"step": 15, "loss": 0.5, "held_out_loss": 0.9, "exact_match": 1.0},
]
NOTHING = {"mastered": None, "best_loss": None, "best_step": None, "bleu": None, "perplexity": None}


def test_results_are_the_first_mastered_step_and_the_best_scores():
    found = {**NOTHING, "mastered": 10, "best_loss": 0.5, "best_step": 10}
    assert run_results(LINES) == found
    assert run_results([{"step": 5, "bleu": 9.0}, {"step": 9, "bleu": 7.0}])["bleu"] == 9.0
    assert run_results([]) == NOTHING


def test_a_row_has_the_name_and_the_settings_that_differ(tmp_path: Path):
    runs = [
        create_run(tmp_path / name, TrainingConfig(seed=seed, device="cpu"))
        for name, seed in (("one", 1), ("two", 2))
    ]
    rows = comparison_rows(runs, [NOTHING, NOTHING], "en")
    assert rows == [
        {"name": "one", "settings": "seed 1", **NOTHING},
        {"name": "two", "settings": "seed 2", **NOTHING},
    ]


def test_the_curves_of_a_compared_run_have_its_best_head(tmp_path: Path):
    run = create_run(tmp_path / "one", TrainingConfig(device="cpu"))
    curves = compared_curves(run, LINES)
    assert curves["name"] == "one"
    assert [moment["gold"] for moment in curves["moments"]] == [0.4, 0.2, None]


def test_a_missing_number_is_a_gap():
    found = curve_numbers({"step": 5, "loss": float("inf"), "bleu": "x"})
    empty = {"loss": None, "held_out": None, "exact": None, "bleu": None}
    assert found == {"step": 5, **empty}
    assert "Infinity" not in json.dumps(found)


def test_the_training_loss_is_that_of_the_moment_where_it_was_measured():
    measured = {"step": 5, "loss": 2.0, "training_loss": 1.5}
    assert curve_numbers(measured)["loss"] == 1.5
    assert curve_numbers(LINES[0])["loss"] == 2.0
