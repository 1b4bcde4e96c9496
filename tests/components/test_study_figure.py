import json
from pathlib import Path

import numpy as np
import pytest

import explorer
from explorer.components.figures import figure
from explorer.components.study_figure import pruning_figure
from explorer.core.errors import ConfigError, RunError, TraceError

RUN = Path(__file__).parents[2] / "checkpoints" / "recorded" / "reverse"
TEXTS = "7 3 9 1 4", "7 3 9 1 5"


@pytest.fixture(scope="module")
def model():
    return explorer.load("reverse")


@pytest.fixture(scope="module")
def report(model):
    return model.measure(["7 3 9", "4 1", "1 2 3 4 5"])


def axes(drawn) -> list[str]:
    return [drawn.layout.yaxis.title.text, drawn.layout.xaxis.title.text]


def test_patching_of_heads_is_a_map_of_layers_and_heads(model):
    found = model.patch(*TEXTS)
    drawn = figure(found)
    assert axes(drawn) == ["site, layer", "head"]
    (cells,) = drawn.data
    for row in found.table.itertuples():
        at = drawn.layout.yaxis.ticktext.index(f"{row.site} L{row.layer}")
        assert cells.z[at, row.head] == row.restored
    assert cells.zmin == -cells.zmax == -found.table.restored.abs().max()
    assert drawn.table.equals(found.matrix)
    assert "logit '4' - logit '5'" in drawn.layout.title.text


def test_patching_of_the_stream_has_its_positions_across(model):
    found = model.patch(*TEXTS, sites="residual")
    drawn = figure(found)
    assert axes(drawn) == ["stack, layer", "position"]
    assert drawn.layout.xaxis.ticktext == tuple("012345")
    row = found.table.iloc[found.table.restored.argmax()]
    at = drawn.layout.yaxis.ticktext.index(f"{row.stack} L{row.layer}")
    assert drawn.data[0].z[at, row.position] == row.restored
    assert np.isnan(drawn.data[0].z).sum() == found.matrix.isna().sum().sum()


def test_contributions_are_a_map_of_tokens(model):
    found = model.contributions("7 3 9")
    drawn = figure(found)
    assert axes(drawn) == ["predicted token", "token"]
    assert drawn.layout.xaxis.ticktext == (
        "7",
        "3",
        "9",
        "&lt;eos&gt;",
        "&lt;bos&gt;",
        "9",
        "3",
        "7",
    )
    np.testing.assert_array_equal(drawn.data[0].z, found.matrix)
    np.testing.assert_array_equal(drawn.table, found.matrix)
    assert drawn.data[0].zmin == 0
    effects = model.contributions("7 3 9", "leave_one_out")
    assert (figure(effects).data[0].zmin < 0) == (effects.matrix.min() < 0)


def test_two_metrics_of_all_heads_are_points(report):
    drawn = figure(report, x="entropy", y="gold_weight")
    assert axes(drawn) == ["gold_weight", "entropy"]
    assert [points.name for points in drawn.data] == ["encoder", "decoder", "cross"]
    for points in drawn.data:
        heads = report.heads[report.heads.site == points.name]
        np.testing.assert_array_equal(points.x, heads.entropy)
        np.testing.assert_array_equal(points.y, heads.gold_weight)
        names = [f"{points.name} L{one.layer} H{one[3]}: " for one in heads.itertuples()]
        assert [text[: len(name)] for text, name in zip(points.text, names, strict=True)] == names
    assert drawn.table.columns.to_list() == ["site", "layer", "head", "entropy", "gold_weight"]
    assert axes(figure(report)) == list(report.metrics[1::-1])
    with pytest.raises(ConfigError, match="x is “beauty”; choose one of confidence, "):
        figure(report, x="beauty")


def test_a_head_of_a_report_is_its_offsets(report):
    drawn = figure(report, "cross", 1, 3)
    own = report.offsets.query("site == 'cross' and layer == 1 and head == 3")
    own = own.dropna(subset=["share", "chance"])
    assert list(drawn.data[0].x) == own.offset.to_list()
    assert list(drawn.data[0].y) == own.share.to_list()
    assert drawn.table.dropna().share.to_list() == own.share.to_list()
    with pytest.raises(TraceError, match="no head L9 H0"):
        figure(report, "cross", 9, 0)


def test_pruning_curves_have_the_losses_and_their_intervals(model):
    tables = {order: model.prune(["7 3 9", "4 1"], order) for order in ("importance", "random")}
    drawn = figure(tables)
    assert axes(drawn) == ["loss (nats)", "heads left"]
    assert [line.name for line in drawn.data] == ["importance", "random"]
    for line, table in zip(drawn.data, tables.values(), strict=True):
        assert list(line.x) == table.heads_left.tolist()
        np.testing.assert_allclose(line.y, table.loss)
        np.testing.assert_allclose(line.y + line.error_y.array, table.high)
        np.testing.assert_allclose(line.y - line.error_y.arrayminus, table.low)
    assert len(pruning_figure(tables).table) == sum(map(len, tables.values()))


def test_the_curves_of_a_training_are_its_losses_or_a_metric():
    lines = [json.loads(line) for line in (RUN / "metrics.jsonl").read_text().splitlines()]
    drawn = figure(RUN)
    assert axes(drawn) == ["loss (nats)", "step"]
    assert [line.name for line in drawn.data] == ["loss", "held_out_loss"]
    for line in drawn.data:
        assert list(line.x) == [one["step"] for one in lines]
        assert list(line.y) == [one[line.name] for one in lines]
    exact = figure(str(RUN), x="seconds", y="exact_match")
    assert axes(exact) == ["exact_match", "seconds"]
    assert list(exact.data[0].y) == [one["exact_match"] for one in lines]
    with pytest.raises(ConfigError, match="y is “gold”; choose one of step, "):  # a list each
        figure(RUN, y="gold")
    with pytest.raises(RunError, match=r"metrics\.jsonl is missing or damaged"):
        figure("checkpoints")
