import json
from io import StringIO
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from explorer.core.errors import FileError, HeadReportError
from explorer.heads.measure import measure
from explorer.heads.metrics.evaluation_batches import task_sentences
from explorer.heads.reports.head_report import HeadReport
from explorer.heads.reports.head_report_validation import KEYS

CHECKPOINTS = Path(__file__).parents[3] / "checkpoints"


@pytest.fixture
def report(explorable) -> HeadReport:
    batch = task_sentences(explorable, 12)
    return measure(explorable, batch, gradients=True, removed_on=4)


def test_a_saved_report_loads_unchanged(report, tmp_path):
    report.save(tmp_path / "x.json")
    loaded = HeadReport.load(tmp_path / "x.json")
    pd.testing.assert_frame_equal(loaded.heads, report.heads, rtol=1e-6, atol=1e-12)
    pd.testing.assert_frame_equal(loaded.roles, report.roles, rtol=1e-6, atol=1e-12)
    assert loaded.facts == json.loads(json.dumps(dict(report.facts)))
    assert loaded.metrics == report.metrics
    assert loaded.to_json() == report.to_json()


def test_the_csv_is_the_table_of_heads_with_their_roles(report, tmp_path):
    report.to_csv(tmp_path / "x.csv")
    table = pd.read_csv(tmp_path / "x.csv")
    assert list(table) == [*KEYS, "role", *report.heads.columns.drop(KEYS)]
    heads = list(zip(table.site, table.layer, table["head"], strict=True))
    assert table.role.tolist() == [report.role_text(*head) for head in heads]
    chinese = pd.read_csv(StringIO(report.to_csv(language="zh")))
    assert chinese.role.tolist() == [report.role_text(*head, "zh") for head in heads]
    np.testing.assert_allclose(table.entropy, report.heads.entropy)


def test_columns_of_earlier_versions_are_not_read(report):
    content = json.loads(report.to_json())
    kept = list(content["heads"])
    older = ["zero_loss_p", "zero_loss_bound", "zero_loss_most", "only_exact_p", "zero_metric_p"]
    older += ["zero_bleu", "zero_bleu_low", "zero_bleu_high", "zero_bleu_p"]
    content["heads"] |= {name: [0.5] * len(report.heads) for name in older}
    assert list(HeadReport.from_json(json.dumps(content)).heads) == kept


def test_the_csv_of_roles_has_their_scores_and_intervals(report):
    table = pd.read_csv(StringIO(report.to_csv(table="roles")))
    assert {"role", "score", "low", "high", "chance", "threshold"} <= set(table.columns)
    assert len(table) == len(report.roles)
    np.testing.assert_allclose(table.score, report.roles.score)


def test_new_columns_replace_those_of_the_same_name(report):
    other = report.heads[["site", "layer", "head"]].assign(importance=3.0)
    again = report.with_columns(other, note="again")
    assert (again.heads.importance == 3).all()
    assert len(again.heads) == len(report.heads)
    assert again.facts["note"] == "again"
    assert "note" not in report.facts


@pytest.mark.parametrize(
    "text",
    [
        *("", "{}", "[]", "3", '{"version": 3}', '{"version": 4}', "[" * 100_000),
        *('{"version": true}', '{"version": 0}', '{"version": "1"}', '{"version": 1.0}'),
        '{"version": 3, "heads": 3, "roles": {}, "offsets": {}, "facts": {}}',
        '{"version": 3, "heads": {"a": [1]}, "roles": {}, "offsets": {}, "facts": {}}',
    ],
)
def test_a_file_without_a_report_is_refused(text, tmp_path):
    (tmp_path / "x.json").write_text(text)
    with pytest.raises(HeadReportError) as caught:
        HeadReport.load(tmp_path / "x.json")
    assert caught.value.key == "no_head_report"


def test_a_report_of_an_older_version_says_so(tmp_path):
    (tmp_path / "x.json").write_text('{"version": 2, "heads": {}, "roles": {}, "facts": {}}')
    with pytest.raises(HeadReportError, match="measured by an older version; measure again") as old:
        HeadReport.load(tmp_path / "x.json")
    assert old.value.key == "old_head_report"
    assert "旧版本" in old.value.in_language("zh")


def test_a_missing_file_is_an_error(tmp_path):
    with pytest.raises(FileError) as caught:
        HeadReport.load(tmp_path / "no.json")
    assert caught.value.key == "unreadable_file"


