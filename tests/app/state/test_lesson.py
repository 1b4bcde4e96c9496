"""The card in the URL, through the page."""

import pytest

from explorer.app.state import lesson as lesson_state
from explorer.core import folders
from explorer.core.lesson import find_lessons, lesson_files
from tests.support.app_pages import open_page, sent_to, url_query

FIRST = find_lessons(lesson_files([folders.SHIPPED_LESSONS])).in_language("query-and-key", "en")


def test_a_link_names_a_card_and_opens_its_view():
    app = open_page(**lesson_state.link("query-and-key", 3))
    assert not app.exception
    query = url_query(app)
    assert (query["lesson"], query["card"]) == ("query-and-key", "3")
    view = FIRST.cards[2].view
    assert {name: query[name] for name in view} == dict(view)


def test_a_view_of_the_link_itself_counts_more_than_that_of_the_card():
    link = lesson_state.link("query-and-key", 3)
    app = open_page(**link, model="copy", text="1 2 3", pad="0", step="1")
    query = url_query(app)
    assert (query["model"], query["text"], query["lesson"]) == ("copy", "1 2 3", "query-and-key")


@pytest.mark.parametrize(
    ("query", "card", "words"),
    [
        ({"lesson": "nowhere"}, None, "lesson"),
        ({"lesson": "query-and-key", "card": "99"}, "1", "card of the lesson"),
        ({"lesson": "query-and-key", "card": "x"}, "1", "card of the lesson"),
    ],
)
def test_what_does_not_exist_is_told(query, card, words):
    app = open_page(lang="en", **query)
    assert url_query(app).get("card") == card
    (warning,) = app.warning
    assert words in warning.value.replace("\\", "")


def test_a_url_without_a_lesson_has_none():
    app = open_page()
    assert b'"offer"' in sent_to(app, "lesson")
    assert not {"lesson", "card"} & set(url_query(app))
