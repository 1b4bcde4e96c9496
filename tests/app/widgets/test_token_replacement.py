"""The second text of a comparison made of the first, on the page Heads."""

import pytest

from explorer.app.widgets.token_replacement import places_of
from tests.support.app_pages import chosen_in, open_page, url_query


def test_a_symbol_of_the_first_text_is_replaced_by_another():
    app = open_page("heads", part="compare", model="induction", text="7 3 9 1 5 7")
    tokens = [one.label for one in app.button if (one.key or "").startswith("replaced-")]
    assert tokens == ["7", "3", "9", "1", "5", "7"]
    app = app.button(key="replaced-2").click().run()
    symbols = chosen_in(app.button_group, "replace-by-4-en")
    assert "9" not in symbols.options
    app = symbols.set_value("4").run()
    assert not app.exception
    assert url_query(app)["other_text"] == "7 3 4 1 5 7"
    app = app.button(key="replaced-5").click().run()
    app = chosen_in(app.button_group, "replace-by-10-en").set_value("9").run()
    assert url_query(app)["other_text"] == "7 3 9 1 5 9"  # of the first text


def test_a_word_is_typed_in_its_place():
    text = "The black cat is asleep."
    query = {"model": "english-french", "text": text, "other_text": text}
    app = open_page("heads", part="compare", **query)
    app = app.button(key="replaced-1").click().run()
    app = chosen_in(app.text_input, "replace-by-4-en").set_value(" white ").run()
    assert not app.exception
    assert url_query(app)["other_text"] == "The white cat is asleep."


def test_spaces_replace_nothing_and_are_said_to():
    text = "The black cat is asleep."
    query = {"model": "english-french", "text": text, "other_text": text}
    app = open_page("heads", part="compare", **query)
    app = app.button(key="replaced-1").click().run()
    app = chosen_in(app.text_input, "replace-by-4-en").set_value("  ").run()
    assert not app.exception
    (error,) = app.error
    assert "“black”" in error.value
    assert url_query(app)["other_text"] == text


@pytest.mark.parametrize(
    ("labels", "text", "found"),
    [
        (("7", "3", "7", "<eos>"), "7 3 7", ["7", "3", "7"]),
        (("A", "cat", "."), "A  cat.", ["A", "cat", "."]),
        (("我", "爱", "你"), "我爱你", ["我", "爱", "你"]),
        (("ﬁ", "cat"), "fi cat", ["cat"]),  # another spelling
        (("", "cat"), "cat", ["cat"]),
    ],
)
def test_tokens_are_found_in_the_text_in_their_order(labels, text, found):
    places = places_of(labels, text)
    assert [text[place] for place in places] == found
    assert places == sorted(places, key=lambda place: place.start)
