import json
from pathlib import Path

import pytest

from explorer.components.training_replay.payload import (
    MOST_MOMENTS,
    guest_payload,
    replay_payload,
    thinned,
)
from explorer.core import folders
from explorer.jobs import training_launcher
from explorer.jobs.training_run import Run, create_run
from explorer.training.config import TrainingConfig

LINE = {"step": 5, "seconds": 1.5, "loss": 0.5, "exact_match": 0.25, "gold": [[0.1, 0.2]]}
CONFIG = TrainingConfig(steps=100, device="cpu")


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """A run with nothing in it yet."""
    monkeypatch.setenv(folders.RUNS_VARIABLE, str(tmp_path))
    return create_run(tmp_path / "reverse-1", CONFIG)


def shown(run: Run, **options) -> dict:
    return json.loads(replay_payload(f"runs/{run.name}", run, **options))


def test_the_recorded_run_is_complete():
    run = training_launcher.find("recorded", "reverse")
    data = replay_payload("recorded/reverse", run)
    shown_run = json.loads(data)
    lines = run.moments()
    assert len(data) < 86_000  # half of it are the words of the player
    assert [moment["step"] for moment in shown_run["moments"]] == [line["step"] for line in lines]
    assert shown_run["moments"][-1]["exact"] == pytest.approx(lines[-1]["exact_match"], rel=1e-5)
    assert shown_run["moments"][-1]["gold"] == lines[-1]["gold"]
    assert all(moment["probe"] for moment in shown_run["moments"])
    assert shown_run["report"]["state"] == "done"
    assert shown_run["report"]["going"] is False


def test_the_recorded_run_of_induction_says_when_it_began_to_copy():
    run = training_launcher.find("recorded", "induction")
    found = json.loads(replay_payload("recorded/induction", run))
    assert (found["site"], found["continues"], found["translates"]) == ("decoder", False, False)
    first, last = found["moments"][0], found["moments"][-1]
    assert first["known_loss"] == pytest.approx(first["new_loss"], abs=0.1)
    assert last["known_loss"] < 0.01 < 2 < last["new_loss"]
    assert max(first["gold"][1]) < 1.5 * found["chance"]
    assert max(last["gold"][1]) > 0.9
    assert max(last["previous"][0]) > 2 * max(first["previous"][0])
    assert all(moment["probe"] for moment in found["moments"])


def test_equal_runs_give_equal_bytes_and_new_moments_change_them(run):
    run.append(LINE)
    first = replay_payload("runs/reverse-1", run)
    assert replay_payload("runs/reverse-1", run) == first
    run.append(LINE | {"step": 10})
    assert replay_payload("runs/reverse-1", run) != first


def test_guests_of_a_class_get_no_sentences_of_the_replay_and_no_log(run):
    run.append(LINE)
    other = training_launcher.find("recorded", "reverse")
    run.log_path.write_text("/home/somebody")
    data = guest_payload("runs/reverse-1", run, "zh", [other])
    whole = shown(run, language="zh", others=[other], opens=True, link="x")
    assert whole["log"] == ["/home/somebody"]
    own = {"strings": {}, "player": {}, "log": [], "opens": False}
    assert json.loads(data) == {**whole, **own, "link": {"address": "", "label": ""}}
    assert b"\n" not in data
    assert len(data) < len(json.dumps(whole)) / 3


def test_the_page_of_a_host_gets_further_fields(run):
    shared = {"run": "runs/reverse-1", "others": []}
    assert shown(run, more={"shared": shared}) == {**shown(run), "shared": shared}


def test_a_moment_without_its_probe_trace_has_no_address(run):
    run.append(LINE)
    assert shown(run)["moments"][0]["probe"] is None


