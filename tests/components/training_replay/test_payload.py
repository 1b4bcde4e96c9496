import gzip
import json
import re
import struct
import time
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.routing import Route
from starlette.testclient import TestClient

from explorer.app.server import probe_route
from explorer.components import training_replay
from explorer.components.player import payload as player_payload
from explorer.components.training_replay.payload import MOST_MOMENTS, log_tail, thinned
from explorer.core import folders
from explorer.training import run_launcher
from explorer.training.config import TrainingConfig
from explorer.training.run_directory import Run, Status, create_run

LINE = {"step": 5, "seconds": 1.5, "loss": 0.5, "exact_match": 0.25, "gold": [[0.1, 0.2]]}
CONFIG = TrainingConfig(steps=100, device="cpu")


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """A run with nothing in it yet."""
    monkeypatch.setenv(folders.RUNS_VARIABLE, str(tmp_path))
    return create_run(tmp_path / "reverse-1", CONFIG)


@pytest.fixture(scope="module")
def browser() -> TestClient:
    return TestClient(Starlette(routes=[Route(probe_route.PATH, probe_route.serve_moment)]))


def shown(run: Run, **options) -> dict:
    return json.loads(training_replay.payload(f"runs/{run.name}", run, **options))


def report(run: Run, state: str, step: int = 0, error=None, age: float = 0.0) -> None:
    run.write_status(Status(state, step, time.time() - age, 0, error))


def test_the_recorded_run_is_all_there():
    run = run_launcher.find("recorded", "reverse")
    data = training_replay.payload("recorded/reverse", run)
    reel = json.loads(data)
    lines = run.moments()
    assert len(data) < 60_000
    assert [moment["step"] for moment in reel["moments"]] == [line["step"] for line in lines]
    assert reel["moments"][-1]["exact"] == pytest.approx(lines[-1]["exact_match"], rel=1e-5)
    assert reel["moments"][-1]["gold"] == lines[-1]["gold"]
    assert all(moment["picture"] for moment in reel["moments"])
    assert reel["report"]["state"] == "done"
    assert reel["report"]["going"] is False


def test_equal_runs_give_equal_bytes_and_new_moments_change_them(run):
    run.append(LINE)
    first = training_replay.payload("runs/reverse-1", run)
    assert training_replay.payload("runs/reverse-1", run) == first
    run.append(LINE | {"step": 10})
    assert training_replay.payload("runs/reverse-1", run) != first


def test_a_moment_without_its_picture_says_so(run):
    run.append(LINE)
    assert shown(run)["moments"][0]["picture"] is None


def test_damaged_lines_and_numbers_that_are_none_leave_gaps(run):
    run.append(LINE)
    with (run.folder / "metrics.jsonl").open("a") as file:
        file.write(
            '{"step": 10, "loss": NaN, "exact_match": "?", "gold": 7}\n[1]\n{"step": 15, "lo'
        )
    reel = shown(run)
    assert [moment["step"] for moment in reel["moments"]] == [5, 10]
    assert reel["moments"][1]["loss"] is None
    assert reel["moments"][1]["exact"] is None
    assert reel["moments"][1]["gold"] == []
    assert "NaN" not in json.dumps(reel)


@pytest.mark.parametrize(
    ("state", "age", "words"),
    [
        ("waiting", 0.0, "starting"),
        ("running", 0.0, "training"),
        ("preparing", 0.0, "preparing"),
        ("preparing", 60.0, "interrupted"),
        ("running", 60.0, "interrupted"),
        ("stopped", 0.0, "stopped"),
        ("done", 0.0, "done early: 50 %"),
    ],
)
def test_every_state_has_its_words(tmp_path, state, age, words):
    run = create_run(tmp_path / "run", TrainingConfig(steps=100, until=0.5, device="cpu"))
    report(run, state, 50, age=age)
    found = shown(run)["report"]
    assert words in found["words"]
    assert found["going"] is (words in ("starting", "training", "preparing"))


