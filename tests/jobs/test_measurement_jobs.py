"""Measurements of heads, each by its process."""

from collections.abc import Callable
from pathlib import Path

import pytest

from explorer.core import folders
from explorer.core.errors import ExplorerError
from explorer.heads.reports.report_store import stored_reports
from explorer.jobs import measurement_jobs
from explorer.jobs.measurement import (
    MeasuredSentences,
    Measurement,
    QueuedMeasurement,
    queued_measurements,
)
from explorer.jobs.measurement_jobs import MeasurementSettings
from explorer.model.checkpoint import to_bytes
from tests.support.short_runs import wait_for, wait_for_job


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(folders.REPORTS_VARIABLE, str(tmp_path))
    return tmp_path


@pytest.fixture
def start(explorable) -> Callable[[MeasurementSettings], Measurement]:
    """Start to measure the model from its bytes, as for an uploaded one."""

    def started(settings: MeasurementSettings) -> Measurement:
        name = explorable.digest
        contents = to_bytes(explorable.checkpoint)
        return measurement_jobs.start(contents, "tiny", settings, name).job

    return started


def files(folder: Path) -> list[str]:
    """All files below a folder, but those of measurements."""
    found = (path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
    return sorted(str(path) for path in found if path.parts[0] != ".jobs")


def test_lines_are_measured_and_the_report_is_found_by_the_digest(explorable, start, folder):
    name = explorable.digest
    settings = MeasurementSettings("lines", text="1 2 3\n\n3 2\n", gradients=True, removal=False)
    job = start(settings)
    wait_for_job(job)
    assert job.done, job.failure
    (stored,) = stored_reports(name)
    report = stored.report
    assert stored.key == job.report_key
    assert files(folder) == [f"{name}/{job.batch}/findings.json"]
    assert report.facts["digest"] == name
    assert report.facts["sentences"] == 2
    assert report.facts["targets"] == "greedy"
    assert "importance" in report.metrics
    assert job.progress == 1.0
    assert start(settings) == job  # not twice
    assert job.status().state != "running"


def test_a_cancelled_job_leaves_no_files_and_the_next_may_start(explorable, start, folder):
    name = explorable.digest
    settings = MeasurementSettings("lines", size=1024, text="1 2 3\n" * 1000)
    job = start(settings)
    wait_for(lambda: job.status().state == "running")
    work = sorted(path.name for path in job.work_folder.iterdir())
    assert work == ["tiny.safetensors", "your lines"]
    assert queued_measurements() == [
        QueuedMeasurement(job, "tiny", MeasuredSentences("your lines", 1000))  # for other visitors
    ]
    after = start(MeasurementSettings("lines", text="1 2", gradients=False, removal=False))
    assert after.active
    assert after.status().state != "running"
    job.cancel()
    wait_for_job(job)
    assert job.cancelled
    assert not job.done
    wait_for_job(after)
    assert after.done, after.failure
    assert [stored.key for stored in stored_reports(name)] == [after.report_key]
    assert queued_measurements() == []


def test_a_failed_job_gives_its_reason_and_leaves_no_files(folder, tmp_path_factory):
    source = tmp_path_factory.mktemp("bad") / "no-model.safetensors"
    source.write_bytes(b"nothing")
    settings = MeasurementSettings("lines", text="1 2")
    job = measurement_jobs.start(source, "unused", settings, "some").job
    wait_for_job(job)
    assert not job.done
    assert not job.cancelled
    assert "no-model" in str(job.failure)
    assert files(folder) == []
    assert not job.work_folder.exists()
    assert source.exists()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (MeasurementSettings("lines", text="1 2\n1 x"), "Line 2: .*“x”"),
        (MeasurementSettings("lines", text=" \n"), "no sentence"),
        (MeasurementSettings("pairs", text="1 2\t1 x"), "Line 1: .*“x”"),
        (MeasurementSettings("pairs", text="1 2\n2 1"), "no sentence"),
        (MeasurementSettings("lines", text="1 " * 40), "Line 1: .*at most 11"),
        (MeasurementSettings("lines", text="1\n" * 2000), "At most 1024"),
    ],
)
def test_settings_the_process_would_refuse_are_refused_before(explorable, settings, message):
    with pytest.raises(ExplorerError, match=message):
        measurement_jobs.check(explorable, settings, "en")
