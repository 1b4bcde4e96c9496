"""One odd file in a folder takes nothing else away: readers return or raise an `ExplorerError`,
and what lists a folder skips the file or shows it as damaged."""

import json
import logging
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from explorer.app.server import probe_route
from explorer.core import files, folders
from explorer.core.trace import Trace
from explorer.data.parallel_corpus import read_pairs, read_rows, read_sources
from explorer.heads.metrics.evaluation_batches import read_texts
from explorer.heads.reports.head_report import HeadReport
from explorer.heads.reports.report_store import stored_reports
from explorer.jobs import training_launcher
from explorer.jobs.training_run import Run, list_runs
from explorer.model.checkpoint import load_checkpoint, to_bytes
from tests.support.file_uses import (
    answers,
    two_runs,
    use_report,
    use_runs,
    use_trace,
    whole_catalog,
)
from tests.support.odd_files import (
    MOST_VALUES,
    MUTATIONS,
    ODD_CONTENTS,
    ODD_KINDS,
    checkpoint_with,
    make_odd,
    trace_with,
    with_odd_values,
)
from tests.support.small_trace import small_trace

SHIPPED = folders.shipped_checkpoints()
REPORT = (SHIPPED / "heads" / "reverse.json").read_text("utf-8")
DIGEST = json.loads(REPORT)["facts"]["digest"]
ODD = [*ODD_KINDS, *ODD_CONTENTS]


@pytest.fixture(autouse=True)
def _each_reason_logged_anew():
    files._log_once.cache_clear()


# Checkpoints


@pytest.fixture
def catalog_folder(tmp_path, monkeypatch, explorable) -> Path:
    monkeypatch.setenv(folders.CHECKPOINTS_VARIABLE, str(tmp_path))
    (tmp_path / "good.safetensors").write_bytes(to_bytes(explorable.checkpoint))
    return tmp_path


@pytest.mark.parametrize("odd", ODD)
def test_an_odd_checkpoint_is_not_listed(odd, catalog_folder, caplog):
    good = (catalog_folder / "good.safetensors").read_bytes()
    path = catalog_folder / "odd.safetensors"
    make_odd(path, odd, good)
    assert list(whole_catalog()) == ["good"]
    assert answers(lambda: load_checkpoint(path)) is None
    whole_catalog()
    told = [record for record in caplog.records if "odd.safetensors" in record.getMessage()]
    assert len(told) == (odd != "missing")


PARTS = ("config", "source_vocabulary", "target_vocabulary", "facts", "version")


@pytest.mark.parametrize("odd", ODD_CONTENTS)
@pytest.mark.parametrize("part", PARTS)
def test_odd_text_in_the_header_of_a_checkpoint_is_refused(part, odd, catalog_folder):
    good = (catalog_folder / "good.safetensors").read_bytes()
    path = catalog_folder / "odd.safetensors"
    path.write_bytes(checkpoint_with(good, **{part: ODD_CONTENTS[odd]}))
    assert list(whole_catalog()) == ["good"]
    assert answers(lambda: load_checkpoint(path)) is None


@pytest.mark.parametrize("part", ["config", "source_vocabulary", "target_vocabulary", "facts"])
def test_odd_values_in_the_header_of_a_checkpoint_never_reach_a_page(part, catalog_folder):
    good = (catalog_folder / "good.safetensors").read_bytes()
    header = json.loads(good[8 : 8 + int.from_bytes(good[:8], "little")])
    path = catalog_folder / "odd.safetensors"
    for text in with_odd_values(json.loads(header["__metadata__"][part])):
        path.write_bytes(checkpoint_with(good, **{part: text}))
        assert "good" in whole_catalog()
        checkpoint = answers(lambda: load_checkpoint(path))
        if checkpoint is not None:
            json.dumps(dict(checkpoint.facts), allow_nan=False, ensure_ascii=False).encode()
            to_bytes(checkpoint)


def test_a_file_name_that_is_not_utf_8_is_not_listed(catalog_folder):
    name = os.fsdecode(b"\xff.safetensors")
    shutil.copy(catalog_folder / "good.safetensors", catalog_folder / name)
    assert list(whole_catalog()) == ["good"]


# Traces


@pytest.mark.parametrize("odd", ODD)
def test_an_odd_trace_is_refused(odd, tmp_path):
    make_odd(tmp_path / "odd.trace", odd, small_trace().to_bytes())
    assert answers(lambda: Trace.load(tmp_path / "odd.trace")) is None


def test_odd_values_in_the_header_of_a_trace_are_refused_or_cleaned(tmp_path):
    good = small_trace(facts={"task": "reverse", "pad_to": 4, "interventions": ["x"]}).to_bytes()
    header = trace_with(good, None)
    for text in with_odd_values(header):
        trace = answers(lambda text=text: Trace.from_bytes(trace_with(good, text)))
        if trace is not None:
            use_trace(trace)


def test_a_lone_surrogate_in_the_facts_of_a_trace_is_cleaned():
    header = trace_with(small_trace().to_bytes(), None)
    header["facts"] = {"note": "a\ud800b", "a\udfff": [float("nan"), 2**70]}
    trace = Trace.from_bytes(trace_with(small_trace().to_bytes(), json.dumps(header)))
    assert dict(trace.facts) == {"note": "a?b", "a?": [None, None]}
    use_trace(trace)


