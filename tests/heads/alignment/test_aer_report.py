import math
from pathlib import Path

import pytest

from explorer.core.errors import AlignmentError
from explorer.heads.alignment.aer_report import (
    DIAGONAL,
    AlignmentMethod,
    AlignmentReport,
    ErrorRate,
)

HEAD = (AlignmentMethod(1, 3, "input"), ErrorRate(0.25, 0.2, 0.3, (0.25, math.nan, math.nan)))
BASELINE = (DIAGONAL, ErrorRate(0.5, 0.4, 0.6, (0.5, math.nan, math.nan)))
REPORT = AlignmentReport("=x.tsv", "columns", 7, 1, (HEAD, BASELINE))


def test_a_report_is_read_back(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    REPORT.save(path)
    assert repr(AlignmentReport.load(path)) == repr(REPORT)  # repr, because of NaN


def test_its_table_is_for_spreadsheets(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    REPORT.save(path)
    assert path.read_bytes() == REPORT.to_csv()
    first, second, third = path.read_text("utf-8-sig").splitlines()
    assert first == "head,row,error_rate,low,high,1–10,11–20,21+"
    assert second == "L1 H3,input,0.25,0.2,0.3,0.25,,"
    assert third == "diagonal,,0.5,0.4,0.6,0.5,,"


def test_the_diagonal_wins_where_it_comes_first() -> None:
    assert not REPORT.diagonal_wins
    assert AlignmentReport("x", "words", 1, 0, (BASELINE, HEAD)).diagonal_wins


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"rates": 3}', '{"rates": [1]}', "\xff"])
def test_what_is_no_report_is_refused(text: str, tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(AlignmentError, match="not a report"):
        AlignmentReport.load(path)


@pytest.mark.parametrize(
    ("found", "replacement"),
    [
        ('"columns"', '"letters"'),
        ('"columns"', "[]"),
        ('"input"', '"later"'),
        ('"layer": null', '"layer": 2'),  # the diagonal is not among the rates
        ("0.25", "1.25"),
        ("0.25", "-0.25"),
    ],
)
def test_a_report_that_could_not_be_shown_is_refused(
    found: str, replacement: str, tmp_path: Path
) -> None:
    path = tmp_path / "x.json"
    path.write_text(REPORT.to_json().replace(found, replacement), "utf-8")
    assert found in REPORT.to_json()
    with pytest.raises(AlignmentError, match="not a report"):
        AlignmentReport.load(path)
