"""The trainings that a class shares: what is drawn of them, and which heads are counted."""

import plotly.graph_objects as go
import pytest

from explorer.components.class_curves_figure import Curve, class_chart, grouped, heads_of

POINTS = ((25, 0.1), (50, 0.995))
LATE = ((0.1, 0.2), (0.3, 0.9))


def curve(
    task: str = "reverse", causal: bool = True, seed: int = 7, gold=LATE, finished=True
) -> Curve:
    return Curve(task, causal, seed, POINTS, gold, finished)


def test_the_sharpest_head_counts_once_it_has_formed():
    assert curve().sharpest == (1, 1)
    assert curve(gold=((0.6, 0.6),)).sharpest == (0, 0)
    assert curve(gold=((0.49, 0.2),)).sharpest is None


def test_a_training_that_goes_on_or_was_stopped_counts_for_no_head():
    curves = [curve(), curve(seed=8, finished=False), curve(gold=((0.1,),), finished=False)]
    (group,) = grouped(curves)
    assert group.formed() == {(1, 1): 1}
    assert len(group.finished) == 1
    assert len(group.curves) == 3


def test_each_task_is_a_group_and_so_is_the_one_without_the_mask():
    curves = [curve("sort"), curve(causal=False, gold=((0.1,),)), curve(), curve(seed=8)]
    groups = grouped(curves)
    assert [one.name("en") for one in groups] == ["reverse", "reverse · no causal mask", "sort"]
    assert [len(one.curves) for one in groups] == [2, 1, 1]
    assert groups[0].formed() == {(1, 1): 2}
    assert groups[1].formed() == {None: 1}
    assert [one.site for one in grouped([curve("induction"), curve()])] == ["decoder", "cross"]
    assert heads_of(curves) == [(0, 0), (0, 1), (1, 0), (1, 1)]


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_line_is_a_training_with_its_seed_under_the_pointer(language: str) -> None:
    curves = [curve(), curve(seed=8), curve(causal=False), curve("sort")]
    chart = class_chart(grouped(curves), language)
    lines = chart["data"]
    assert [one["showlegend"] for one in lines] == [True, False, True, True]
    assert lines[0]["x"] == [25, 50]
    assert lines[0]["y"] == [0.1, 0.995]
    assert "8" in lines[1]["hovertemplate"]
    assert [one["line"]["dash"] for one in lines] == ["solid", "solid", "dot", "solid"]
    colours = [one["line"]["color"] for one in lines]
    assert colours[0] == colours[1] == colours[2] != colours[3]
    go.Figure(chart)  # Plotly knows each setting
