import math
from pathlib import Path

import pandas as pd
import pytest

from explorer.training import run_metrics
from explorer.training.run_metrics import append, best_moment, discard_after, read


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "metrics.jsonl"


def test_there_are_no_moments_without_a_file(path):
    assert read(path) == []


def test_too_many_lines_or_values_are_not_read(path, monkeypatch):
    append(path, {"step": 10, "gold": [0.5, 0.25]})
    append(path, {"step": 20})
    assert len(read(path)) == 2
    monkeypatch.setattr(run_metrics, "MOST_LINES", 1)
    assert read(path) == []
    monkeypatch.undo()
    monkeypatch.setattr(run_metrics, "_MOST_METRICS", 4)
    assert read(path) == []


def test_damaged_lines_of_the_metrics_are_ignored(path):
    append(path, {"step": 10, "loss": 1.0})
    with path.open("ab") as file:
        file.write(b'{"step": 20, "lo\n\xff\xfe\n[]\n"text"\n{"loss": 3}\n')
    append(path, {"step": 30, "loss": 0.5})
    with path.open("ab") as file:
        file.write(b'{"step": 40')
    assert [moment["step"] for moment in read(path)] == [10, 30]


@pytest.mark.parametrize("mark", ["\u2028", "\u2029", "\x85", "\x0b", "\x1c", "\r", "\n"])
def test_a_text_may_contain_any_line_separator(path, mark):
    samples = [{"written": f"one{mark}two"}]
    for step in (10, 20, 30):
        append(path, {"step": step, "samples": samples})
    discard_after(path, 20)
    assert read(path) == [{"step": step, "samples": samples} for step in (10, 20)]
    assert len(pd.read_json(path, lines=True)) == 2


def test_the_metrics_load_with_pandas(path):
    append(path, {"step": 10, "loss": 1.0, "gold": [[0.5]]})
    append(path, {"step": 20, "loss": 0.5, "gold": [[0.75]]})
    frame = pd.read_json(path, lines=True)
    assert frame.loss.tolist() == [1.0, 0.5]


def test_the_best_moment_has_the_lowest_held_out_loss():
    losses = {10: 2.0, 20: 1.25, 30: 1.25, 40: 1.5, 50: math.nan, 60: None, 70: "0", 80: -1.0}
    moments = [{"step": step, "held_out_loss": loss} for step, loss in losses.items()]
    best = best_moment([*moments, {"step": 90, "loss": 0.1}])
    assert best is not None
    assert best["step"] == 20
    assert best_moment([{"step": 10, "loss": 1.0}]) is None  # an older run
    assert best_moment([]) is None
