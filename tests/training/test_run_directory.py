import json
import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pandas as pd
import pytest

from explorer.core.errors import ExplorerError, RunError
from explorer.training import run_lock
from explorer.training.config import TrainingConfig
from explorer.training.run_directory import (
    GOING,
    PAIRS_FILE,
    SILENCE,
    STARTING,
    Run,
    Status,
    create_run,
    find_run,
    list_runs,
    queue,
)
from explorer.training.run_lock import is_owned

CONFIG = TrainingConfig(device="cpu")


def status(state: str, *, age: float = 0.0, pid: int | None = None) -> Status:
    return Status(state, 7, time.time() - age, pid or os.getpid())


@pytest.fixture
def run(tmp_path) -> Run:
    return create_run(tmp_path / "runs" / "one", replace(CONFIG, seed=5))


def test_a_run_keeps_its_settings(run):
    assert find_run(run.folder.parent, "one").config == replace(CONFIG, seed=5)
    assert run.status().state == "new"
    assert run.moments() == []
    assert run.resumable


@pytest.mark.parametrize("name", ["..", ".hidden", "", "a" * 61, "a/b", "a b", "<b>"])
def test_a_name_that_is_a_path_or_worse_is_refused(tmp_path, name):
    with pytest.raises(RunError):
        find_run(tmp_path, name)


def test_a_name_is_taken_once(run):
    with pytest.raises(RunError) as caught:
        create_run(run.folder, CONFIG)
    assert caught.value.key == "run_exists"


@pytest.mark.parametrize("state", GOING)
def test_a_silent_heart_means_interrupted(run, state):
    run.report(status(state))
    assert run.status().state == state
    assert not run.resumable
    run.report(status(state, age=SILENCE + 1))
    assert run.status().state == "interrupted"
    assert run.status().step == 7
    assert run.resumable


@pytest.mark.parametrize("age", [0.0, SILENCE + 1])
@pytest.mark.parametrize("state", [*GOING, "stopped", "failed"])
def test_a_run_in_somebody_s_hands_is_neither_interrupted_nor_resumed_nor_deleted(
    run, state, age, monkeypatch
):
    monkeypatch.setattr(run_lock, "_PATIENCE", 0.1)
    run.report(status(state, age=age))
    with run.owned():
        assert run.status().state == state
        assert not run.resumable
        with pytest.raises(RunError) as caught:
            run.delete()
    assert caught.value.key == "run_busy"
    run.report(status(state, age=SILENCE + 1))
    assert run.resumable
    run.delete()
    assert not run.folder.exists()
    run.delete()
    assert not run.folder.exists()


def test_a_process_that_said_it_is_done_may_take_a_moment_to_let_go(run):
    run.report(status("stopped"))
    with run.owned():
        patient = ThreadPoolExecutor(1).submit(lambda: run.resumable)
        time.sleep(0.3)
    assert patient.result()


def test_whoever_only_asks_is_no_owner(run):
    """Many who look at once, and one who wants to carry the run out."""
    run.report(status("running", age=SILENCE + 1))
    with run.owned():
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
            assert not is_owned(run.folder)
        over.set()
        for seen in looks:
            assert set(seen.result()) == {"interrupted"}
    with run.owned():
        pass


def test_a_launched_process_gets_the_time_it_takes_to_begin(run):
    run.report(Status("waiting", 0, time.time() - SILENCE - 1))
    assert run.status().state == "waiting"
    run.report(Status("waiting", 0, time.time() - STARTING - 1))
    assert run.status().state == "interrupted"


def test_a_dead_process_means_interrupted_at_once(run):
    run.report(status("running", pid=2**22 + 1))
    assert run.status().state == "interrupted"


@pytest.mark.parametrize("text", ["", "{", "[]", '{"state": "running"}', "null"])
def test_a_damaged_status_means_interrupted(run, text):
    (run.folder / "status.json").write_text(text)
    assert run.status().state == "interrupted"
    with run.owned():
        assert run.status().state == "running"


def test_damaged_lines_of_the_metrics_are_left_aside(run):
    run.append({"step": 10, "loss": 1.0})
    with (run.folder / "metrics.jsonl").open("ab") as file:
        file.write(b'{"step": 20, "lo\n\xff\xfe\n[]\n"text"\n{"loss": 3}\n')
    run.append({"step": 30, "loss": 0.5})
    with (run.folder / "metrics.jsonl").open("ab") as file:
        file.write(b'{"step": 40')
    assert [moment["step"] for moment in run.moments()] == [10, 30]


