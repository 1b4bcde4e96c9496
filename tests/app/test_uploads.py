import pytest
import streamlit as st

from explorer.app import uploads
from explorer.app.permalink import Request
from explorer.app.state import explore as explore_state
from explorer.app.state.explore import MODEL, PAD, SOURCE, VisitError
from tests.support.catalog_members import shipped, uploaded

SHELF = {
    "reverse": shipped("reverse", "123", task="reverse"),
    "letters": shipped("letters", "abc"),
}


@pytest.fixture
def state(monkeypatch) -> dict:
    """A session that has just opened the first model."""
    state = {MODEL: "reverse", SOURCE: "1 2", PAD: 2}
    monkeypatch.setattr(st, "session_state", state)
    return state


def test_uploads_are_named_apart_and_bounded(state):
    names = []
    for number in range(uploads.MOST_UPLOADS):
        entry = uploaded("letters", f"upload {number}")
        names.append(uploads.keep_upload(entry, {**SHELF, **uploads.uploads()}))
    assert names == ["letters (2)", "letters (3)", "letters (4)", "letters (5)"]
    again = uploaded("letters", "upload 0")
    assert uploads.keep_upload(again, SHELF) == "letters (2)"
    with pytest.raises(VisitError, match="delete one first"):
        uploads.keep_upload(uploaded("more", "another"), SHELF)


def test_a_deleted_upload_gives_way_to_the_first_model(state):
    name = uploads.keep_upload(uploaded("mine", "upload"), SHELF)
    explore_state.choose_model(name, {**SHELF, **uploads.uploads()})
    assert explore_state.request() == Request("mine", "a a a", 2)
    uploads.delete_upload(name, {**SHELF, **uploads.uploads()})
    assert uploads.uploads() == {}
    assert explore_state.request().model == "reverse"