def test_a_failed_run_says_why_in_the_reader_s_language(run):
    report(run, "failed", 7, ("loss_not_finite", {"step": "7"}))
    assert "no longer a number at step 7" in shown(run)["report"]["problem"]
    assert "第 7 步" in shown(run, language="zh")["report"]["problem"]
    report(run, "failed", 7, ("no_such_sentence", {"key": "x"}))
    assert shown(run)["report"]["problem"]


def test_the_figures_stand_beside_the_state(run):
    run.append(LINE | {"tokens_per_second": 84_000.0, "memory": 410.2, "step": 50})
    report(run, "running", 50)
    facts = " · ".join(shown(run)["report"]["facts"])
    assert facts == (
        "step 50/100 · exact 25.0 % · loss 0.5 · 84.0 k tokens/s · 2 s left · cpu · 410 MB"
    )


def test_another_run_is_laid_beneath(run, tmp_path):
    other = create_run(tmp_path / "other", CONFIG)
    other.append(LINE)
    assert shown(run, other=other)["other"] == {
        "name": "other",
        "moments": [{"step": 5, "loss": 0.5, "exact": 0.25, "gold": 0.2}],
    }


def test_a_long_run_is_thinned_and_what_is_kept_stays():
    lines = [{"step": step} for step in range(3 * MOST_MOMENTS)]
    kept = [line["step"] for line in thinned(lines)]
    assert len(kept) <= MOST_MOMENTS + 1
    assert kept[-1] == lines[-1]["step"]
    grown = [line["step"] for line in thinned([*lines, {"step": 3 * MOST_MOMENTS}])]
    assert set(kept[:-1]) <= set(grown)
    assert thinned([]) == []


def test_the_log_s_progress_bar_counts_as_its_latest_state(run):
    assert log_tail(run) == []
    (run.folder / "log.txt").write_bytes(b"hello\n 1%|\r 2%|\r 3%|\nbye \xff\n")
    assert log_tail(run) == ["hello", " 3%|", "bye \ufffd"]
    (run.folder / "log.txt").write_text("one\u2028line\x85only\n", "utf-8")
    assert log_tail(run) == ["one\u2028line\x85only"]


def test_a_browser_gets_each_picture_once_and_keeps_it(browser):
    run = run_launcher.find("recorded", "reverse")
    answer = browser.get("/" + shown_picture(run))
    assert answer.status_code == 200
    assert "max-age" in answer.headers["cache-control"]
    assert answer.headers["content-encoding"] == "gzip"
    trace = run.probe(run.moments()[0]["step"])
    whole = player_payload(trace)
    (size,) = struct.unpack_from("<I", answer.content)
    assert json.loads(answer.content[4 : 4 + size])["strings"] == {}
    (old,) = struct.unpack_from("<I", whole)
    assert answer.content[4 + size :] == whole[4 + old :]
    plain = browser.get("/" + shown_picture(run), headers={"Accept-Encoding": "identity"})
    assert plain.content == answer.content
    assert len(gzip.compress(answer.content)) < 5_000


def shown_picture(run: Run) -> str:
    return json.loads(training_replay.payload("recorded/reverse", run))["moments"][0]["picture"]


@pytest.mark.parametrize(
    "path",
    [
        "runs/reverse-1/5",
        "runs/..%2f..%2fetc/5",
        "recorded/../5",
        "recorded/reverse/7",
        "recorded/reverse/-25",
        "other/reverse/25",
    ],
)
def test_what_is_no_picture_is_not_there(browser, run, path):
    assert browser.get(f"/moments/{path}").status_code == 404


def test_a_damaged_picture_is_not_there(browser, run):
    path = run.probe_path(5)
    path.parent.mkdir()
    path.write_bytes(b"PK\x03\x04 nothing")
    assert browser.get("/moments/runs/reverse-1/5").status_code == 404


