import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from explorer.core.errors import FileError, HeadReportError
from explorer.heads.evaluation_batches import task_sentences
from explorer.heads.head_report import HeadReport
from explorer.heads.measure import measure

CHECKPOINTS = Path(__file__).parents[2] / "checkpoints"


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


def test_the_csv_is_the_table_of_heads(report, tmp_path):
    report.to_csv(tmp_path / "x.csv")
    table = pd.read_csv(tmp_path / "x.csv")
    assert list(table.columns) == list(report.heads.columns)
    np.testing.assert_allclose(table.entropy, report.heads.entropy)


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
        *("", "{}", "[]", "3", '{"version": 2}', "[" * 100_000),
        '{"version": 1, "heads": 3, "roles": {}, "facts": {}}',
        '{"version": 1, "heads": {"a": [1]}, "roles": {}, "facts": {}}',
    ],
)
def test_a_file_without_a_report_is_refused(text, tmp_path):
    (tmp_path / "x.json").write_text(text)
    with pytest.raises(HeadReportError) as caught:
        HeadReport.load(tmp_path / "x.json")
    assert caught.value.key == "no_head_report"


def test_a_missing_file_is_an_error(tmp_path):
    with pytest.raises(FileError) as caught:
        HeadReport.load(tmp_path / "no.json")
    assert caught.value.key == "unreadable_file"


def test_an_unwritable_path_is_an_error(report, tmp_path):
    with pytest.raises(FileError) as caught:
        report.save(tmp_path / "no" / "x.json")
    assert caught.value.key == "unwritable_file"


@pytest.mark.parametrize("damage", ["facts", "roles", "layer"])
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
    assert report.roles_of("cross", 0, 0) == ("copy", "alignment")
    assert report.confounded("cross", "alignment") == ("copy",)
    assert report.roles_of("encoder", 1, 2) == ("diffuse",)
    assert report.roles_of("encoder", 0, 1) == ("sink",)


def test_the_repr_is_one_line(report):
    assert repr(report).startswith(f"HeadReport({len(report.heads)} heads, ")
    assert len(repr(report)) < 200
    assert "\n" not in repr(report)
