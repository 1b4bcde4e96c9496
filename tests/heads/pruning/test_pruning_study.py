"""Curves of several orders that can be gone on with."""

import numpy as np
import pytest

from explorer.core.errors import ConfigError, PruningError
from explorer.heads.pruning import pruning_curve as curves
from explorer.heads.pruning import pruning_study
from explorer.heads.pruning.pruning_report import PruningReport
from explorer.heads.pruning.pruning_study import pruning_curve
from explorer.heads.pruning.pruning_study import pruning_study as measured

PAIRS = [("1 2 3", "3 2 1"), ("甲", "甲"), ("3 3 1", "1 3 3"), ("2 2", "2 2")]
KNOWN = [[target] for _, target in PAIRS]


@pytest.fixture(autouse=True)
def few_points(monkeypatch):
    monkeypatch.setattr(curves, "POINTS", 4)


@pytest.fixture
def batch(explorable):
    return explorable.passes.pairs(PAIRS, "pairs")


class EndedError(Exception):
    """In place of a process that is killed."""


def ended_after(points: int):
    """A `keep` that ends the study after so many reports, and the last one."""
    kept: list[PruningReport] = []

    def keep(report: PruningReport) -> None:
        kept.append(report)
        if len(kept) > points:
            raise EndedError

    return keep, kept


@pytest.mark.parametrize("order", ["importance", "confidence", "contribution", "greedy", "random"])
def test_a_curve_is_that_of_the_order_alone(explorable, batch, order):
    report = measured(explorable, batch, [order], seed=3)
    table = pruning_curve(explorable, batch, order, seed=3)
    found = report.table().drop(columns=["order", "removed"])
    assert found.to_numpy(float) == pytest.approx(table.to_numpy(float), nan_ok=True)
    removed = [str(head) for head in table.attrs.get("removed", [])]
    assert list(report.curve(order).removed) == removed
    assert " ".join(report.table().removed).split() == removed
    assert report.complete


@pytest.mark.parametrize("points", [0, 1, 4, 9, 17, 22])
def test_an_ended_study_goes_on_where_it_stopped(explorable, batch, monkeypatch, points):
    orders = ["greedy", "importance"]
    whole = measured(explorable, batch, orders, references=KNOWN)
    keep, kept = ended_after(points)
    with pytest.raises(EndedError):
        measured(explorable, batch, orders, references=KNOWN, keep=keep)
    begun = kept[-1]
    known = sum(len(curve.losses) for curve in begun.curves)
    calls = []
    own = pruning_study.loss_with
    monkeypatch.setattr(
        pruning_study, "loss_with", lambda *given: calls.append(given) or own(*given)
    )
    report = measured(explorable, batch, orders, references=KNOWN, begun=begun)
    assert report == whole
    assert len(calls) == 8 - known


def test_each_point_is_kept_and_greedy_comes_last(explorable, batch):
    _, kept = ended_after(10**9)
    measured(explorable, batch, ["greedy", "random"], keep=kept.append)
    grown = [[len(curve.losses) for curve in report.curves] for report in kept]
    assert grown[:6] == [[0, 0], [0, 1], [0, 2], [0, 3], [0, 4], [0, 4]]
    assert grown[-1] == [4, 4]
    removed = [len(report.curve("greedy").removed) for report in kept]
    assert removed[5:20] == list(range(1, 16))


def test_further_orders_are_added_to_what_is_measured(explorable, batch, monkeypatch):
    first = measured(explorable, batch, ["importance"])
    monkeypatch.setattr(curves, "importance", None)  # not computed again
    both = measured(explorable, batch, ["confidence"], begun=first)
    assert both.curve("importance") == first.curve("importance")
    assert [curve.order for curve in both.curves] == ["importance", "confidence"]
    assert both.complete


def test_bleu_is_measured_at_five_points_of_each_order(explorable, batch):
    report = measured(explorable, batch, ["importance", "random"], references=KNOWN)
    assert report.bleu_points == (15, 10, 5, 0)
    assert [point.heads_left for point in report.curve("random").bleu] == [15, 10, 5, 0]
    first = [curve.bleu[0].value for curve in report.curves]
    assert first[0] == pytest.approx(first[1])  # with all heads the order does not matter


def test_the_progress_grows_to_the_end_also_of_a_study_gone_on_with(explorable, batch):
    keep, kept = ended_after(20)
    orders = ["importance", "greedy", "random"]
    with pytest.raises(EndedError):
        measured(explorable, batch, orders, references=KNOWN, keep=keep)
    for begun in (None, kept[-1]):
        shares: list[float] = []
        measured(explorable, batch, orders, references=KNOWN, begun=begun, progress=shares.append)
        assert shares == sorted(shares)
        assert shares[-1] == pytest.approx(1.0)


def test_the_progress_of_the_greedy_order_counts_the_heads_that_each_step_tries(
    explorable, batch, monkeypatch
):
    """Of 15 heads: 15 passes, then 14, … down to 1, over half of the sentences; then 4 points."""
    monkeypatch.setattr(pruning_study, "GREEDY_SENTENCES", len(PAIRS) // 2)
    shares: list[float] = []
    measured(explorable, batch, ["greedy"], progress=shares.append)
    passes = [0, *(tried / 2 for tried in range(15, 0, -1)), 1, 1, 1, 1]
    assert np.unique(shares) == pytest.approx(np.unique(np.cumsum(passes) / 64))


def test_curves_of_other_sentences_are_not_gone_on_with(explorable, batch):
    begun = measured(explorable, batch, ["importance"])
    other = explorable.passes.pairs(PAIRS[:3], "pairs")
    for given, options in ((other, {}), (batch, {"seed": 1}), (batch, {"references": KNOWN})):
        with pytest.raises(PruningError, match="another model or of other sentences"):
            measured(explorable, given, ["importance"], begun=begun, **options)


def test_another_order_is_refused(explorable, batch):
    with pytest.raises(ConfigError, match="importance, confidence, contribution, greedy, random"):
        measured(explorable, batch, ["importance", "size"])
