import json
import math
from dataclasses import replace
from pathlib import Path

import pytest

from explorer.core.errors import FileError, PruningError
from explorer.heads.pruning.pruning_report import PruningCurve, PruningPoint, PruningReport

FACTS = {
    "model": "x",
    "digest": "d",
    "batch": "mine",
    "targets": "given",
    "sentences_digest": "s",
    "sentences": 4,
    "heads": 2,
    "seed": 0,
    "draws": 10,
}
LOSSES = tuple(
    PruningPoint(left, 3.0 - left, 2.5 - left, 3.25 - left, 1.75 - left, 2.125 - left)
    for left in (2, 1, 0)
)
BLEU = (PruningPoint(2, 50.0, 40.0, 60.0),)
WHOLE = PruningReport(
    FACTS,
    (2, 1, 0),
    (2,),
    (PruningCurve("importance", ("cross.0.1", "cross.0.0"), LOSSES, BLEU),),
)


@pytest.mark.parametrize("report", [WHOLE, WHOLE.with_orders(["random"])])
def test_what_is_written_is_read(report: PruningReport, tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    report.save(path)
    # As text: NaN, of a point without an interval, equals nothing.
    assert repr(PruningReport.load(path)) == repr(report)


def test_points_of_one_sentence_are_written_without_an_interval(tmp_path: Path) -> None:
    path, point = tmp_path / "x.json", PruningPoint(2, 1.5, math.nan, math.nan)
    replace(WHOLE, points=(2,)).with_curve(PruningCurve("importance", (), (point,), BLEU)).save(
        path
    )
    (read,) = PruningReport.load(path).curve("importance").losses
    assert (read.heads_left, read.value, read.has_interval) == (2, 1.5, False)


def test_a_report_is_complete_when_every_point_of_every_order_is_there() -> None:
    assert WHOLE.complete
    grown = WHOLE.with_orders(["random", "importance"])
    assert [curve.order for curve in grown.curves] == ["importance", "random"]
    assert not grown.complete
    assert grown.curve("importance") == WHOLE.curve("importance")
    without_bleu = replace(WHOLE.curve("importance"), bleu=())
    assert not WHOLE.with_curve(without_bleu).complete


def test_the_table_has_a_row_for_each_order_and_number_of_heads(tmp_path: Path) -> None:
    table = WHOLE.table()
    assert table.columns[:5].tolist() == ["order", "heads_left", "loss", "low", "high"]
    assert table.change_low.tolist() == [-0.25, 0.75, 1.75]
    assert table.removed.tolist() == ["", "cross.0.1", "cross.0.0"]
    assert table.heads_left.tolist() == [2, 1, 0]
    assert table.loss.tolist() == [1.0, 2.0, 3.0]
    assert table.bleu.tolist()[0] == 50.0
    assert math.isnan(table.bleu.tolist()[1])
    WHOLE.save(tmp_path / "x.csv")
    lines = (tmp_path / "x.csv").read_text("utf-8-sig").splitlines()
    assert lines[0] == (
        "order,heads_left,loss,low,high,change_low,change_high,"
        "bleu,bleu_low,bleu_high,bleu_change_low,bleu_change_high,removed"
    )
    assert lines[2] == "importance,1,2.0,1.5,2.25,0.75,1.125,,,,,,cross.0.1"
    assert "bleu" not in replace(WHOLE, bleu_points=()).table()


DAMAGED = {
    "no json": "x",
    "a list": "[]",
    "nothing": "{}",
    "later version": WHOLE.to_json().replace('"pruning": 2', '"pruning": 3'),
    "an earlier version": WHOLE.to_json().replace('"pruning": 2', '"pruning": 1'),
    "no head": WHOLE.to_json().replace("cross.0.1", "cross.0"),
    "no facts": WHOLE.to_json().replace('"facts"', '"fact"'),
    "another order": WHOLE.to_json().replace('"importance"', '"size"'),
    "other points": WHOLE.to_json().replace('"points": [2, 1, 0]', '"points": [3, 1, 0]'),
    "a missing value": WHOLE.to_json().replace("2.25", "null"),
    "a short point": WHOLE.to_json().replace("1.5, 2.25, ", "1.5, "),
    "twice": json.dumps(
        json.loads(WHOLE.to_json()) | {"curves": 2 * json.loads(WHOLE.to_json())["curves"]}
    ),
}


@pytest.mark.parametrize("name", DAMAGED)
def test_a_damaged_file_is_refused_in_one_sentence(name: str, tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text(DAMAGED[name], "utf-8")
    assert DAMAGED[name] != WHOLE.to_json()
    with pytest.raises(PruningError, match=r"“x.json” holds no pruning curves"):
        PruningReport.load(tmp_path / "x.json")


def test_a_file_that_is_not_there_or_too_large_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileError):
        PruningReport.load(tmp_path / "x.json")
    (tmp_path / "x.json").write_bytes(b" " * (4 * 2**20 + 1))
    with pytest.raises(FileError, match="4 MB"):
        PruningReport.load(tmp_path / "x.json")
