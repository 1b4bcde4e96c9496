"""A lesson on the page Train, without a browser."""

import json
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from explorer.app.state import lesson as lesson_state
from explorer.app.state.lesson import lessons
from explorer.core import folders
from tests.support.app_pages import components_of, open_page, sent_to, url_query
from tests.support.payloads import unpack_payload

CARDS = lessons().in_language("training", "en").cards
RUNS = [card.view["run"] for card in CARDS]


@pytest.fixture(autouse=True)
def no_runs(tmp_path, monkeypatch):
    monkeypatch.setenv(folders.RUNS_VARIABLE, str(tmp_path / "runs"))


def shown(app: AppTest) -> dict[str, Any]:
    assert not app.exception
    header, _ = unpack_payload(sent_to(app, "lesson"))
    return header["lesson"]


def run_on_screen(app: AppTest) -> str:
    return json.loads(sent_to(app, "training_replay"))["key"].split("@")[0]


@pytest.mark.parametrize("card", [1, len(CARDS)])
def test_a_link_opens_a_card_and_its_run(card):
    app = open_page("train", **lesson_state.link("training", card))
    assert run_on_screen(app) == RUNS[card - 1]
    lesson = shown(app)
    assert lesson["card"] == card - 1
    for one, run in zip(lesson["cards"], RUNS, strict=True):
        assert one["problem"] == ""
        assert one["look"]["run"] == run
        assert one["here"] == (run == RUNS[card - 1])
    assert url_query(app)["run"] == RUNS[card - 1]
    assert not app.warning


def test_the_replay_of_another_run_is_elsewhere():
    app = open_page("train", **lesson_state.link("training"), run="recorded/reverse")
    assert run_on_screen(app) == "recorded/reverse"
    assert not shown(app)["cards"][0]["here"]


def test_explore_leads_to_the_page_of_the_lesson():
    app = open_page(**lesson_state.link("training", 2))
    assert run_on_screen(app) == RUNS[1]
    assert shown(app)["card"] == 1


def test_train_leads_to_the_page_of_a_lesson_of_explore():
    app = open_page("train", **lesson_state.link("the-mask", 2))
    assert shown(app)["name"] == "the-mask"
    assert "attention_explore" in components_of(app)


def test_a_card_that_does_not_exist_is_told():
    app = open_page("train", lang="en", lesson="training", card="99")
    (warning,) = app.warning
    assert "card of the lesson" in warning.value
    assert shown(app)["card"] == 0
    app = open_page("train", lang="en", lesson="nowhere")
    assert "lesson" in app.warning[0].value
    assert "attention_lesson" not in components_of(app)


def test_without_a_lesson_there_is_no_card():
    app = open_page("train")
    assert "attention_lesson" not in components_of(app)


def test_who_leaves_the_page_leaves_its_lesson():
    app = open_page("train", **lesson_state.link("training", 2))
    for name in list(app.query_params):
        del app.query_params[name]
    app.switch_page("views/explore.py").run()
    assert not app.exception
    header, _ = unpack_payload(sent_to(app, "lesson"))
    assert "lesson" not in header
    assert "lesson" not in url_query(app)
