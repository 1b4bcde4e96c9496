"""Where reports are stored and found again."""

import os
from pathlib import Path

import pytest

from explorer.core import folders
from explorer.heads.reports.head_report import HeadReport
from explorer.heads.reports.report_files import REPORT_FILES, measured_folder
from explorer.heads.reports.report_store import old_reports, stored_reports

SHIPPED = Path(__file__).parents[3] / "checkpoints" / "heads" / "sort.json"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(folders.REPORTS_VARIABLE, str(tmp_path))
    return tmp_path


def store(digest: str, batch: str, written: float) -> Path:
    """A copy of a shipped report, as if measured here."""
    path = measured_folder(digest) / batch / REPORT_FILES["heads"]
    path.parent.mkdir(parents=True)
    path.write_bytes(SHIPPED.read_bytes())
    os.utime(path, (written, written))
    return path


def test_a_shipped_report_is_found_by_its_digest_alone():
    digest = HeadReport.load(SHIPPED).facts["digest"]
    assert [stored.report.facts["model"] for stored in stored_reports(digest)] == ["sort"]
    assert stored_reports("0" * 32) == []


def test_shipped_reports_come_first_then_the_newest():
    digest = HeadReport.load(SHIPPED).facts["digest"]
    for number, batch in enumerate(("old", "new", "middle")):
        store(digest, batch, written=(100, 300, 200)[number])
    (measured_folder(digest) / "new" / "damaged.json").write_text("{}")
    reports = stored_reports(digest)
    assert [stored.written for stored in reports[1:]] == [300, 200, 100]
    assert len({stored.key for stored in reports}) == 4


def test_reports_of_an_older_version_are_counted_and_not_shown():
    digest = HeadReport.load(SHIPPED).facts["digest"]
    store(digest, "new", written=100)
    old = store(digest, "old", written=200)
    old.write_text(SHIPPED.read_text("utf-8").replace('"version": 3', '"version": 2', 1), "utf-8")
    store(digest, "damaged", written=300).write_text("{}")
    assert old_reports(digest) == 1
    assert len(stored_reports(digest)) == 2  # the shipped one and "new"


def test_each_of_many_reports_is_read_once(monkeypatch):
    report, read = HeadReport.load(SHIPPED), []
    monkeypatch.setattr(HeadReport, "load", lambda path: read.append(path) or report)
    for number in range(200):
        store("some", f"batch-{number}", written=1000 + number)
    for _ in range(2):
        stored_reports("some")
    assert len(read) == len(set(read)) >= 200
