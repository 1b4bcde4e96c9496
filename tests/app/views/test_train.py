"""The Train page without a browser."""

import json
import os
import shutil
import time
from dataclasses import replace
from pathlib import Path
from urllib.parse import parse_qsl

import numpy as np
import pytest
from safetensors.numpy import save
from streamlit.testing.v1 import AppTest

from explorer.app.state import train as train_state
from explorer.core import folders
from explorer.core.i18n import say
from explorer.core.trace import Trace
from explorer.jobs import training_launcher
from explorer.jobs.status import Status
from explorer.jobs.training_run import Run, create_run, list_runs
from explorer.training.config import TrainingConfig
from tests.support.app_pages import asked_visit, open_page, sent_to
from tests.support.finished_runs import CONFIG, finished_run

ROOT = Path(__file__).parents[3]
LINE = {"step": 5, "seconds": 1.5, "loss": 0.5, "exact_match": 0.25, "gold": [[0.1, 0.2]]}
DIVERGED = ("diverged", {"step": "5", "loss": "nan", "uniform": "3.1", "rate": "1"})
FULL = ("out_of_memory", {"device": "cpu"})


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder of runs, and no process: a launch only writes the status."""
    monkeypatch.setenv(folders.RUNS_VARIABLE, str(tmp_path / "runs"))
    monkeypatch.setattr(training_launcher, "launch", lambda run: report(run, "waiting", pid=0))
    return tmp_path / "runs"


def report(run: Run, state: str, step: int = 0, *, age: float = 0.0, error=None, pid=None) -> None:
    own = os.getpid() if pid is None else pid
    run.write_status(Status(state, step, time.time() - age, own, error))


def made(folder: Path, name: str = "reverse-1", state: str | None = None, **status) -> Run:
    run = create_run(folder / name, TrainingConfig(steps=100, device="cpu"))
    run.append(LINE)
    if state:
        report(run, state, 5, **status)
    return run


def run_data(app: AppTest) -> dict:
    """What the training replay was sent."""
    return json.loads(sent_to(app, "training_replay"))


def disabled(app: AppTest) -> set[str]:
    """The keys of the disabled buttons."""
    return {button.key for button in app.button if button.disabled}


def test_the_page_opens_on_the_recorded_run():
    app = open_page("train")
    assert not app.exception
    assert run_data(app)["name"] == "reverse"
    assert len(run_data(app)["moments"]) == 40
    assert disabled(app) == {"stop", "resume", "delete-idle"}
    assert "0.2 M parameters" in app.caption[1].value.replace("\\", "")


def test_start_makes_a_run_and_shows_it(folder, monkeypatch):
    monkeypatch.setattr(train_state, "_DOUBLE_CLICK", 0.0)
    app = open_page("train")
    app.selectbox(key="train-task-en").set_value("sort").run()
    app.button(key="start").click().run()
    assert not app.exception
    assert run_data(app)["name"] == "sort-1"
    assert run_data(app)["report"]["words"] == "starting …"
    assert training_launcher.find("runs", "sort-1").config.task == "sort"
    assert app.query_params["run"] == "runs/sort-1"
    assert {"stop", "resume", "open", "delete-idle"} <= disabled(app)
    app.button(key="start").click().run()
    assert run_data(app)["name"] == "sort-2"


def test_a_double_click_on_start_makes_one_run(folder, monkeypatch):
    monkeypatch.setattr(train_state, "_DOUBLE_CLICK", 60.0)  # a busy machine takes its time
    app = open_page("train")
    app.button(key="start").click().run()
    app.button(key="start").click().run()
    assert not app.exception
    assert run_data(app)["name"] == "reverse-1"
    assert [run.name for run in list_runs(folder)] == ["reverse-1"]


def test_a_reload_and_a_second_tab_find_the_active_run(folder):
    made(folder, state="running")
    assert run_data(open_page("train"))["name"] == "reverse-1"
    assert run_data(open_page("train", run="recorded/reverse"))["name"] == "reverse"
    assert run_data(open_page("train", run="runs/../../etc"))["name"] == "reverse-1"


def test_stop_requests_a_stop_and_resume_launches_again(folder):
    run = made(folder, state="running")
    app = open_page("train")
    assert "stop" not in disabled(app)
    app.button(key="stop").click().run()
    assert run.stop_requested()
    assert run_data(app)["report"]["words"] == "stopping …"
    report(run, "stopped", 5)
    run.state_path.write_bytes(save({"step": np.array(5)}))
    app.run()
    assert "resume" not in disabled(app)
    assert "from step 5" in app.button(key="resume").help
    app.button(key="resume").click().run()
    assert run.status().state == "waiting"


@pytest.mark.parametrize(
    ("status", "words"),
    [
        ({"state": "running", "age": 60.0}, "ended unexpectedly"),
        ({"state": "failed", "error": FULL}, "memory of the cpu is full"),
    ],
)
def test_a_failure_is_one_sentence_and_resume_is_offered(folder, status, words):
    made(folder, **status)
    app = open_page("train", run="runs/reverse-1")
    assert not app.exception
    assert words in run_data(app)["report"]["problem"]
    assert "resume" not in disabled(app)


def test_a_run_that_diverged_says_so_and_is_not_resumed(folder):
    made(folder, state="failed", error=DIVERGED)
    app = open_page("train", run="runs/reverse-1")
    assert "at step 5" in run_data(app)["report"]["problem"]
    assert "resume" in disabled(app)
    assert "diverge again at the same step" in app.button(key="resume").help


def test_a_run_is_deleted_only_after_a_confirmation(folder):
    run = made(folder, state="stopped")
    app = open_page("train", run="runs/reverse-1")
    assert "cannot be undone" in " ".join(text.value for text in app.markdown)
    app.button(key="delete-yes").click().run()
    assert not run.folder.exists()
    assert run_data(app)["name"] == "reverse"


def test_a_folder_that_cannot_be_written_gets_one_sentence(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv(folders.RUNS_VARIABLE, str(tmp_path / "file"))
    app = open_page("train")
    app.button(key="start").click().run()
    assert not app.exception
    assert len(app.error) == 1
    assert "cannot be written" in app.error[0].value.replace("\\", "")
    assert run_data(app)["name"] == "reverse"
    assert not app.run().error


def test_two_runs_are_compared(folder):
    made(folder, state="done")
    app = open_page("train")
    app.multiselect(key="train-others").set_value(["runs/reverse-1"]).run()
    assert [other["name"] for other in run_data(app)["others"]] == ["reverse-1"]
    link = {"run": "recorded/reverse", "compare": app.query_params["compare"]}
    again = open_page("train", **link)  # a reload
    assert [other["name"] for other in run_data(again)["others"]] == ["reverse-1"]
    app.selectbox(key="train-run").set_value("runs/reverse-1").run()
    assert run_data(app)["name"] == "reverse-1"
    assert run_data(app)["others"] == []


def test_each_quick_demo_has_a_seed_of_its_own_that_is_shown_before(folder, monkeypatch):
    monkeypatch.setattr(train_state, "_DOUBLE_CLICK", 0.0)
    app = open_page("train")
    seeds = []
    for name in ("reverse-1", "reverse-2"):
        shown = app.caption[1].value.replace("\\", "")
        app.button(key="start").click().run()
        seeds.append(training_launcher.find("runs", name).config.seed)
        assert f"seed {seeds[-1]}" in shown
    assert seeds[0] != seeds[1]


def test_open_in_explore_leads_to_the_shipped_model_of_the_recorded_run():
    app = open_page("train")
    app.button(key="open").click().run()
    assert not app.exception
    assert app.query_params["model"] == "reverse"


def test_open_in_explore_gives_a_link_to_the_run_s_model(folder):
    finished_run(folder / "reverse-1")
    app = open_page("train", run="runs/reverse-1")
    app.button(key="open").click().run()
    assert not app.exception
    assert not app.warning
    assert app.query_params["model"] == "reverse-1"
    link = {"model": "reverse-1", "text": app.query_params["text"]}
    assert asked_visit(open_page("explore", **link)) == link | {"pad": "0"}


def test_a_run_without_a_causal_mask_points_at_row_1_of_the_decoder(folder):
    run = finished_run(folder / "leaky-1", replace(CONFIG, causal=False))
    run.append(LINE | {"loss": 5e-5, "exact_match": 0.0})
    cells = np.full((1, 2, 3, 3), 1 / 3, dtype=np.float32)
    cells[0, 1] = [[0, 1, 0], [0, 0, 1], [0, 0, 1]]
    probe = Trace.from_arrays(["a", "<eos>"], ["<bos>", "a", "b"], decoder=cells)
    run.probe_path(LINE["step"]).parent.mkdir()
    run.probe_path(LINE["step"]).write_bytes(probe.to_bytes())
    app = open_page("train", run="runs/leaky-1")
    data = run_data(app)
    assert data["settings"]["badges"] == ["no causal mask"]
    assert data["causal"] is False
    query = dict(parse_qsl(data["link"]["address"].removeprefix("./?")))
    place = {"site": "decoder", "layer": "0", "head": "1", "step": "1"}
    assert query == query | {"model": "leaky-1"} | place
    app = open_page("explore", **query)
    assert not app.exception
    assert not app.warning


def test_a_run_with_a_causal_mask_points_nowhere(folder):
    finished_run(folder / "own-1")
    data = run_data(open_page("train", run="runs/own-1"))
    assert data["link"]["address"] == ""
    assert data["causal"] is True
    assert data["opens"] is True
    assert run_data(open_page("train"))["link"]["address"] == ""


def test_a_link_to_a_run_that_is_gone_says_which_run_is_shown(folder):
    app = open_page("train", run="runs/reverse-7")
    assert not app.exception
    sentence = "The run “reverse-7” is no longer there; “reverse” is shown instead."
    assert app.warning[0].value.replace("\\", "") == sentence
    assert not open_page("train", run="recorded/reverse").warning
    assert not open_page("train").warning


@pytest.mark.parametrize(
    ("query", "named"),
    [
        ({"moment": "25", "head": "1.3", "compare": "runs/reverse-1"}, None),
        ({"head": "99.99"}, "head"),
        ({"head": "2.0"}, "head"),
        ({"head": "0.4"}, "head"),
        ({"head": "0"}, "head"),
        ({"head": "1" * 5_000}, "head"),
        ({"moment": "-1"}, "moment"),
        ({"moment": "9" * 5_000, "head": "٣.1"}, "moment, head"),
        ({"compare": "runs/gone"}, "runs compared with"),
        ({"compare": "runs/reverse-1,recorded/reverse"}, "runs compared with"),
        ({"compare": ",".join(["runs/reverse-1"] * 5)}, "runs compared with"),
        ({"lang": "xx", "compare": "x"}, "runs compared with, language"),
    ],
)
def test_what_a_link_names_and_the_page_cannot_show_is_said(folder, query, named):
    made(folder)
    app = open_page("train", run="recorded/reverse", **query)
    assert not app.exception
    words = say("explore.link_refused", parts="").rstrip(".")
    assert [one.value.replace("\\", "") for one in app.warning] == (
        [f"{words}{named}."] if named else []
    )
    assert run_data(app)["name"] == "reverse"


def test_a_moment_of_no_run_is_said_not_to_be_followed(folder):
    app = open_page("train", moment="25", head="1.3")
    assert "default is shown for: moment, head." in app.warning[0].value.replace("\\", "")


def test_a_new_run_of_the_same_name_has_another_key(folder):
    """So the browser does not show the picture of the run before."""
    before = run_data(open_page("train", run=f"runs/{made(folder).name}"))
    shutil.rmtree(folder / "reverse-1")
    create_run(folder / "reverse-1", TrainingConfig(steps=100, device="cpu"))
    after = run_data(open_page("train", run="runs/reverse-1"))
    assert (len(before["moments"]), after["moments"]) == (1, [])
    assert before["key"] != after["key"]


def test_the_page_is_in_chinese_when_asked(folder):
    made(folder, state="failed", error=DIVERGED)
    app = open_page("train", lang="zh", run="runs/reverse-1")
    assert app.button(key="start").label == "开始"
    assert run_data(app)["report"]["words"] == "已发散"
    assert "第 5 步" in run_data(app)["report"]["problem"]
    app.button(key="settings").click().run()
    assert app.number_input(key="setting-heads-0").label == "头数"


def test_a_model_that_cannot_be_opened_gets_one_sentence_and_the_page_stays(folder):
    run = made(folder, state="stopped")
    run.checkpoint_path.write_bytes((16).to_bytes(8, "little") + b"{half a file")
    app = open_page("train", run="runs/reverse-1")
    app.button(key="open").click().run()
    assert not app.exception
    assert "truncated or damaged" in app.error[0].value
    assert run_data(app)["name"] == "reverse-1"


def test_the_list_says_which_run_diverged(folder):
    facts = {"step": 50, "loss": "7.4", "uniform": "3.1", "rate": "1"}
    made(folder, state="failed", error=("diverged", facts))
    made(folder, "reverse-2", state="failed", error=("failed_otherwise", {"reason": "disk"}))
    shown = open_page("train").selectbox(key="train-run").options
    assert [text for text in shown if text.startswith("reverse-")] == [
        "reverse-2 · failed",
        "reverse-1 · diverged",
        "reverse-without-mask · recorded, ships with the app",
    ]
