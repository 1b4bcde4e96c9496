import os
import time

import pytest

from explorer.core.errors import FileError, MeasurementError, ModelDirectoryError, RunError
from explorer.jobs.status import Status, read_status, recorded


@pytest.mark.parametrize(
    "error",
    [
        FileError("empty_path"),
        MeasurementError("measure_late", minutes=60),
        ModelDirectoryError("no_directory", name="gpt2").of("gpt3"),
        RunError("no_run", name="x"),
        MeasurementError("bad_line", line=2, reason=FileError("empty_path")),
    ],
)
def test_an_error_is_told_again_in_each_language(error):
    status = Status("failed", error=recorded(error))
    assert str(status.failure) == str(error)
    assert status.failure is not None
    if not error.facts.get("reason"):
        assert status.failure.in_language("zh") == error.in_language("zh")


@pytest.mark.parametrize("key", ["none", "heads.none", "none.none", "a.b.c", "", ".", "no_run"])
def test_an_error_without_a_sentence_here_is_told_in_a_general_one(key):
    """The sentence of "no_run" needs another fact."""
    failure = Status("failed", error=(key, {"other": "x"})).failure
    assert isinstance(failure, RunError)
    assert failure.key == "failed_otherwise"


def test_a_job_starts_until_its_process_has_written_a_status():
    now = time.time()
    assert Status("waiting", heartbeat=now).is_starting
    assert not Status("waiting", heartbeat=now, pid=os.getpid()).is_starting
    assert not Status("running", heartbeat=now).is_starting


def test_a_status_is_read_as_written(tmp_path):
    path = tmp_path / "status.json"
    assert read_status(path) == Status("new")
    text = '{"state": "failed", "step": 3, "heartbeat": 5.5, "pid": 7, "error": ["a", {"b": "c"}]}'
    path.write_text(text)
    assert read_status(path) == Status("failed", 3, 5.5, 7, ("a", {"b": "c"}))
    path.write_text(text.replace("failed", "unheard of"))
    assert read_status(path) == Status("interrupted")
