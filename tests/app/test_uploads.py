import pytest
import streamlit as st

from explorer.app import uploads
from explorer.app.state import session
from explorer.app.state import visit as visit_state
from explorer.app.uploads import UploadError
from explorer.core.look import Look, Request
from explorer.model import catalog
from tests.support.catalog_members import shipped, uploaded

SHIPPED = {
    "reverse": shipped("reverse", "123", task="reverse"),
    "letters": shipped("letters", "abc"),
}


@pytest.fixture(autouse=True)
def visit(monkeypatch) -> None:
    """A session that has just opened the first model."""
    monkeypatch.setattr(st, "session_state", {})
    monkeypatch.setattr(catalog, "shipped_models", lambda: SHIPPED)
    session.save(Look(Request("reverse", "1 2", 2)))


def test_uploads_get_names_of_their_own_and_are_limited():
    names = []
    for number in range(uploads.MOST_UPLOADS):
        names.append(uploads.add_upload(uploaded("letters", f"upload {number}")))
    assert names == ["letters (2)", "letters (3)", "letters (4)", "letters (5)"]
    assert list(uploads.visitor_catalog()) == ["reverse", "letters", *names]
    assert uploads.add_upload(uploaded("letters", "upload 0")) == "letters (2)"
    with pytest.raises(UploadError, match="delete one first") as raised:
        uploads.add_upload(uploaded("more", "another"))
    assert "4 个文件" in raised.value.in_language("zh")


def test_deleting_the_chosen_upload_chooses_the_first_model():
    name = uploads.add_upload(uploaded("mine", "upload"))
    visit_state.choose_model(name, uploads.visitor_catalog())
    assert visit_state.current().request == Request("mine", "a a a", 2)
    uploads.delete_upload(name)
    assert uploads.uploads() == {}
    assert visit_state.current().request.model == "reverse"


def test_the_deletion_of_another_upload_changes_nothing():
    uploads.add_upload(uploaded("mine", "upload"))
    uploads.delete_upload("mine")
    assert visit_state.current().request == Request("reverse", "1 2", 2)
