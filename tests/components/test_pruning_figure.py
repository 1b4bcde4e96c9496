"""Pruning curves: what is drawn where in the chart."""

import math

import plotly.graph_objects as go
import pytest

from explorer.components.pruning_figure import (
    about,
    chart_height,
    lines,
    panels,
    pruning_chart,
    removal_orders,
)
from explorer.heads.pruning.pruning_report import PruningCurve, PruningPoint, PruningReport

FACTS = {"model": "x", "batch": "mine", "targets": "given", "sentences": 9, "heads": 4, "draws": 10}


def curve(order: str, values: list[float], bleu: list[float] | None = None) -> PruningCurve:
    losses = tuple(
        PruningPoint(left, value, 0, 9, value - values[0] - 0.25, value - values[0] + 0.5)
        if order != "random"
        else PruningPoint(left, value, value - 0.25, value + 0.5)
        for left, value in zip((4, 2, 0), values, strict=False)
    )
    scores = tuple(
        PruningPoint(left, score, score, score)
        for left, score in zip((4, 0), bleu or [], strict=False)
    )
    return PruningCurve(order, (), losses, scores)


def report(*curves: PruningCurve, bleu: bool = False) -> PruningReport:
    return PruningReport(FACTS, (4, 2, 0), (4, 0) if bleu else (), curves)


TWO = report(curve("importance", [1, 2, 5]), curve("random", [1, 3, 5]))


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_line_has_its_points_its_band_and_its_name(language: str) -> None:
    chart = pruning_chart(TWO, language)
    band, line, *_ = chart["data"]
    assert line["x"] == [4, 2, 0]
    assert line["y"] == [1, 2, 5]
    assert line["customdata"][1] == [" (+1.000 [+0.750, +1.500])"]
    assert list(zip(band["x"], band["y"], strict=True)) == [
        (4, 0.75),
        (2, 1.75),
        (0, 4.75),
        (0, 5.5),
        (2, 2.5),
        (4, 1.5),
    ]
    names = [note["text"] for note in chart["layout"]["annotations"]]
    assert names == {"en": ["importance", "random"], "zh": ["重要性", "随机"]}[language]
    assert line["name"] == names[0]
    go.Figure(chart)  # raises on what Plotly does not know


def test_a_legend_has_each_order_once() -> None:
    both = report(curve("importance", [1, 2, 5], [50, 0]), curve("random", [1, 3, 5]), bleu=True)
    listed = [one.get("name") for one in pruning_chart(both, "en")["data"] if one["showlegend"]]
    assert listed == ["importance", "random"]


def test_a_band_does_not_reach_below_zero() -> None:
    scores = (PruningPoint(4, 50, 40, 60, 0, 0), PruningPoint(0, 1, 0, 3, -60, -45))
    known = PruningCurve("importance", (), curve("importance", [1, 2, 5]).losses, scores)
    (line,) = lines(report(known, bleu=True), "bleu")
    assert line.band == [(4, 50, 50), (0, 0, 5)]


def test_a_line_of_one_sentence_has_no_band() -> None:
    points = tuple(PruningPoint(left, 1.0, math.nan, math.nan) for left in (4, 2, 0))
    band, line, *_ = pruning_chart(report(PruningCurve("importance", (), points)), "en")["data"]
    assert band["x"] == []
    assert line["y"] == [1, 1, 1]
    assert line["customdata"] == [[""]] * 3


def test_names_at_one_end_do_not_overlap_and_are_in_the_order_of_the_lines() -> None:
    random, importance = sorted(lines(TWO, "loss"), key=lambda line: line.shift)
    assert (random.order, importance.order) == ("random", "importance")
    assert importance.shift - random.shift >= 14  # px
    notes = {note["text"]: note for note in pruning_chart(TWO, "en")["layout"]["annotations"]}
    assert notes["importance"]["yshift"] == notes["random"]["yshift"] - 16