@pytest.mark.parametrize("mark", ["\u2028", "\u2029", "\x85", "\x0b", "\x1c", "\r", "\n"])
def test_a_text_may_hold_whatever_counts_as_a_line_end(run, mark):
    samples = [{"written": f"one{mark}two"}]
    for step in (10, 20, 30):
        run.append({"step": step, "samples": samples})
    run.forget_after(20)
    assert run.moments() == [{"step": step, "samples": samples} for step in (10, 20)]
    assert len(pd.read_json(run.folder / "metrics.jsonl", lines=True)) == 2


def test_the_metrics_load_with_pandas(run):
    run.append({"step": 10, "loss": 1.0, "gold": [[0.5]]})
    run.append({"step": 20, "loss": 0.5, "gold": [[0.75]]})
    frame = pd.read_json(run.folder / "metrics.jsonl", lines=True)
    assert frame.loss.tolist() == [1.0, 0.5]


def test_what_came_after_a_state_is_forgotten(run):
    for step in (10, 20, 30):
        run.append({"step": step})
        run.probe_path(step).parent.mkdir(exist_ok=True)
        run.probe_path(step).write_bytes(b"")
    run.forget_after(20)
    assert [moment["step"] for moment in run.moments()] == [10, 20]
    assert not run.probe_path(30).exists()
    assert run.probe_path(20).exists()


def test_the_list_is_newest_first_and_leaves_out_what_is_damaged(tmp_path):
    for created, name in ((5, "b"), (9, "a"), (1, "c")):
        run = create_run(tmp_path / name, CONFIG)
        data = json.loads((run.folder / "config.json").read_text())
        (run.folder / "config.json").write_text(json.dumps(data | {"created": created}))
    (tmp_path / "c" / "config.json").write_text('{"settings": {"speed": 9}}')
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "config.json").write_text("{")
    assert [run.name for run in list_runs(tmp_path)] == ["a", "b"]


def test_the_queue_is_first_come_first_served_for_each_device(tmp_path):
    for created, (name, device) in enumerate((("b", "cpu"), ("a", "cpu"), ("g", "cuda:1"))):
        run = create_run(tmp_path / name, replace(CONFIG, device=device))
        data = json.loads((run.folder / "config.json").read_text())
        (run.folder / "config.json").write_text(json.dumps(data | {"created": created}))
        Run(run.folder).report(status("waiting"))
    assert [run.name for run in queue(tmp_path, "cpu")] == ["b", "a"]
    assert [run.name for run in queue(tmp_path, "cuda:1")] == ["g"]


def test_a_run_that_goes_on_is_not_deleted(run):
    run.report(status("running"))
    with pytest.raises(RunError) as caught:
        run.delete()
    assert caught.value.key == "run_busy"
    run.report(status("stopped"))
    run.delete()
    assert not run.folder.exists()


def test_one_process_owns_a_run(run):
    with run.owned(), pytest.raises(RunError), Run(run.folder).owned():
        pass
    with run.owned():
        pass


def test_a_missing_probe_is_a_sentence(run):
    with pytest.raises(ExplorerError):
        run.probe(10)


def test_a_file_of_pairs_in_the_folder_is_found_wherever_that_is_moved(tmp_path):
    run = create_run(tmp_path / "one", TrainingConfig(pairs=PAIRS_FILE))
    assert run.config.pairs == PAIRS_FILE  # not there yet
    (run.folder / PAIRS_FILE).write_text("a\tb\n")
    assert Run(run.folder).config.pairs == str(tmp_path / "one" / PAIRS_FILE)
    run.folder.rename(tmp_path / "two")
    assert Run(tmp_path / "two").config.pairs == str(tmp_path / "two" / PAIRS_FILE)


def test_what_is_learnt_from_is_written_beside(run):
    assert run.lesson() == {}
    run.describe_lesson({"pairs": {"kept": 3}})
    assert run.lesson() == {"pairs": {"kept": 3}}
    (run.folder / "lesson.json").write_text("[1")
    assert run.lesson() == {}
