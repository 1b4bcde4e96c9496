"""The form for an uploaded corpus, on the Train page without a browser."""

import json
import time
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from explorer.app.widgets import corpus_form
from explorer.core import folders
from explorer.core.errors import RunError
from explorer.data.parallel_corpus import ParallelCorpus, parse_pairs
from explorer.jobs import training_launcher
from explorer.jobs.status import Status
from explorer.jobs.training_run import Run, create_run
from explorer.training.config import TrainingConfig
from tests.support.app_pages import captions, open_page, sent_to
from tests.support.toy_sentences import as_table

ROOT = Path(__file__).parents[3]
TSV = as_table().encode()
CSV = b"id,english,french\n" + b"".join(
    f'{number},"I see {number} dogs, now.",je vois **{number}** chiens\n'.encode()
    for number in range(300)
)
BAD = {
    "one_column.tsv": (b"Only one column\n" * 200, "No row of"),
    "binary.tsv": (b"\0\1\2" * 200, "is a binary file"),
    "cut.tsv": (TSV.decode().encode("utf-16")[:-1], "“cut.tsv” is not UTF-8 in line 240"),
    "accents.tsv": (("Hé\tlà\n" * 200).encode("latin-1"), "is not UTF-8 in line 1"),
    "quotes.csv": (b'"I see "dogs",x\n' * 200, "quotation mark in line 1"),
    "empty.tsv": (b"I see dogs.\t\n" * 200, "200 with a blank side"),
    "line.tsv": (b"I see dogs.\tx\n", "“line.tsv” has 1 different pair; at least 30 are needed."),
    "nothing.tsv": (b"", "“nothing.tsv” is empty"),
    "same.tsv": (
        b"".join(b"Dogs.\t%d\n" % n for n in range(300)),
        "“same.tsv” has 1 different source; at least 20",
    ),
}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder of runs, and no process: a launch only writes the status."""
    monkeypatch.setenv(folders.RUNS_VARIABLE, str(tmp_path / "runs"))
    monkeypatch.setattr(
        training_launcher,
        "launch",
        lambda run: run.write_status(Status("waiting", 0, time.time(), 0)),
    )
    return tmp_path / "runs"


def open_form(**query: str) -> AppTest:
    """The Train page with the form open."""
    return open_page("train", **query).button(key="pairs").click().run()


def uploaded(app: AppTest, name: str, data: bytes) -> AppTest:
    return app.file_uploader[0].set_value((name, data, "")).run()


def can_start(app: AppTest) -> bool:
    return not app.button(key="start-these").disabled


def run_data(app: AppTest) -> dict:
    return json.loads(sent_to(app, "training_replay"))


def test_a_file_is_shown_counted_and_trained_on(folder):
    app = open_form()
    assert not app.exception
    assert [button.key for button in app.button if button.key == "start-these"] == []
    app = uploaded(
        app, "my pairs.tsv", TSV + b"only one\nsource\t \n" + TSV[: TSV.index(b"\n") + 1]
    )
    assert not app.exception
    assert "rows: 243 · pairs kept: 240" in " ".join(captions(app))
    assert "1 duplicate, 1 with a blank side, 1 with too few columns" in " ".join(captions(app))
    assert app.table[0].value.iloc[0, 0].replace("\\", "") == "I see a dog today."
    app.button(key="start-these").click().run()
    assert not app.exception
    run = training_launcher.find("runs", "my-pairs-1")
    assert (run.folder / "pairs.tsv").read_bytes().startswith(TSV)
    assert run.config.task == "translate"
    assert run.config.columns == ("1", "2")
    assert app.query_params["run"] == "runs/my-pairs-1"
    assert run_data(app)["translates"] is True


def test_pairs_are_pasted_after_their_least_number_is_said(folder):
    app = open_form()
    assert any(text.startswith("At least 30 pairs") for text in captions(app))
    few = [f"word {number}, mot {number}" for number in range(30)]
    app.text_area(key="pairs-pasted").set_value("\n".join(few[:29]))
    app = app.button(key="pairs-take").click().run()
    assert not app.exception
    assert "“your pairs” has 29 different pairs; at least 30" in app.error[0].value.replace(
        "\\", ""
    )
    assert not can_start(app)
    app.text_area(key="pairs-pasted").set_value("\n".join(few))
    app = app.button(key="pairs-take").click().run()
    assert not app.error
    app.button(key="start-these").click().run()
    run = training_launcher.find("runs", "your-pairs-1")
    assert (run.folder / "pairs.tsv").read_text().splitlines() == few
    assert run.config.until < 1  # it ends when all pairs are right


def test_the_unicode_text_of_a_spreadsheet_is_read():
    app = uploaded(open_form(), "Book1.txt", TSV.decode().encode("utf-16"))
    assert "pairs kept: 240" in " ".join(captions(app))


def test_columns_are_chosen_by_number_or_by_heading(folder):
    app = uploaded(open_form(), "dogs.csv", CSV)
    assert app.selectbox(key="pairs-column-0-1").options[1] == "2 · english"
    assert "**1**" in app.table[0].value.iloc[2, 2].replace("\\", "")
    assert "rows: 300 · pairs kept: 300" in " ".join(captions(app))  # guessed: both by heading
    app.checkbox(key="pairs-headings-1").uncheck().run()
    app.selectbox(key="pairs-column-0-1").set_value(2).run()
    app.selectbox(key="pairs-column-1-1").set_value(1).run()
    assert "pairs kept: 301" in " ".join(captions(app))
    app.selectbox(key="pairs-column-1-1").set_value(2).run()
    assert "Name two different columns" in app.error[0].value
    assert not can_start(app)
    app.selectbox(key="pairs-column-0-1").set_value(1).run()
    app.selectbox(key="pairs-column-1-1").set_value(2).run()
    app.checkbox(key="pairs-headings-1").check().run()
    assert "rows: 300 · pairs kept: 300" in " ".join(captions(app))
    app.button(key="start-these").click().run()
    assert training_launcher.find("runs", "dogs-1").config.columns == ("english", "french")


@pytest.mark.parametrize("name", BAD)
def test_a_bad_file_gets_one_sentence_and_the_form_keeps_what_was_typed(folder, name):
    data, words = BAD[name]
    app = uploaded(open_form(), "good.tsv", TSV)
    app.number_input(key="pairs-steps-0").set_value(777).run()
    app = uploaded(app, name, data)
    assert not app.exception
    assert [words in error.value.replace("\\", "") for error in app.error] == [True]
    assert not can_start(app)
    assert app.number_input(key="pairs-steps-0").value == 777
    app = uploaded(app, "good.tsv", TSV)
    assert can_start(app)
    app.button(key="start-these").click().run()
    assert training_launcher.find("runs", "good-1").config.steps == 777


def test_a_refused_run_is_reported_and_the_file_kept(folder, monkeypatch):
    def refuse(*anything: object) -> Run:
        raise RunError("unwritable_file", name="pairs.tsv", reason="no room")

    app = uploaded(open_form(), "good.tsv", TSV)
    with monkeypatch.context() as broken:
        broken.setattr(training_launcher, "start_pairs", refuse)
        app.button(key="start-these").click().run()
    assert "no room" in app.error[0].value
    app.button(key="pairs").click().run()
    assert "pairs kept: 240" in " ".join(captions(app))
    app.button(key="start-these").click().run()
    assert training_launcher.find("runs", "good-1")


def test_only_settings_with_an_effect_are_shown():
    app = uploaded(open_form(), "good.tsv", TSV)
    keys = {widget.key for kind in ("number_input", "checkbox") for widget in app.get(kind)}
    assert {"pairs-pieces-0", "pairs-joint-0", "pairs-joined-0"} <= keys
    assert not app.get("text_input")  # no symbols
    assert app.number_input(key="pairs-until-0").label == "Stop at BLEU ÷ 100"
    app = open_page("train")
    app.button(key="settings").click().run()
    keys = {widget.key for kind in ("number_input", "checkbox") for widget in app.get(kind)}
    assert not {"setting-pieces-0", "setting-joint-0", "setting-joined-0"} & keys
    assert "translate" not in app.selectbox(key="setting-task-0").options


def test_the_settings_can_be_set_back_to_the_suggested_ones():
    app = uploaded(open_form(), "good.tsv", TSV)
    app.number_input(key="pairs-steps-0").set_value(777).run()
    app.button(key="defaults").click().run()
    assert app.number_input(key="pairs-steps-1").value == 1500


def test_the_form_is_in_chinese_when_asked():
    app = uploaded(open_form(lang="zh"), "good.tsv", TSV)
    assert "保留句对：240" in " ".join(captions(app))
    assert app.selectbox(key="pairs-column-0-1").label == "原文列"


def test_a_file_is_read_once_for_each_choice_of_columns(monkeypatch):
    """Once for each visitor, too."""
    read: list[tuple[str, tuple[str, ...]]] = []

    def parse(data: bytes, name: str, columns: tuple[str, str]) -> ParallelCorpus:
        read.append((name, columns))
        return parse_pairs(data, name, columns)

    monkeypatch.setattr(corpus_form, "parse_pairs", parse)
    visitors = [uploaded(open_form(), f"{number}.tsv", TSV) for number in range(4)]
    for app in visitors:
        app.number_input(key="pairs-steps-0").set_value(777).run()
    assert read == [(f"{number}.tsv", ("1", "2")) for number in range(4)]
    app = visitors[0]
    app.selectbox(key="pairs-column-0-1").set_value(1).run()
    app.selectbox(key="pairs-column-1-1").set_value(0).run()
    app = uploaded(app, "other.csv", CSV)
    named = ("english", "french")
    assert read[4:] == [("0.tsv", ("2", "2")), ("0.tsv", ("2", "1")), ("other.csv", named)]
    assert set(app.session_state["TrainState"].checks) == {named}


def test_a_column_of_numbers_and_a_row_of_headings_give_a_warning():
    app = uploaded(open_form(), "dogs.csv", CSV)
    assert not app.warning  # the columns of texts are guessed
    assert can_start(app)
    app.selectbox(key="pairs-column-0-1").set_value(0).run()
    assert "Column 1 holds nothing but numbers" in app.warning[0].value
    app.checkbox(key="pairs-headings-1").uncheck().run()
    assert "tick “The first row holds headings”" in app.warning[0].value
    app.selectbox(key="pairs-column-0-1").set_value(1).run()
    assert "numbers" not in app.warning[0].value
    assert not uploaded(app, "good.tsv", TSV).warning
    app = uploaded(open_form(lang="zh"), "dogs.csv", CSV)
    app.checkbox(key="pairs-headings-1").uncheck().run()
    assert "首行看似列名" in app.warning[0].value


def test_open_in_explore_shows_the_run_s_own_sentence(folder, pairs_file, tmp_path):
    from explorer.jobs.training_worker import run_training

    config = TrainingConfig(
        pairs=str(pairs_file), longest=32, pieces=400, d_model=16, heads=2, encoder_layers=1,
        decoder_layers=1, d_ff=16, steps=2, batch=16, evaluate_every=2, device="cpu",
    )  # fmt: skip
    run = create_run(folder / "own", config)
    run_training(run)
    app = open_page("train", run="runs/own")
    app.button(key="open").click().run()
    assert not app.exception
    assert app.query_params["model"] == "own"
    assert app.query_params["words"] == "1"
    assert app.query_params["text"] == run.data_facts()["examples"][0]
