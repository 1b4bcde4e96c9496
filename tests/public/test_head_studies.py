import doctest
import inspect
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import explorer
from explorer.core.errors import (
    ConfigError,
    EvaluationBatchError,
    InterventionError,
    RemovedError,
    VocabularyError,
)
from explorer.core.interventions import Interventions
from explorer.heads.contributions.agreement import contribution_agreement
from explorer.heads.contributions.contributions import contributions
from explorer.heads.contributions.logit_attribution import logit_attribution
from explorer.heads.contributions.score_parts import score_parts
from explorer.heads.measure import measure
from explorer.heads.metrics.evaluation_batches import given_sentences
from explorer.heads.removal.ablation import effect
from explorer.heads.removal.counterfactuals import mean_outputs
from explorer.public import head_studies

TEXTS = ["7 3 9 1 4", "2 5"]
ROOT = Path(__file__).parents[2]


def test_the_examples_of_help_run(monkeypatch, tmp_path):
    """In a folder of their own, because one writes a file."""
    (tmp_path / "checkpoints").symlink_to(ROOT / "checkpoints")
    monkeypatch.chdir(tmp_path)
    finder, runner = doctest.DocTestFinder(), doctest.DocTestRunner()
    methods = inspect.getmembers(head_studies.HeadStudies, inspect.isfunction)
    public = {name: method for name, method in methods if not name.startswith("_")}
    for name, method in public.items():
        (example,) = finder.find(method, name, globs={"explorer": explorer})
        assert runner.run(example).attempted, name
    assert len(public) == 11
    assert runner.summarize().failed == 0


@pytest.fixture(scope="module")
def studied():
    return explorer.load(ROOT / "checkpoints" / "reverse.safetensors")


@pytest.mark.parametrize("method", head_studies._REMOVED)
def test_a_method_that_is_gone_names_what_remains(studied, method):
    with pytest.raises(RemovedError) as caught:
        getattr(studied, method)
    assert caught.value.key == method
    assert method not in dir(studied)
    assert not hasattr(studied, "another")


def test_contributions_are_those_of_the_function(studied):
    found = studied.contributions("7 3 9", target="9 3 7")
    expected = contributions(studied, "7 3 9", "alti", target="9 3 7")
    np.testing.assert_array_equal(found.matrix, expected.matrix)


def test_the_parts_of_heads_and_of_a_score_are_those_of_the_functions(studied):
    found = studied.logit_attribution("7 3 9", target="9 3 7")
    expected = logit_attribution(studied, "7 3 9", target="9 3 7")
    pd.testing.assert_frame_equal(found.parts, expected.parts)
    place = ("cross", 1, 2, 0, 2)
    parts = studied.score_parts("7 3 9", *place, prefix="9").parts
    pd.testing.assert_frame_equal(parts, score_parts(studied, "7 3 9", *place, prefix="9").parts)


def test_agreement_is_that_of_the_function(studied):
    found = studied.contribution_agreement(TEXTS)
    expected = contribution_agreement(studied, given_sentences(studied, TEXTS))
    pd.testing.assert_frame_equal(found, expected)


def test_a_measurement_is_that_of_the_function(studied):
    pairs = [("7 3 9", "9 3 7"), ("2 5", "5 2")]
    found = studied.measure(pairs, importance=True, removed_on=2)
    batch = given_sentences(studied, pairs)
    expected = measure(studied, batch, gradients=True, removed_on=2)
    pd.testing.assert_frame_equal(found.heads, expected.heads)
    assert {"importance", "zero_loss"} <= set(found.metrics)
    assert "zero_loss" not in studied.measure(pairs).metrics


def test_an_ablation_is_that_of_the_function(studied):
    """The mean output that replaces a head is that over the same sentences."""
    batch = given_sentences(studied, TEXTS)
    for heads in ([("cross", 1, None)], [("cross", 1, 2, "mean"), ("encoder", 0, 1)]):
        removed = Interventions.gather(ablate=heads)
        expected = effect(studied, batch, removed, mean_outputs(studied, batch))
        found = studied.ablate(heads, TEXTS)
        pd.testing.assert_frame_equal(found, expected)
        assert found.change.loss != 0
        assert found.before.loss == pytest.approx(
            np.concatenate([studied.trace(text).losses for text in TEXTS]).mean(), abs=1e-5
        )
    written = studied.ablate(["cross.1.2 mean", "encoder.0.1"], TEXTS)
    pd.testing.assert_frame_equal(written, found)


def test_what_cannot_be_studied_is_refused(studied):
    for study in (
        studied.measure,
        studied.contribution_agreement,
        lambda texts: studied.ablate([("cross", 0, 0)], texts),
    ):
        with pytest.raises(EvaluationBatchError, match="no sentence to measure on"):
            study([])
        with pytest.raises(EvaluationBatchError, match="a list of sentences"):
            study("7 3 9")
        with pytest.raises(VocabularyError):
            study(["7 3 9", "no"])
    with pytest.raises(InterventionError):
        studied.ablate([("cross", 9, 0)], TEXTS)
    with pytest.raises(InterventionError):
        studied.ablate(("cross", 0, 0), TEXTS)


@pytest.mark.parametrize(
    ("study", "name"),
    [
        *((("measure", {"removed_on": wrong}), "removed_on") for wrong in (-1, 1.5, True, "x")),
        (("measure", {"importance": "no"}), "importance"),
        *((("prune", {"seed": wrong}), "seed") for wrong in (-1, float("nan"), "x")),
    ],
)
def test_an_option_of_another_kind_is_named(studied, study, name):
    method, options = study
    with pytest.raises(ConfigError, match=f"^{name} is "):
        getattr(studied, method)(TEXTS, **options)
