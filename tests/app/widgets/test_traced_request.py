"""The request that a page of the visit shows, if the wanted one is refused."""

import pytest
from streamlit.testing.v1 import AppTest

from explorer.app import model_cache
from explorer.core.errors import ModelDirectoryError
from explorer.core.look import Request
from explorer.core.trace import Trace
from explorer.model.catalog import CatalogMember


def page(wanted: "Request", on_screen: "Request", language: str) -> None:
    """A page that names what it shows."""
    import streamlit as st

    from explorer.app.widgets.visit_page import traced_request
    from explorer.model.catalog import shipped_models

    member, messages = shipped_models()[wanted.model], st.container()
    found = traced_request(member, wanted, on_screen, language, messages)
    one = found[0] if found else None
    st.text(f"{one.model}|{one.text}|{one.pad}|{one.forced}" if one else "None")


def shown(
    wanted: Request, on_screen: Request | None = None, language: str = "en"
) -> tuple[str, list[str]]:
    """What is shown of the model, text|padding|forced tokens, and what is said."""
    arguments = (wanted, on_screen or wanted, language)
    app = AppTest.from_function(page, args=arguments, default_timeout=60).run()
    assert not app.exception
    return app.text[0].value, [error.value.replace("\\", "") for error in app.error]


def test_what_the_model_takes_is_shown_without_a_word():
    assert shown(Request("copy", "1 2")) == ("copy|1 2|0|()", [])


@pytest.mark.parametrize(
    ("on_screen", "text"),
    [
        (None, "7 3 9 1 4"),
        (Request("reverse", "3 2 1"), "7 3 9 1 4"),
        (Request("copy", "1 , 2"), "7 3 9 1 4"),
        (Request("copy", "1 2"), "1 2"),
    ],
)
def test_a_refused_text_gives_way_to_another_of_the_same_model_which_is_named(on_screen, text):
    found, (told,) = shown(Request("copy", "7,3"), on_screen)
    assert found == f"copy|{text}|0|()"
    assert told.startswith("“7,3” is not a symbol")
    assert told.endswith(f"On screen: “{text}”, with the model “copy”.")


def test_another_padding_is_named():
    _, (told,) = shown(Request("copy", "7,3", pad=2), Request("copy", "1 2", pad=3))
    assert told.endswith("On screen: “1 2” (Pad +3), with the model “copy”.")
    _, (told,) = shown(Request("copy", "7,3"), language="zh")
    assert told.endswith("目前显示的是“7 3 9 1 4”，模型为“copy”。")


def test_of_a_refused_token_the_text_stays_and_need_not_be_named():
    wanted = Request("copy", "1 2", forced=((1, 5), (9, 5)))
    on_screen = Request("copy", "1 2", forced=((1, 5),))
    reason = "Step 9 cannot be forced: decoding ended at step 3."
    assert shown(wanted, on_screen) == ("copy|1 2|0|((1, 5),)", [reason])
    assert shown(wanted) == ("copy|1 2|0|()", [reason])


def test_a_model_that_refuses_everything_shows_nothing(monkeypatch):
    def refuse(member: CatalogMember, request: Request) -> Trace:
        raise ModelDirectoryError("no_weights", name=member.name)

    monkeypatch.setattr(model_cache, "trace", refuse)
    found, (told,) = shown(Request("copy", "7 3"), Request("reverse", "3 2 1"))
    assert found == "None"
    assert "“copy”" in told
    assert "On screen" not in told
