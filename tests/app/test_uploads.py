import pytest
import streamlit as st

from explorer.app import uploads
from explorer.app.request import Request, Visit
from explorer.app.state import session
from explorer.app.state import visit as visit_state
from explorer.app.uploads import UploadError
from explorer.model import catalog
from explorer.model.catalog import Entry

SHIPPED = {
    "reverse": Entry("reverse", "1", tuple("123"), 5, 8, {"task": "reverse"}),
    "letters": Entry("letters", "2", tuple("abc"), 5, 8),
}


@pytest.fixture(autouse=True)
def visit(monkeypatch) -> None:
    """A session that has just opened the first model."""
    monkeypatch.setattr(st, "session_state", {})
    monkeypatch.setattr(catalog, "shipped", lambda: SHIPPED)
    session.save(Visit(Request("reverse", "1 2", 2)))


def test_uploads_get_names_of_their_own_and_are_limited():
    names = []
    for number in range(uploads.MOST_UPLOADS):
        entry = Entry("letters", f"upload {number}", ("a",), 3, 3)
        names.append(uploads.add_upload(entry))
    assert names == ["letters (2)", "letters (3)", "letters (4)", "letters (5)"]
    assert list(uploads.visitor_catalog()) == ["reverse", "letters", *names]
    again = Entry("letters", "upload 0", ("a",), 3, 3)
    assert uploads.add_upload(again) == "letters (2)"
    with pytest.raises(UploadError, match="delete one first") as raised:
        uploads.add_upload(Entry("more", "another", ("a",), 3, 3))
    assert "4 个文件" in raised.value.in_language("zh")


def test_a_deleted_upload_gives_way_to_the_first_model():
    name = uploads.add_upload(Entry("mine", "upload", ("a",), 3, 3))
    visit_state.choose_model(name, uploads.visitor_catalog())
    assert visit_state.current().request == Request("mine", "a a a", 2)
    uploads.delete_upload(name)
    assert uploads.uploads() == {}
    assert visit_state.current().request.model == "reverse"


def test_the_deletion_of_another_upload_changes_nothing():
    uploads.add_upload(Entry("mine", "upload", ("a",), 3, 3))
    uploads.delete_upload("mine")
    assert visit_state.current().request == Request("reverse", "1 2", 2)
