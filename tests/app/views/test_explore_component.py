"""Explore as a component, without a browser."""

import json

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from explorer.app import visitor_catalog
from explorer.app.state import session
from explorer.app.views import explore_component
from explorer.core.i18n import LANGUAGES
from explorer.core.look import Look, Request, Selection
from explorer.model.catalog import shipped_models
from tests.support.app_pages import FIRST, FIRST_TEXT, open_page, sent_to


@pytest.fixture(autouse=True)
def component(monkeypatch) -> None:
    monkeypatch.setenv("ATTENTION_EXPLORE", "1")


def sent(app: AppTest) -> dict:
    assert not app.exception
    return json.loads(sent_to(app, "explore"))


def test_the_page_sends_what_does_not_depend_on_the_text():
    data = sent(open_page())
    assert [model["name"] for model in data["models"]] == list(shipped_models())
    assert list(data["strings"]) == list(LANGUAGES)
    assert (data["language"], data["server"], data["kept"]) == ("en", "trace", "")
    assert sent(open_page(lang="zh"))["language"] == "zh"
    other = sent(open_page(text="1 2"))
    assert other.pop("visitor") != data.pop("visitor")
    assert other == data


def test_what_was_looked_at_is_kept_for_the_other_pages(monkeypatch):
    shown = {"explore": {"look": "model=reverse&text=1+2&step=2&ahead=0&layer=9x"}}
    monkeypatch.setattr(st, "session_state", shown)
    explore_component.take_look()
    look = Look(Request("reverse", "1 2"), Selection(step=2, ahead=False))
    assert session.load(Look) == look
    explore_component.keep_visit()
    kept = session.load(explore_component.KeptVisit).query
    assert kept == "model=reverse&text=1+2&pad=0&step=2&ahead=0"
    shown["explore"] = {"look": None}
    explore_component.take_look()
    assert session.load(Look).request == Request(FIRST, FIRST_TEXT)


def test_the_token_that_is_sent_names_the_visitor_s_uploads(monkeypatch):
    monkeypatch.setattr(st, "session_state", {})
    token = visitor_catalog.visitor_token()
    assert token == visitor_catalog.visitor_token()
    assert set(visitor_catalog.catalog_of(token)) >= set(shipped_models())
