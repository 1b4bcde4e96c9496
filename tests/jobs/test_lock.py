import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from explorer.core.errors import FileError, RunError
from explorer.jobs.lock import is_locked, locked
from explorer.jobs.status import HEARTBEAT_TIMEOUT, Status
from explorer.jobs.training_run import Run, create_run
from explorer.training.config import TrainingConfig


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return create_run(tmp_path / "runs" / "one", TrainingConfig(device="cpu"))


def test_one_process_holds_the_lock(run):
    with run.locked(), pytest.raises(RunError), Run(run.folder).locked():
        pass
    with run.locked():
        pass


def test_a_lock_without_a_folder_is_an_error(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(FileError), locked(tmp_path / "file"):
        pass
    assert not is_locked(tmp_path / "file")


def test_an_ended_process_has_time_to_release_the_lock(run):
    run.write_status(Status("stopped", 7, time.time()))
    with run.locked():
        waiting = ThreadPoolExecutor(1).submit(lambda: run.resumable)
        time.sleep(0.3)
    assert waiting.result()


def test_testing_the_lock_does_not_hold_it(run):
    """Many threads test it at once while one takes it."""
    run.write_status(Status("running", 7, time.time() - HEARTBEAT_TIMEOUT - 1))
    with run.locked():
        pass
    over = threading.Event()

    def look() -> list[str]:
        states = []
        while not over.is_set():
            states.append(run.status().state)
        return states

    with ThreadPoolExecutor(4) as visitors:
        looks = [visitors.submit(look) for _ in range(4)]
        for _ in range(5):
            time.sleep(0.05)
            assert not is_locked(run.folder)
        over.set()
        for seen in looks:
            assert set(seen.result()) == {"interrupted"}
    with run.locked():
        pass