# Runs


@pytest.fixture
def root(tmp_path) -> Path:
    return two_runs(tmp_path / "runs")


RUN_FILES = {
    "config.json": False,
    "status.json": True,
    "metrics.jsonl": True,
    "lesson.json": True,
    "log.txt": True,
    "moments/000005.trace": True,
    "moments": True,
}
"""The files of a run, and whether a run without a readable one is listed."""


@pytest.mark.parametrize("odd", ODD)
@pytest.mark.parametrize("file", RUN_FILES)
def test_an_odd_file_in_a_run_leaves_the_others(file, odd, root):
    path = root / "odd" / file
    good = path.read_bytes() if path.is_file() else b""
    shutil.rmtree(path) if path.is_dir() else path.unlink()
    make_odd(path, odd, good)
    listed = use_runs(root)
    assert set(listed) == {"good", "odd"} if RUN_FILES[file] else {"good"}


@pytest.mark.parametrize("file", ["config.json", "status.json", "metrics.jsonl", "lesson.json"])
def test_odd_values_in_a_run_never_raise(file, root):
    path = root / "odd" / file
    for text in with_odd_values(json.loads(path.read_text("utf-8"))):
        path.write_text(text + "\n", "utf-8")
        assert "good" in use_runs(root)


@pytest.mark.parametrize(
    ("file", "change"),
    [
        ("config.json", {"created": None}),
        ("config.json", {"created": float("inf")}),
        ("status.json", {"step": float("inf"), "state": "running"}),
        ("status.json", {"pid": 2**70, "state": "running"}),
        ("status.json", {"heartbeat": float("nan"), "state": "running"}),
        ("metrics.jsonl", {"step": float("inf")}),
        ("metrics.jsonl", {"step": "5", "loss": "x", "seconds": None}),
    ],
)
def test_values_once_seen_to_raise_leave_both_runs(file, change, root):
    path = root / "odd" / file
    path.write_text(json.dumps(json.loads(path.read_text("utf-8")) | change) + "\n", "utf-8")
    assert set(use_runs(root)) == {"good", "odd"}


def test_a_skipped_run_is_logged_once(root, caplog):
    (root / "odd" / "config.json").write_text("{")
    for _ in range(3):
        assert [run.name for run in list_runs(root)] == ["good"]
    lines = [record for record in caplog.records if record.levelno == logging.WARNING]
    assert len(lines) == 1
    assert "odd" in lines[0].getMessage()


@pytest.mark.parametrize("odd", ODD)
def test_the_route_of_probe_traces_answers_404(odd, root, monkeypatch):
    from starlette.requests import Request

    monkeypatch.setattr(training_launcher, "find", lambda place, name: Run(root / name))
    path = root / "odd" / "moments" / "000005.trace"
    path.unlink()
    make_odd(path, odd, small_trace().to_bytes())
    parameters = {"root": "runs", "name": "odd", "step": "5"}
    scope = {"type": "http", "path_params": parameters, "headers": []}
    assert probe_route.answer(Request(scope)).status_code == 404


# Head reports


@pytest.fixture
def reports(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv(folders.CHECKPOINTS_VARIABLE, str(tmp_path))
    monkeypatch.setenv(folders.REPORTS_VARIABLE, str(tmp_path / "own"))
    (tmp_path / "heads").mkdir()
    (tmp_path / "heads" / "good.json").write_text(REPORT, "utf-8")
    return tmp_path / "heads"


@pytest.mark.parametrize("odd", ODD)
def test_an_odd_report_is_skipped(odd, reports, caplog):
    path = reports / "odd.json"
    make_odd(path, odd, REPORT.encode())
    assert len(stored_reports(DIGEST)) == 1
    assert answers(lambda: HeadReport.load(path)) is None
    assert len(stored_reports(DIGEST)) == 1
    other = path.is_file() and DIGEST.encode() not in path.read_bytes()  # it is not parsed
    told = odd != "missing" and not other
    assert len([r for r in caplog.records if "odd.json" in r.getMessage()]) == told


def small_report() -> dict[str, Any]:
    """The first three heads of a report that ships, with their roles and offsets."""
    content = json.loads(REPORT)
    heads = len(content["heads"]["head"])
    for name, columns in content.items():
        if name in ("heads", "roles", "offsets"):
            rows = 3 * len(columns["head"]) // heads
            content[name] = {column: values[:rows] for column, values in columns.items()}
    return content


def test_odd_values_in_a_report_are_refused_or_shown():
    shown = 0
    for text in with_odd_values(small_report(), most=min(MOST_VALUES, 6 * MUTATIONS)):
        report = answers(lambda text=text: HeadReport.from_json(text))
        if report is not None:
            use_report(report)
            shown += 1
    assert shown


# Pairs


@pytest.mark.parametrize("odd", [odd for odd in ODD if odd != "truncated"])
def test_odd_pairs_are_refused(odd, tmp_path, explorable):
    path = tmp_path / "odd.tsv"
    make_odd(path, odd, b"a\tb\n")
    assert answers(lambda: read_pairs(path)) is None
    answers(lambda: read_rows(path))
    answers(lambda: read_sources(path))
    answers(lambda: read_texts(explorable, path, 5))
