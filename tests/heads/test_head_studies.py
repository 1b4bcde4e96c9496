import doctest
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import explorer
from explorer.heads import head_studies
from explorer.heads.contributions import contributions
from explorer.heads.logit_attribution import logit_attribution
from explorer.heads.score_parts import score_parts

ROOT = Path(__file__).parents[2]


def test_the_examples_of_help_run(monkeypatch):
    monkeypatch.chdir(ROOT)
    done = doctest.testmod(head_studies, extraglobs={"explorer": explorer})
    assert done.failed == 0
    assert done.attempted


@pytest.fixture(scope="module")
def studied():
    return explorer.load(ROOT / "checkpoints" / "reverse.safetensors")


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
