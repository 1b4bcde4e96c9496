"""A model that cannot be opened on a page of the visit."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from explorer.app import model_cache
from explorer.core.errors import ModelDirectoryError


def page(chosen: str, before: tuple[str, ...]) -> None:
    """A page of two directories and a checkpoint, on which `chosen` is chosen."""
    from pathlib import Path

    import streamlit as st

    from explorer.app.state import session
    from explorer.app.state import visit as visit_state
    from explorer.app.widgets.messages import show_reported
    from explorer.app.widgets.visit_page import open_model
    from explorer.core.look import Look, Request
    from explorer.model.model_directory import directory_model
    from tests.support.catalog_members import shipped

    if session.find(Look) is None:
        session.save(Look(Request(chosen, "x")))
    offered = {
        name: directory_model(name, name, Path(name), {}, 0, True) for name in ("bad", "good")
    }
    visits = [Look(Request(name, "x")) for name in before]
    messages = st.container()
    show_reported("en", messages)
    offered["reverse"] = shipped("reverse")
    member = offered[visit_state.current().request.model]
    ready = open_model(member, offered, visits, "en", messages)
    st.text(f"{visit_state.current().request.model} {ready}")


@pytest.fixture(autouse=True)
def one_bad_model(monkeypatch: pytest.MonkeyPatch) -> None:
    def open_directory(member: object) -> str:
        if Path(str(getattr(member, "path", ""))).name == "bad":
            raise ModelDirectoryError("no_weights", name="bad")
        return "model"

    monkeypatch.setattr(model_cache, "_open", open_directory)


def shown(chosen: str, *before: str) -> tuple[list[str], list[str]]:
    app = AppTest.from_function(page, args=(chosen, before)).run()
    assert not app.exception
    return [text.value for text in app.text], [error.value[:24] for error in app.error]


def test_a_model_that_opens_is_ready():
    assert shown("good") == (["good True"], [])
    assert shown("reverse") == (["reverse True"], [])


def test_one_that_does_not_open_gives_way_to_what_was_shown_before():
    assert shown("bad", "bad", "gone", "good") == (["good True"], ["The directory “bad” has "])


def test_without_anything_else_to_show_the_reason_stays():
    assert shown("bad", "bad") == (["bad False"], ["The directory “bad” has "])
