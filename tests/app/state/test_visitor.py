"""Language, rights and rate limit of a visitor."""

import pytest
import streamlit as st

from explorer.app.server import access
from explorer.app.server.rate_limit import RateLimiter
from explorer.app.state import session, visitor
from explorer.app.state.visitor import RateLimitError


@pytest.fixture(autouse=True)
def guest(monkeypatch) -> None:
    """A new session in class mode; nobody has sent a request."""
    monkeypatch.setattr(st, "session_state", {})
    monkeypatch.setenv(access.KEY_VARIABLE, "swordfish")
    monkeypatch.setattr(access, "_hosts", set())
    monkeypatch.setattr(access, "REQUESTS_A_SECOND", 0.0)
    monkeypatch.setattr(visitor, "_limiter", RateLimiter(owners=99))
    monkeypatch.setattr(session, "session_id", lambda: "one tab")


def allowed(times: int) -> int:
    """How many of so many requests are allowed."""
    count = 0
    for _ in range(times):
        try:
            visitor.spend_request()
        except RateLimitError:
            continue
        count += 1
    return count


def test_a_reload_gives_new_requests_only_as_far_as_the_address_has_some(monkeypatch):
    monkeypatch.setattr(access, "MOST_REQUESTS", 1.0)
    sessions = iter(range(1000))
    monkeypatch.setattr(session, "session_id", lambda: str(next(sessions)))
    assert allowed(100) == 40


def test_a_session_has_its_own_requests_behind_a_shared_address(monkeypatch):
    monkeypatch.setattr(access, "MOST_REQUESTS", 2.0)
    assert allowed(3) == 2
    monkeypatch.setattr(session, "session_id", lambda: "the neighbour's")
    assert allowed(1) == 1


def test_the_host_and_visitors_outside_class_mode_have_no_limit(monkeypatch):
    monkeypatch.setattr(access, "MOST_REQUESTS", 0.0)
    assert allowed(1) == 0
    visitor.show_key("swordfish")
    assert allowed(9) == 9
    visitor.show_key("wrong")
    monkeypatch.delenv(access.KEY_VARIABLE)
    assert allowed(9) == 9


def test_the_session_of_the_host_may_upload():
    visitor.show_key("wrong")
    assert (visitor.is_host(), access.is_host_session("one tab")) == (False, False)
    visitor.show_key("swordfish")
    assert (visitor.is_host(), access.is_host_session("one tab")) == (True, True)
    assert visitor.rights().change


def test_a_refused_request_is_told_in_both_languages():
    error = RateLimitError("too_many_requests")
    assert "wait a few seconds" in str(error)
    assert "请稍等" in error.in_language("zh")


def test_a_chosen_language_stays_and_an_unknown_one_is_ignored():
    assert visitor.chosen_language() == ""
    visitor.choose_language("zh")
    assert visitor.language() == "zh"
    visitor.choose_language("xx")
    assert visitor.language() == "en"
