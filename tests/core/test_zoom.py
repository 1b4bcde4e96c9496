"""A part of a map as a word."""

import pytest

from explorer.core.zoom import Zoom


def test_a_zoom_is_read_as_it_is_written():
    zoom = Zoom.parse("2-11.0-4")
    assert zoom == (2, 11, 0, 4)
    assert (str(zoom), zoom.queries, zoom.keys) == ("2-11.0-4", slice(2, 12), slice(0, 5))


@pytest.mark.parametrize("word", ["5-4.0-4", "2-3.4-3", "2-11.0", "-2-11.0-4", "٢-11.0-4", ""])
def test_another_word_is_no_zoom(word):
    assert Zoom.parse(word) is None


@pytest.mark.parametrize(
    ("queries", "keys", "within"), [(12, 5, True), (11, 5, False), (12, 4, False)]
)
def test_a_zoom_is_within_maps_that_have_all_of_it(queries, keys, within):
    assert Zoom(2, 11, 0, 4).is_within(queries, keys) is within