def test_an_unwritable_path_is_an_error(report, tmp_path):
    with pytest.raises(FileError) as caught:
        report.save(tmp_path / "no" / "x.json")
    assert caught.value.key == "unwritable_file"


@pytest.mark.parametrize("damage", ["facts", "roles", "offsets", "layer"])
def test_an_incomplete_report_is_refused(damage):
    content = json.loads((CHECKPOINTS / "heads" / "reverse.json").read_text("utf-8"))
    if damage == "layer":
        content["heads"]["layer"] = ["x"] * len(content["heads"]["layer"])
    else:
        content[damage] = {}
    with pytest.raises(HeadReportError, match="no measurements"):
        HeadReport.from_json(json.dumps(content))


def test_on_copy_alignment_is_confounded_with_position_0():
    report = HeadReport.load(CHECKPOINTS / "heads" / "copy.json")
    assert report.role_text("cross", 0, 0) == "same place"
    assert report.held_groups("cross", 0, 0) == (("copy", "alignment"),)
    (score,) = report.held_scores("cross", 0, 0)
    assert (score.score, score.chance) == (1.0, pytest.approx(0.10, abs=0.01))
    assert report.roles_of("cross", 0, 0) == ("copy", "alignment")
    assert report.confounded("cross", "alignment") == ("copy",)
    assert report.roles_of("encoder", 1, 2) == ("diffuse",)
    assert report.roles_of("encoder", 0, 1) == ("sink", "end")


def evidence(**changes: object) -> HeadReport:
    """One encoder head: on the next position in 39 % of the queries, 8 % by chance."""
    heads = pd.DataFrame({"site": ["encoder"], "layer": [0], "head": [0]})
    row = {"role": "next", "score": 0.39, "chance": 0.08, "effect": 0.31, "effect_low": 0.28}
    other = {"role": "self", "score": 0.5, "chance": 0.3, "effect": 0.2, "effect_low": 0.1}
    rows = [{"holds": False, "doubt": "", **one} for one in (row | changes, other)]
    roles = heads.merge(pd.DataFrame(rows), how="cross")
    return HeadReport(heads, roles, pd.DataFrame(), {"confounds": [], "targets": "given"})


def test_without_a_role_the_one_most_above_chance_is_named():
    key = ("encoder", 0, 0)
    nearest = "partly next word: 39\u00a0% (by chance 8\u00a0%)"
    assert evidence().role_text(*key) == nearest
    assert evidence().role_text(*key, "zh") == "部分看后一个词：39\u00a0%（随机为 8\u00a0%）"
    assert evidence().role_caption(*key) == "partly next word"
    assert evidence().role_caption(*key, "zh") == "部分看后一个词"
    # an effect that may be small, too few queries
    for changes in ({"effect_low": 0.09}, {"doubt": "too_few"}, {"effect_low": float("nan")}):
        assert evidence(**changes).role_text(*key).startswith("partly itself: 50")
    assert evidence(holds=True).role_text(*key) == "next word"
    assert evidence(holds=True).role_caption(*key) == "next word"
    assert evidence(holds=True).nearest_role(*key) is None
    assert evidence(holds=True).has_role().tolist() == [True]


def test_the_command_line_names_the_nearest_role(explorable):
    report = measure(explorable, task_sentences(explorable, 60))
    names = {report.role_text(*key) for key in report.heads.iloc[:, :3].itertuples(index=False)}
    assert any(name.startswith("partly ") for name in names)
    assert all(name in report.summary() for name in names)


def test_a_head_that_was_not_measured_has_no_roles(report):
    assert report.role_rows("encoder", 99, 0) == ()


def test_the_repr_is_one_line(report):
    assert repr(report).startswith(f"HeadReport({len(report.heads)} heads, ")
    assert len(repr(report)) < 200
    assert "\n" not in repr(report)


def test_a_notebook_shows_the_heads_with_their_roles_as_a_table(report):
    (table,) = pd.read_html(StringIO(report._repr_html_()), na_values="–")
    assert not [name for name in table if name.endswith(("_low", "_high"))]
    for name in report.metrics:
        np.testing.assert_allclose(table[name], report.heads[name], rtol=6e-3, atol=1e-12)
    assert table.roles.to_list() == [
        report.role_text(*key) for key in report.heads[KEYS].itertuples(index=False)
    ]
