"""Language, rights and rate limit of a visitor."""

from urllib.parse import quote

import pytest
import streamlit as st
from streamlit.runtime.context import ContextProxy

from explorer.app.server import access, rate_limit
from explorer.app.server.key_attempts import FREE
from explorer.app.server.rate_limit import RateLimitError
from explorer.app.state import address_bar, session, visitor


@pytest.fixture(autouse=True)
def guest(monkeypatch) -> None:
    """A new session in class mode, whose allowance is not refilled."""
    monkeypatch.setattr(st, "session_state", {})
    monkeypatch.setenv(access.KEY_VARIABLE, "swordfish")
    monkeypatch.setattr(access, "COMPUTING_RATE", 0.0)
    monkeypatch.setattr(session, "session_id", lambda: "one tab")


@pytest.fixture
def clock(monkeypatch) -> list[float]:
    """The time of the processor in seconds."""
    now = [0.0]
    monkeypatch.setattr(rate_limit.time, "thread_time", lambda: now[0])
    return now


def allowed(times: int, clock: list[float], seconds: float = 1.0) -> int:
    """How many of so many computations, each of these seconds and in its own turn, are allowed."""
    count = 0
    for _ in range(times):
        with visitor.turn():
            try:
                rate_limit.refuse_over_limit()
            except RateLimitError:
                continue
            clock[0] += seconds
        count += 1
    return count


def test_a_reload_gives_new_computing_only_as_far_as_the_address_has_some(monkeypatch, clock):
    monkeypatch.setattr(access, "MOST_COMPUTING", 1.0)
    monkeypatch.setattr(rate_limit, "_VISITORS_PER_ADDRESS", 40)
    sessions = iter(range(10_000))
    monkeypatch.setattr(session, "session_id", lambda: str(next(sessions)))
    assert allowed(100, clock) == 40


def test_a_session_has_its_own_computing_behind_a_shared_address(monkeypatch, clock):
    monkeypatch.setattr(access, "MOST_COMPUTING", 2.0)
    assert allowed(3, clock) == 2
    monkeypatch.setattr(session, "session_id", lambda: "the neighbour's")
    assert allowed(1, clock) == 1


def test_what_costs_more_is_allowed_less_often(monkeypatch, clock):
    monkeypatch.setattr(access, "MOST_COMPUTING", 3.0)
    assert allowed(120, clock, seconds=0.25) == 12
    monkeypatch.setattr(session, "session_id", lambda: "the neighbour's")
    assert allowed(120, clock, seconds=1.5) == 2


def test_a_turn_that_was_begun_is_finished_and_charged_once(monkeypatch, clock):
    monkeypatch.setattr(access, "MOST_COMPUTING", 1.0)
    with visitor.turn():
        for _ in range(5):
            with visitor.turn():  # of a computation inside the run of a page
                rate_limit.refuse_over_limit()
                clock[0] += 0.15
    assert allowed(1, clock, seconds=0.3) == 1
    assert allowed(1, clock) == 0


def test_a_turn_without_a_computation_is_charged_and_never_refused(monkeypatch, clock):
    monkeypatch.setattr(access, "MOST_COMPUTING", 1.0)
    for _ in range(3):
        with visitor.turn():
            clock[0] += 1.0
    assert allowed(1, clock) == 0


def test_a_turn_that_fails_is_charged(monkeypatch, clock):
    monkeypatch.setattr(access, "MOST_COMPUTING", 1.0)

    @visitor.turn()
    def fail() -> None:
        clock[0] += 1.0
        raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"):
        fail()
    assert allowed(1, clock) == 0


def test_the_host_and_visitors_outside_class_mode_have_no_limit(monkeypatch, clock):
    monkeypatch.setattr(access, "MOST_COMPUTING", 0.0)
    assert allowed(1, clock) == 0
    visitor.show_key("swordfish")
    assert allowed(9, clock) == 9
    visitor.show_key("wrong")
    monkeypatch.delenv(access.KEY_VARIABLE)
    assert allowed(9, clock) == 9


def test_the_session_of_the_host_may_upload():
    visitor.show_key("wrong")
    assert (visitor.is_host(), access.is_host_session("one tab")) == (False, False)
    visitor.show_key("swordfish")
    assert (visitor.is_host(), access.is_host_session("one tab")) == (True, True)
    assert visitor.rights().change


def test_the_host_s_rights_survive_a_reload_by_the_cookie(monkeypatch):
    visitor.show_key("swordfish")
    assert access.take_ticket(visitor.host_ticket())
    monkeypatch.setattr(st, "session_state", {})  # the reload
    monkeypatch.setattr(session, "session_id", lambda: "the reloaded tab")
    assert not visitor.is_host()
    assert not access.is_host_session("the reloaded tab")
    cookies = {access.cookie_name(): access.cookie_value()}
    monkeypatch.setattr(ContextProxy, "cookies", cookies)
    assert visitor.is_host()
    assert access.is_host_session("the reloaded tab")
    assert visitor.rights().change
    visitor.show_key("wrong")
    assert visitor.is_host()
    monkeypatch.setenv(access.KEY_VARIABLE, "sunfish")  # a new server
    assert not visitor.is_host()


def test_after_wrong_keys_the_right_one_has_to_wait():
    for _ in range(FREE):
        visitor.show_key("wrong")
    assert visitor.key_wait() > 0
    visitor.show_key("swordfish")
    assert not visitor.is_host()
    assert visitor.host_ticket() == ""


def test_a_refused_request_is_explained_in_both_languages():
    error = RateLimitError("too_many_requests")
    assert "wait a few seconds" in str(error)
    assert "请稍等" in error.in_language("zh")


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


def loads(times: int, clock: list[float], seconds: float) -> int:
    """How many of so many page loads, each of these seconds, are admitted."""
    count = 0
    for _ in range(times):
        with visitor.page_load() as admitted:
            clock[0] += seconds if admitted else 0.0
        count += admitted
    return count


def test_an_address_loads_pages_until_its_allowance_is_used_up(monkeypatch, clock):
    monkeypatch.setattr(access, "PAGE_RATE", 0.0)
    assert loads(1_000, clock, seconds=0.25) == 4 * access.MOST_PAGES
    monkeypatch.setattr(ContextProxy, "ip_address", "192.0.2.2")
    assert loads(1, clock, seconds=0.25) == 1


def test_a_class_of_thirty_behind_one_address_never_meets_the_limit(monkeypatch, clock):
    """Every visitor reloads every five seconds for an hour; a load takes 80 ms of a processor."""
    now = [0.0]
    monkeypatch.setattr(rate_limit.time, "monotonic", lambda: now[0])
    for _ in range(720):
        assert loads(30, clock, seconds=0.08) == 30
        now[0] += 5


def test_downloads_are_charged_to_the_address_from_any_thread(monkeypatch, clock):
    monkeypatch.setattr(access, "PAGE_RATE", 0.0)

    def make() -> bytes:
        clock[0] += 1.0
        return b"file"

    download = visitor.limited_download(make, "en")
    monkeypatch.setattr(ContextProxy, "ip_address", None)  # Streamlit makes it outside the session
    made = [download() for _ in range(int(access.MOST_PAGES) + 1)]
    assert made.count(b"file") == access.MOST_PAGES
    assert b"wait a few seconds" in made[-1]


def test_outside_class_mode_and_for_the_host_pages_have_no_limit(monkeypatch, clock):
    monkeypatch.setattr(access, "PAGE_RATE", 0.0)
    monkeypatch.delenv(access.KEY_VARIABLE)
    assert loads(100, clock, seconds=1.0) == 100
