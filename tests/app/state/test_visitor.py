"""The language of a visitor."""

from urllib.parse import quote

import pytest
import streamlit as st
from streamlit.runtime.context import ContextProxy

from explorer.app.state import address_bar, visitor


@pytest.fixture(autouse=True)
def new_session(monkeypatch) -> None:
    monkeypatch.setattr(st, "session_state", {})


def test_a_chosen_language_stays_and_an_unknown_one_is_ignored():
    assert visitor.chosen_language() == ""
    visitor.choose_language("zh")
    assert visitor.language() == "zh"
    visitor.choose_language("xx")
    assert visitor.language() == "en"


def test_the_language_of_an_earlier_visit_is_between_the_link_s_and_the_browser_s(monkeypatch):
    for name, remembered in ("简体中文", "zh"), ("English", "en"), ("Klingon", "zh"):
        cookies = {"explorer-language": quote(name)}
        monkeypatch.setattr(ContextProxy, "cookies", cookies)
        monkeypatch.setattr(ContextProxy, "locale", "zh-CN")
        assert visitor.language() == remembered
        assert visitor.chosen_language() == ""  # a bare address stays bare
    monkeypatch.setattr(address_bar, "linked_language", lambda: "en")
    assert visitor.language() == "en"
