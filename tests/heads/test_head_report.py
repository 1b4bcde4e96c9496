import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from explorer.core.errors import FileError, HeadReportError
from explorer.heads.counterfactuals import mean_outputs
from explorer.heads.evaluation_batches import task_sentences
from explorer.heads.head_report import Findings
from explorer.heads.survey import survey

CHECKPOINTS = Path(__file__).parents[2] / "checkpoints"


@pytest.fixture
def findings(explorable) -> Findings:
    sentences = task_sentences(explorable, 12)
    return survey(explorable, sentences, gradients=True, removed_on=4)


def test_a_survey_puts_everything_in_one_table(explorable, findings):
    for name in ("confidence", "importance", "zero_loss", "mean_exact", "only_loss"):
        assert name in findings.metrics
        assert findings.heads[name].notna().any()
    assert len(findings.heads) == 15
    means = mean_outputs(explorable, task_sentences(explorable, 12))
    facts = dict(findings.facts["ablation"])
    assert set(facts.pop("together")) == {"encoder", "decoder", "cross"}
    assert facts == {"sentences": 4, "means": means.name}


@pytest.mark.parametrize("options", [{}, {"gradients": True}, {"removed_on": 2}])
def test_progress_runs_from_0_to_1_whatever_is_measured(explorable, options):
    shares: list[float] = []
    survey(explorable, task_sentences(explorable, 8), progress=shares.append, **options)
    assert shares == sorted(shares)
    assert 0 < shares[0] <= 1
    assert shares[-1] == pytest.approx(1)


def test_what_is_saved_is_loaded(findings, tmp_path):
    findings.save(tmp_path / "x.json")
    loaded = Findings.load(tmp_path / "x.json")
    pd.testing.assert_frame_equal(loaded.heads, findings.heads, rtol=1e-6, atol=1e-12)
    pd.testing.assert_frame_equal(loaded.roles, findings.roles, rtol=1e-6, atol=1e-12)
    assert loaded.facts == json.loads(json.dumps(dict(findings.facts)))
    assert loaded.metrics == findings.metrics
    assert loaded.to_json() == findings.to_json()


def test_a_csv_holds_the_table_of_heads(findings, tmp_path):
    findings.to_csv(tmp_path / "x.csv")
    table = pd.read_csv(tmp_path / "x.csv")
    assert list(table.columns) == list(findings.heads.columns)
    np.testing.assert_allclose(table.entropy, findings.heads.entropy)


def test_joining_again_replaces_a_column(findings):
    other = findings.heads[["site", "layer", "head"]].assign(importance=3.0)
    again = findings.joined(other, note="again")
    assert (again.heads.importance == 3).all()
    assert len(again.heads) == len(findings.heads)
    assert again.facts["note"] == "again"
    assert "note" not in findings.facts


@pytest.mark.parametrize(
    "text",
    [
        *("", "{}", "[]", "3", '{"version": 2}', "[" * 100_000),
        '{"version": 1, "heads": 3, "roles": {}, "facts": {}}',
        '{"version": 1, "heads": {"a": [1]}, "roles": {}, "facts": {}}',
    ],
)
def test_a_file_that_holds_none_is_refused(text, tmp_path):
    (tmp_path / "x.json").write_text(text)
    with pytest.raises(HeadReportError) as caught:
        Findings.load(tmp_path / "x.json")
    assert caught.value.key == "no_findings"


def test_a_file_that_is_not_there_is_said(tmp_path):
    with pytest.raises(FileError) as caught:
        Findings.load(tmp_path / "no.json")
    assert caught.value.key == "unreadable_file"


def test_a_place_that_cannot_be_written_is_said(findings, tmp_path):
    with pytest.raises(FileError) as caught:
        findings.save(tmp_path / "no" / "x.json")
    assert caught.value.key == "unwritable_file"


@pytest.mark.parametrize("damage", ["facts", "roles", "layer"])
def test_findings_that_are_not_whole_are_refused(damage):
    content = json.loads((CHECKPOINTS / "heads" / "reverse.json").read_text("utf-8"))
    if damage == "layer":
        content["heads"]["layer"] = ["x"] * len(content["heads"]["layer"])
    else:
        content[damage] = {}
    with pytest.raises(HeadReportError, match="no measurements"):
        Findings.from_json(json.dumps(content))
