import pytest
from streamlit.testing.v1 import AppTest

from explorer.app.widgets.file_uploader import LARGEST_MB


def page() -> None:
    """Two uploaders; the session remembers what each handed over."""
    import streamlit as st

    from explorer.app.widgets.file_uploader import file_uploader

    taken = st.session_state.setdefault("taken", [])
    file_uploader("Pairs", ["tsv", "csv"], "en", lambda *file: taken.append(file), limit_mb=3)
    file_uploader("Model", ["trace"], "zh", lambda *file: taken.append(file), prefix="model-")


def test_a_file_is_handed_over_once_and_an_empty_uploader_follows():
    app = AppTest.from_function(page).run()
    before = app.file_uploader[0].key
    app = app.file_uploader[0].set_value(("a.tsv", b"1\t2", "")).run().run()
    assert not app.exception
    assert app.session_state["taken"] == [("a.tsv", b"1\t2")]
    assert app.file_uploader[0].key != before
    assert app.file_uploader[0].value is None


def test_each_of_two_uploaders_hands_over_its_own_file():
    app = AppTest.from_function(page).run()
    app = app.file_uploader[1].set_value(("b.trace", b"PK", "")).run()
    app = app.file_uploader[0].set_value(("a.csv", b"1,2", "")).run()
    assert app.session_state["taken"] == [("b.trace", b"PK"), ("a.csv", b"1,2")]


def test_a_larger_file_is_refused_in_a_sentence_of_ours():
    """Streamlit, which would refuse it in English alone, has the limit of all uploads."""
    app = AppTest.from_function(page).run()
    assert {one.proto.max_upload_size_mb for one in app.file_uploader} == {LARGEST_MB}
    app = app.file_uploader[0].set_value(("a.tsv", b"1" * (3 * 2**20 + 1), "")).run()
    assert "has 3.1 MB; at most 3 MB are read" in app.error[0].value.replace("\\", "")
    assert app.session_state["taken"] == []
    app = app.file_uploader[0].set_value(("a.tsv", b"1" * 3 * 2**20, "")).run()
    assert not app.error
    assert len(app.session_state["taken"]) == 1


@pytest.mark.parametrize("name", ["a.exe", "tsv", "a.tsv.trace", "a\0"])
def test_a_file_of_another_kind_is_refused_below_its_uploader(name):
    app = AppTest.from_function(page).run()
    app = app.file_uploader[0].set_value((name, b"MZ", "")).run()
    assert not app.exception
    (error,) = app.error
    assert "\\.tsv\\, \\.csv" in error.value
    assert app.session_state["taken"] == []
    app = app.file_uploader[1].set_value(("b.TRACE", b"PK", "")).run()
    assert not app.error
    assert app.session_state["taken"] == [("b.TRACE", b"PK")]
