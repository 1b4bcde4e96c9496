"""The recorded run that ships, and runs that cannot be compared."""

import shutil

import numpy as np
import pytest

from explorer.app import compared_moments
from explorer.app.compared_moments import ComparedMomentError
from explorer.core import folders
from explorer.core.errors import ExplorerError
from explorer.core.look import MomentPair
from explorer.jobs.training_run import Run
from tests.support.finished_runs import finished_run

RECORDED = "recorded/reverse"


@pytest.fixture
def own_runs(tmp_path, monkeypatch):
    monkeypatch.setenv(folders.RUNS_VARIABLE, str(tmp_path))
    return tmp_path


def recorded() -> Run:
    return compared_moments.runs()[RECORDED]


def test_runs_without_moments_are_not_listed(own_runs):
    finished_run(own_runs / "reverse-1")
    assert list(compared_moments.runs()) == [RECORDED]


def test_the_opening_pair_is_an_early_moment_and_the_last():
    steps = compared_moments.steps_of(recorded())
    assert steps == sorted(steps)
    pair = compared_moments.initial_pair(RECORDED, steps)
    assert (pair.first, pair.second) == (steps[8], steps[-1])  # of 40
    assert compared_moments.query(RECORDED, steps) == {"part": "compare", "with": str(pair)}
    with pytest.raises(ComparedMomentError, match="“reverse” has fewer than two moments"):
        compared_moments.initial_pair(RECORDED, steps[:1])


def test_the_stored_probes_are_compared_with_what_the_model_says_by_itself():
    compared = compared_moments.comparison(MomentPair(RECORDED, 100, 1000))
    stored = [recorded().probe(step) for step in (100, 1000)]
    for side, probe in zip((compared.original, compared.forced), stored, strict=True):
        np.testing.assert_array_equal(side.attention("cross"), probe.attention("cross"))
        assert side.integrity().ok.all()
    assert compared.forced.predicted_tokens == stored[1].predicted_tokens  # it has learnt it
    assert compared.original.predicted_tokens == ("4", "1", "9", "7", "7", "<eos>")
    difference = stored[1].attention("cross") - stored[0].attention("cross")
    np.testing.assert_array_equal(compared.map("cross"), difference)


def test_scores_are_those_of_the_metrics():
    scores = compared_moments.scores(recorded(), 100)
    assert scores == {"exact_match": pytest.approx(0.2578125)}
    assert compared_moments.scores(recorded(), 3) == {}


@pytest.mark.parametrize(
    ("pair", "words"),
    [
        (MomentPair("runs/none", 1, 2), "no training “none” here any more"),
        (MomentPair("runs/../..", 1, 2), "no training"),
        (MomentPair(RECORDED, 3, 1000), "no moment at step 3"),
    ],
)
def test_what_is_not_there_is_one_sentence(own_runs, pair, words):
    with pytest.raises(ComparedMomentError, match=words):
        compared_moments.comparison(pair)


def test_a_run_that_was_begun_anew_is_read_anew_and_a_damaged_moment_refused(own_runs):
    copy = own_runs / "copy"
    shutil.copytree(recorded().folder, copy)
    pair = MomentPair("runs/copy", 100, 1000)
    before = compared_moments.comparison(pair)
    assert compared_moments.comparison(pair) is before
    shutil.copy(copy / "moments" / "000975.trace", copy / "moments" / "001000.trace")
    assert compared_moments.comparison(pair) is not before
    (copy / "moments" / "001000.trace").write_bytes(b"damaged")
    with pytest.raises(ExplorerError):
        compared_moments.comparison(pair)
