import pytest
from streamlit.testing.v1 import AppTest

from explorer.core import folders


def page() -> None:
    """A page that shows nothing but the text that is asked for."""
    import streamlit as st

    from explorer.app.state import visit as visit_state
    from explorer.app.widgets.visit_page import visit_page

    visit_page("explore", lambda: st.text(visit_state.current().request.text))


@pytest.mark.parametrize("text", ["7 3 9 1 4", "1 2"])
def test_the_page_is_drawn_with_the_visit_of_the_url(text):
    app = AppTest.from_function(page, default_timeout=60)
    app.query_params["text"] = text
    app = app.run()
    assert not app.exception
    assert [shown.value for shown in app.text] == [text]


def test_without_any_model_the_command_that_makes_one_is_shown_instead(monkeypatch, tmp_path):
    monkeypatch.setenv(folders.CHECKPOINTS_VARIABLE, str(tmp_path))
    app = AppTest.from_function(page, default_timeout=60).run()
    assert not app.exception
    assert not app.text
    assert "python -m explorer train" in app.info[0].value.replace("\\", "")
