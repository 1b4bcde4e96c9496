"""The lessons of this machine, and the card in the URL, through the page."""

import pytest
import streamlit as st

from explorer.app.state import lesson as lesson_state
from explorer.app.state.lesson import lessons
from explorer.core import folders
from explorer.core.lesson import find_lessons, lesson_files
from tests.support.app_pages import asked_visit, open_page, sent_to, sent_to_explore, url_query

FIRST = find_lessons(lesson_files([folders.SHIPPED_LESSONS])).in_language("query-and-key", "en")
FIRST_CARD = "lesson=query-and-key&card=1"
CARD = "# {title}\n\n---\nview: model=reverse&text=1+2\n---\nA sentence.\n"


def test_a_link_names_a_card_and_opens_its_view():
    app = open_page(**lesson_state.link("query-and-key", 3))
    assert sent_to_explore(app)["lesson"] == "lesson=query-and-key&card=3"
    query, view = asked_visit(app), FIRST.cards[2].view
    assert {name: query[name] for name in view} == dict(view)


def test_a_view_of_the_link_itself_counts_more_than_that_of_the_card():
    link = lesson_state.link("query-and-key", 3)
    app = open_page(**link, model="copy", text="1 2 3", pad="0", step="1")
    query = asked_visit(app)
    assert (query["model"], query["text"]) == ("copy", "1 2 3")
    assert sent_to_explore(app)["lesson"] == "lesson=query-and-key&card=3"


@pytest.mark.parametrize(
    ("query", "card", "words"),
    [
        ({"lesson": "nowhere"}, "", "lesson"),
        ({"lesson": "query-and-key", "card": "99"}, FIRST_CARD, "card of the lesson"),
        ({"lesson": "query-and-key", "card": "x"}, FIRST_CARD, "card of the lesson"),
    ],
)
def test_what_does_not_exist_is_told(query, card, words):
    app = open_page(lang="en", **query)
    assert sent_to_explore(app)["lesson"] == card
    (warning,) = app.warning
    assert words in warning.value.replace("\\", "")


def test_a_url_without_a_lesson_has_none():
    app = open_page()
    assert b'"offer"' in sent_to(app, "lesson")
    assert sent_to_explore(app)["lesson"] == ""
    assert url_query(app) == {}


def test_a_teachers_lessons_follow_those_that_ship_and_a_change_is_seen(monkeypatch, tmp_path):
    shipped = list(lessons().lessons)
    monkeypatch.setenv(folders.LESSONS_VARIABLE, str(tmp_path))
    path = tmp_path / "mine.en.md"
    path.write_text(CARD.format(title="Mine"))
    assert list(lessons().lessons) == [*shipped, "mine"]
    path.write_text(CARD.format(title="Mine, too"))
    assert lessons().in_language("mine", "zh").title == "Mine, too"
    path.unlink()
    assert list(lessons().lessons) == shipped


def test_a_broken_file_is_logged_once(monkeypatch, tmp_path, caplog):
    monkeypatch.setenv(folders.LESSONS_VARIABLE, str(tmp_path))
    (tmp_path / "bad.en.md").write_text("no title")
    for _ in range(2):
        assert [one.path.name for one in lessons().broken] == ["bad.en.md"]
    (line,) = [message for message in caplog.messages if "bad.en.md" in message]
    assert "\n" not in line


def test_a_lesson_whose_file_is_gone_comes_back_with_it(monkeypatch, tmp_path):
    monkeypatch.setattr(st, "session_state", {})
    monkeypatch.setenv(folders.LESSONS_VARIABLE, str(tmp_path))
    path = tmp_path / "mine.en.md"
    path.write_text(CARD.format(title="Mine"))
    assert lesson_state.open_card("mine", 1)
    for written, name in [("no title", ""), (CARD.format(title="Again"), "mine")]:
        path.write_text(written)
        lesson_state.look_up()
        assert lesson_state.current().name == name
        assert lesson_state.query() == (lesson_state.link("mine") if name else {})
    path.unlink()
    lesson_state.look_up()
    assert lesson_state.current().name == ""