def test_a_line_that_grows_has_its_name_at_its_last_point() -> None:
    growing = report(curve("importance", [1, 2, 5]), curve("random", [1, 3]), curve("greedy", []))
    found = {line.order: line for line in lines(growing, "loss")}
    assert list(found) == ["importance", "random"]
    assert found["importance"].shift == found["random"].shift == 0
    note = pruning_chart(growing, "en")["layout"]["annotations"][1]
    assert (note["text"], note["x"], note["y"]) == ("random", 2, 3)


def test_the_heads_are_counted_down_and_bleu_stands_below() -> None:
    both = report(curve("importance", [1, 2, 5], [50, 0]), bleu=True)
    assert panels(both) == ["loss", "bleu"]
    layout = pruning_chart(both, "en")["layout"]
    high, low = layout["xaxis"]["range"]
    assert high > 4 > 0 > low
    assert layout["xaxis"]["tickvals"] == [4, 2, 0]
    assert layout["xaxis"]["title"]["text"] == ""  # the panel below has it
    assert layout["xaxis2"]["title"]["text"] == "heads left, of 4"
    alone = pruning_chart(TWO, "en")["layout"]
    assert alone["xaxis"]["title"]["text"] == "heads left, of 4"
    assert alone["yaxis"]["domain"] == [0.0, 1.0]
    assert layout["yaxis"]["title"]["text"] == "loss (nats per token)"
    assert layout["yaxis2"]["title"]["text"] == "BLEU"
    assert layout["yaxis"]["domain"][1] == 1.0
    assert layout["yaxis"]["domain"][0] > layout["yaxis2"]["domain"][1]
    assert math.isclose(layout["yaxis2"]["domain"][0], 0, abs_tol=1e-9)
    assert chart_height(both) > chart_height(TWO)


def test_a_panel_has_its_axes_before_its_first_point() -> None:
    chart = pruning_chart(report(curve("importance", [1, 2, 5]), bleu=True), "en")
    last = chart["data"][-1]
    assert (last["xaxis"], last["y"]) == ("x2", [None])
    assert chart["layout"]["xaxis2"]["title"]["text"] == "heads left, of 4"
    assert not chart["layout"]["yaxis2"]["showticklabels"]
    assert "showticklabels" not in chart["layout"]["yaxis"]
    go.Figure(chart)


def test_names_of_bleu_lines_stand_above_their_end() -> None:
    both = report(
        curve("importance", [1, 2, 5], [50, 0]), curve("random", [1, 3, 5], [40, 0]), bleu=True
    )
    shifts = {line.order: line.shift for line in lines(both, "bleu")}
    assert shifts == {"importance": -16, "random": 0}


def test_what_the_bands_are_is_said() -> None:
    assert about(TWO, "mine", "en").startswith("mine, 9 sentences, ")
    assert "mean of 10 orders" in about(TWO, "mine", "en")
    alone = report(curve("importance", [1, 2, 5]))
    assert "the change from all heads" in about(alone, "mine", "en")
    assert "Random" not in about(alone, "mine", "en")
    points = tuple(PruningPoint(left, 1.0, math.nan, math.nan) for left in (4, 2, 0))
    one = PruningReport(
        {**FACTS, "sentences": 1}, (4, 2, 0), (), (PruningCurve("greedy", (), points),)
    )
    assert about(one, "mine", "en").startswith("mine, 1 sentence, ")
    assert "Bands" not in about(one, "mine", "en")
    greedy = PruningReport({**FACTS, "targets": "greedy"}, (4,), (), alone.curves)
    assert "the model's own output" in about(greedy, "mine", "en")
    assert "9 个句子" in about(TWO, "mine", "zh")


@pytest.mark.parametrize(
    ("language", "heads"),
    [("en", "Cross L0 H1, Encoder L2 H0"), ("zh", "交叉 L0 H1、编码器 L2 H0")],
)
def test_the_heads_of_an_order_are_named(language: str, heads: str) -> None:
    known = PruningCurve("importance", ("cross.0.1", "encoder.2.0"))
    orders = list(removal_orders(report(known, PruningCurve("random")), language))
    assert [heads] == [found for _, found in orders]
