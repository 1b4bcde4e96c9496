"""What is remembered of the Train page."""

import os
import time

import pytest
import streamlit as st

from explorer.app.state import train as train_state
from explorer.app.state.train import CorpusCheck, UploadedCorpus
from explorer.jobs.status import Status
from explorer.jobs.training_run import Run, create_run
from explorer.training.config import TrainingConfig


class QueryParams(dict[str, str]):
    """The query of the URL, as Streamlit gives it."""

    def to_dict(self) -> dict[str, str]:
        return dict(self)

    def from_dict(self, query: dict[str, str]) -> None:
        self.clear()
        self.update(query)


@pytest.fixture(autouse=True)
def session(monkeypatch) -> dict[str, str]:
    """A new session, and a URL without a query."""
    query = QueryParams()
    monkeypatch.setattr(st, "session_state", {})
    monkeypatch.setattr(st, "query_params", query)
    return query


@pytest.fixture
def runs(tmp_path) -> dict[str, Run]:
    """Of three runs the second one goes on."""
    states = {"runs/one": "stopped", "runs/two": "running", "recorded/reverse": "done"}
    for key, state in states.items():
        run = create_run(tmp_path / key, TrainingConfig(device="cpu"))
        run.write_status(Status(state, 0, time.time(), os.getpid()))
    return {key: Run(tmp_path / key) for key in states}


def test_the_run_in_the_url_is_shown_then_an_active_one_then_the_recorded_one(session, runs):
    train_state.show_run("runs/one")
    assert train_state.shown_run(runs) == "runs/one"
    train_state.show_run(None)
    assert train_state.shown_run(runs) == "runs/two"
    assert session["run"] == "runs/two"  # it stays on screen when it ends
    train_state.show_run(None)
    assert train_state.shown_run({**runs, "runs/two": runs["runs/one"]}) == "recorded/reverse"
    assert train_state.shown_run({}) is None


def test_the_compared_runs_are_in_the_url_until_another_run_is_shown(session, runs):
    train_state.compare_with(["runs/one", "runs/gone", "recorded/reverse"])
    assert session["compare"] == "runs/one,runs/gone,recorded/reverse"
    assert train_state.compared(runs, "runs/two") == ["runs/one", "recorded/reverse"]
    assert train_state.compared(runs, "runs/one") == ["recorded/reverse"]
    session |= {"moment": "50", "head": "1.2", "lang": "zh"}
    train_state.show_run("runs/two")
    assert session == {"run": "runs/two", "lang": "zh"}
    assert train_state.compared(runs, "runs/two") == []
    train_state.compare_with([])
    assert "compare" not in session


def test_at_most_five_runs_are_on_screen():
    runs = {f"runs/{number}": "ended" for number in range(9)}
    train_state.compare_with(list(runs))
    assert train_state.compared(runs, "runs/8") == [f"runs/{number}" for number in range(4)]


def test_the_seed_of_a_demo_stays_until_it_is_renewed(monkeypatch):
    draws = iter([11, 22])
    monkeypatch.setattr(train_state.random, "randint", lambda low, high: next(draws))
    assert [train_state.demo_seed(), train_state.demo_seed()] == [11, 11]
    assert train_state.renew_demo_seed() == 22
    assert train_state.demo_seed() == 22


def test_a_form_stays_open_until_it_is_closed():
    train_state.open_form(train_state.SETTINGS_FORM)
    assert train_state.form_on_screen() == train_state.SETTINGS_FORM
    train_state.close_form()
    assert train_state.form_on_screen() is None


def test_each_form_has_a_draft_and_a_reset_gives_its_widgets_new_keys():
    train_state.save_draft("one", {"heads": 2})
    train_state.save_draft("other", {"heads": 3})
    assert (train_state.draft("one"), train_state.draft("none")) == ({"heads": 2}, {})
    before = train_state.times_reset()
    train_state.reset_draft("one")
    assert (train_state.draft("one"), train_state.draft("other")) == ({}, {"heads": 3})
    assert train_state.times_reset() == before + 1


def test_another_corpus_has_its_own_columns_and_checks():
    first = UploadedCorpus("first.tsv", b"1")
    train_state.set_corpus(first)
    train_state.choose_columns((2, 1), True)
    train_state.save_check(("3", "2"), CorpusCheck(None, None, None))
    assert (train_state.corpus(), train_state.uploads()) == (first, 1)
    table = "id\tEnglish\tid\tFrench\n" + "7\tI go.\t8\tJe vais.\n" * 3
    train_state.set_corpus(UploadedCorpus("ids.tsv", table.encode()))
    assert (train_state.columns(), train_state.has_headings()) == ((1, 3), True)
    train_state.set_corpus(UploadedCorpus("unclear.tsv", b"7\ta\t8\n9\tb\t9\n"))
    assert (train_state.columns(), train_state.has_headings()) == ((0, 1), False)
    train_state.set_corpus(UploadedCorpus("second.tsv", b"2"))
    assert (train_state.columns(), train_state.has_headings()) == ((0, 1), False)
    assert train_state.check(("3", "2")) is None
    assert train_state.uploads() == 4


def test_the_oldest_checks_are_dropped():
    train_state.set_corpus(UploadedCorpus("first.tsv", b"1"))
    choices = [(str(number), "1") for number in range(12)]
    for columns in choices:
        train_state.save_check(columns, CorpusCheck(None, None, None))
    remembered = [columns for columns in choices if train_state.check(columns) is not None]
    assert remembered == choices[-8:]


def test_the_states_of_runs_are_read_once_for_all_until_they_are_cleared(tmp_path):
    train_state.run_states.clear()
    assert train_state.run_states(tmp_path) == {}
    create_run(tmp_path / "one", TrainingConfig())
    assert train_state.run_states(tmp_path) == {}
    train_state.run_states.clear()
    assert train_state.run_states(tmp_path) == {"one": "new"}