def test_the_module_has_one_entry_and_every_file():
    bundle = training_replay.bundle()
    assert bundle.count("export default") == 1
    folder = Path(training_replay.__file__).parent
    for path in folder.glob("js/*.js"):
        assert path.read_text(encoding="utf-8") in bundle, path.name
    for path in folder.glob("css/*.css"):
        assert path.read_text(encoding="utf-8") in training_replay.styles(), path.name
    assert "innerHTML" not in bundle


def test_every_sentence_the_browser_asks_for_is_written():
    folder = Path(training_replay.__file__).parent / "js"
    text = "".join(path.read_text(encoding="utf-8") for path in folder.glob("*.js"))
    strings = json.loads(
        training_replay.payload("recorded/reverse", run_launcher.find("recorded", "reverse"))
    )
    asked = set(re.findall(r'\bsay\("(\w+)"', text))
    assert asked <= set(strings["strings"])
    panels = set(re.findall(r'(?:name: |simplePanel\()"(\w+)"', text))
    assert {name for panel in panels for name in (panel, f"{panel}_title")} <= set(
        strings["strings"]
    )


SAMPLE = {"source": "Hi there.", "written": "Salut.", "reference": "Bonjour."}
TRANSLATED = {
    **{"step": 50, "seconds": 9.0, "loss": 4.2, "perplexity": 17.5, "bleu": 9.9, "chrf": 29.4},
    **{"samples": [SAMPLE], "greedy": "Salut."},
}


@pytest.fixture
def translating(tmp_path: Path, run: Run) -> Run:
    """A run on pairs at its first moment."""
    made = create_run(tmp_path / "pairs-1", TrainingConfig(pairs="x.tsv", until=0.4, steps=100))
    made.append(TRANSLATED)
    return made


def test_a_translator_s_moment_has_its_scores_and_what_it_writes(translating):
    reel = shown(translating)
    assert reel["translates"] is True
    assert reel["samples"] == [{"source": "Hi there.", "reference": "Bonjour."}]
    (moment,) = reel["moments"]
    assert (moment["bleu"], moment["chrf"], moment["perplexity"]) == (9.9, 29.4, 17.5)
    assert moment["written"] == ["Salut."]
    assert moment["exact"] is None
    assert moment["gold"] == []


def test_a_translator_that_goes_on_and_on_is_cut(translating):
    translating.append(
        TRANSLATED | {"step": 60, "samples": [SAMPLE | {"written": "sommes " * 999}]}
    )
    assert len(shown(translating)["moments"][1]["written"][0]) < 300


@pytest.mark.parametrize("samples", [None, 7, [3], [{"source": 1}]])
def test_damaged_samples_leave_gaps(translating, samples):
    translating.append(TRANSLATED | {"step": 60, "samples": samples, "bleu": float("inf")})
    assert shown(translating)["moments"][1]["bleu"] is None


def test_its_report_speaks_of_bleu_and_of_the_pairs(translating):
    translating.write_data_facts({"pairs": {"kept": 2000, "overlong": 12}})
    report(translating, "done", 50)
    found = shown(translating)["report"]
    assert found["words"] == "done early: BLEU 40 reached"
    facts = " · ".join(found["facts"])
    assert "BLEU 9.9 · chrF 29.4 · loss 4.2" in facts
    assert facts.endswith("1,988 pairs · 12 too long")
    assert "exact" not in facts


def test_a_toy_run_and_a_translator_are_laid_over_each_other(run, translating):
    run.append(LINE)
    beneath = shown(run, other=translating)["other"]["moments"]
    assert beneath[0]["exact"] is None
    assert beneath[0]["bleu"] == 9.9
    assert "bleu" not in shown(translating, other=run)["other"]["moments"][0]


def test_nothing_is_declared_twice_in_the_module():
    names = re.findall(r"^(?:async )?(?:function|const|let) (\w+)", training_replay.bundle(), re.M)
    assert len(names) == len(set(names))
