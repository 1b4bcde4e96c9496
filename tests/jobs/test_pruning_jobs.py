"""Processes that measure pruning curves."""

from dataclasses import replace
from itertools import islice, product
from pathlib import Path

import pytest

from explorer.core import folders
from explorer.core.errors import ExplorerError
from explorer.heads.pruning.pruning_report import LOSS_COLUMNS
from explorer.heads.pruning.pruning_study import pruning_study
from explorer.heads.reports.report_store import stored_reports
from explorer.jobs import pruning_jobs
from explorer.jobs.measurement import (
    MeasuredSentences,
    Measurement,
    QueuedMeasurement,
    queued_measurements,
)
from explorer.jobs.measurement_jobs import Sentences
from explorer.jobs.pruning_jobs import PruningSettings, has_job, stored_prunings
from explorer.model.checkpoint import to_bytes
from explorer.model.explorable import ExplorableModel
from tests.support.short_runs import wait_for, wait_for_job

LINES = Sentences("lines", text="1 2 3\n3 2\n")
IMPORTANCE = PruningSettings(LINES, ("importance",))


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(folders.REPORTS_VARIABLE, str(tmp_path))
    return tmp_path


def started(explorable: ExplorableModel, settings: PruningSettings) -> Measurement:
    contents = to_bytes(explorable.checkpoint)
    return pruning_jobs.start(contents, "tiny", settings, explorable.digest).job


def files(folder: Path) -> list[str]:
    """The names of all files below a folder, but those of measurements."""
    found = (path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
    return sorted(path.name for path in found if path.parts[0] != ".jobs")


def test_curves_are_measured_in_a_process_and_found_again(explorable, folder) -> None:
    pruning_jobs.check(explorable, IMPORTANCE, "en")
    job = started(explorable, IMPORTANCE)
    assert queued_measurements() == [
        QueuedMeasurement(job, "tiny", MeasuredSentences("your lines", 2))
    ]
    assert has_job(explorable.digest)
    assert not has_job("another")
    wait_for_job(job)
    assert job.done, job.failure
    assert not has_job(explorable.digest)
    (stored,) = stored_prunings(explorable.digest)
    assert (stored.job, stored.key) == (job, job.batch)
    own = pruning_study(
        explorable, explorable.passes.texts(["1 2 3", "3 2"], "your lines"), ["importance"]
    )
    found = stored.now()
    numbers = list(LOSS_COLUMNS)
    assert found.table()[numbers].to_numpy() == pytest.approx(own.table()[numbers].to_numpy())
    assert found.curve("importance").removed == own.curve("importance").removed
    assert found.facts["batch"] == "your lines"
    assert files(folder) == ["pruning.json"]
    assert stored_reports(explorable.digest) == []  # a report of another kind
    assert started(explorable, IMPORTANCE) == job  # not twice
    assert not job.active


def test_curves_that_ship_come_after_those_measured_here(explorable, folder, monkeypatch) -> None:
    monkeypatch.setattr(folders, "shipped_prunings", lambda: folder / "shipped")
    (folder / "shipped").mkdir()
    texts = explorable.passes.texts(["1 2 3", "2 1"], "mine")
    study = pruning_study(explorable, texts, ["confidence"])
    study.save(folder / "shipped" / "tiny.json")
    other = {**study.facts, "digest": "another model's"}
    replace(study, facts=other).save(folder / "shipped" / "other.json")
    (folder / "shipped" / "broken.json").write_text("{", "utf-8")
    (stored,) = stored_prunings(explorable.digest)
    assert (stored.key, stored.job, stored.growing) == ("shipped", None, False)
    assert stored.report == stored.now() == study
    wait_for_job(started(explorable, IMPORTANCE))
    measured, stored = stored_prunings(explorable.digest)
    assert [one.report.curves[0].order for one in (measured, stored)] == [
        "importance",
        "confidence",
    ]


def test_a_further_order_on_the_same_sentences_keeps_what_is_measured(explorable, folder) -> None:
    wait_for_job(started(explorable, IMPORTANCE))
    (before,) = stored_prunings(explorable.digest)
    job = started(explorable, PruningSettings(LINES, ("confidence",)))
    assert job.active
    assert files(folder).count("pruning.json") == 0
    wait_for_job(job)
    assert job.done, job.failure
    (after,) = stored_prunings(explorable.digest)
    assert [curve.order for curve in after.report.curves] == ["importance", "confidence"]
    assert after.report.curve("importance") == before.report.curve("importance")


def test_a_cancelled_job_keeps_its_points_and_the_next_one_goes_on(explorable, folder) -> None:
    texts = islice((" ".join(symbols) for symbols in product("123", repeat=6)), 300)
    pairs = Sentences("pairs", size=1024, text="".join(f"{one}\t{one}\n" for one in texts))
    slow = PruningSettings(pairs, ("importance", "random"), "mine.tsv")
    job = started(explorable, slow)

    def points() -> int:
        stored = stored_prunings(explorable.digest)
        return sum(len(curve.losses) for one in stored for curve in one.report.curves)

    wait_for(lambda: points() > 2 or not job.active, 120)
    job.cancel()
    wait_for_job(job)
    assert job.cancelled
    assert not job.done
    assert files(folder) == ["unfinished-pruning.json"]
    (stored,) = stored_prunings(explorable.digest)
    assert stored.report.facts["batch"] == "mine.tsv"
    begun = stored.report.curve("importance").losses
    again = started(explorable, slow)
    assert again == job
    wait_for_job(again)
    assert again.done, again.failure
    (whole,) = stored_prunings(explorable.digest)
    assert whole.report.complete
    assert whole.report.curve("importance").losses[: len(begun)] == begun
    assert files(folder) == ["pruning.json"]


def test_an_unfinished_report_that_cannot_be_read_is_measured_anew(explorable, folder) -> None:
    job = started(explorable, IMPORTANCE)
    wait_for_job(job)
    job.unfinished.write_text("{", "utf-8")  # first: its watcher may yet delete an empty folder
    job.report.unlink()
    assert stored_prunings(explorable.digest) == []
    wait_for_job(started(explorable, IMPORTANCE))
    assert job.done, job.failure


def test_of_many_unfinished_reports_the_oldest_are_deleted(explorable, folder, monkeypatch) -> None:
    monkeypatch.setattr(pruning_jobs, "MOST_STORED", 1)
    model = folder / f"{explorable.digest}-pruning"
    for name in ("a", "b"):
        (model / name).mkdir(parents=True)
        (model / name / "unfinished-pruning.json").write_text(name)
    wait_for_job(started(explorable, IMPORTANCE))
    assert files(folder) == ["pruning.json", "unfinished-pruning.json"]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (PruningSettings(LINES, ()), "at least one order"),
        (PruningSettings(Sentences("lines", text="1 2\n1 x"), ("random",)), "Line 2: .*“x”"),
        (PruningSettings(Sentences("lines", text="1\n" * 2000), ("random",)), "At most 1024"),
    ],
)
def test_settings_the_process_would_refuse_are_refused_before(
    explorable: ExplorableModel, settings: PruningSettings, message: str
) -> None:
    with pytest.raises(ExplorerError, match=message):
        pruning_jobs.check(explorable, settings, "en")