def test_damaged_lines_and_missing_numbers_leave_gaps(run):
    run.append(LINE)
    with (run.folder / "metrics.jsonl").open("a") as file:
        file.write(
            '{"step": 10, "loss": NaN, "exact_match": "?", "gold": 7}\n[1]\n{"step": 15, "lo'
        )
    shown_run = shown(run)
    assert [moment["step"] for moment in shown_run["moments"]] == [5, 10]
    assert shown_run["moments"][1]["loss"] is None
    assert shown_run["moments"][1]["exact"] is None
    assert shown_run["moments"][1]["gold"] == []
    assert "NaN" not in json.dumps(shown_run)


def test_the_curves_of_the_compared_runs_are_sent_with_one_row_each(run, tmp_path):
    others = [create_run(tmp_path / name, CONFIG) for name in ("one", "two")]
    others[0].append(LINE | {"held_out_loss": 0.7})
    found = shown(run, others=others)
    point = {"step": 5, "loss": 0.5, "held_out": 0.7, "exact": 0.25, "gold": 0.2}
    assert found["others"] == [{"name": "one", "moments": [point]}, {"name": "two", "moments": []}]
    assert [row["name"] for row in found["rows"]] == ["reverse-1", "one", "two"]
    assert [row["best_loss"] for row in found["rows"]] == [None, 0.7, None]
    assert shown(run)["rows"] == []


def test_the_best_moment_has_the_lowest_held_out_loss_and_is_never_thinned_out(run):
    for step, loss in [(5, 0.9), (10, 0.4), (15, 0.6)]:
        run.append(LINE | {"step": step, "held_out_loss": loss})
    found = shown(run)
    assert found["best"] == 10
    assert [moment["held_out"] for moment in found["moments"]] == [0.9, 0.4, 0.6]
    lines = [{"step": step} for step in range(2 * MOST_MOMENTS)]
    assert lines[7] not in thinned(lines)
    assert lines[7] in thinned(lines, lines[7])


def test_a_long_run_is_thinned_and_the_moments_kept_stay():
    lines = [{"step": step} for step in range(3 * MOST_MOMENTS)]
    kept = [line["step"] for line in thinned(lines)]
    assert len(kept) <= MOST_MOMENTS + 1
    assert kept[-1] == lines[-1]["step"]
    grown = [line["step"] for line in thinned([*lines, {"step": 3 * MOST_MOMENTS}])]
    assert set(kept[:-1]) <= set(grown)
    assert thinned([]) == []


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


def test_a_moment_of_a_translation_run_has_scores_and_samples(translating):
    shown_run = shown(translating)
    assert shown_run["translates"] is True
    assert shown_run["samples"] == [{"source": "Hi there.", "reference": "Bonjour."}]
    (moment,) = shown_run["moments"]
    assert (moment["bleu"], moment["chrf"], moment["perplexity"]) == (9.9, 29.4, 17.5)
    assert moment["written"] == ["Salut."]
    assert moment["exact"] is None
    assert moment["gold"] == []


def test_a_long_sample_is_cut(translating):
    translating.append(
        TRANSLATED | {"step": 60, "samples": [SAMPLE | {"written": "sommes " * 999}]}
    )
    assert len(shown(translating)["moments"][1]["written"][0]) < 300


@pytest.mark.parametrize("samples", [None, 7, [3], [{"source": 1}]])
def test_damaged_samples_leave_gaps(translating, samples):
    translating.append(TRANSLATED | {"step": 60, "samples": samples, "bleu": float("inf")})
    assert shown(translating)["moments"][1]["bleu"] is None


def test_a_toy_run_and_a_translation_run_can_be_compared(run, translating):
    run.append(LINE)
    beneath = shown(run, others=[translating])["others"][0]["moments"]
    assert beneath[0]["exact"] is None
    assert beneath[0]["bleu"] == 9.9
    assert "bleu" not in shown(translating, others=[run])["others"][0]["moments"][0]


def test_an_older_run_says_that_its_training_loss_is_that_of_the_batches(run):
    assert shown(run)["batch_loss"] is False
    run.append(LINE)
    assert shown(run)["batch_loss"] is True
    run.append(LINE | {"step": 10, "training_loss": 0.4})
    assert shown(run)["batch_loss"] is False
