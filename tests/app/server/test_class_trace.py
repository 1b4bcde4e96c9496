"""The host's trace for guests whose browsers cannot compute it."""

import gc

import pytest
from starlette.applications import Starlette
from starlette.routing import Route
from starlette.testclient import TestClient

from explorer.app.limited_cache import LimitedCache
from explorer.app.server import class_route, class_trace, trace_route
from explorer.app.server.class_session import ClassSession, Screen
from explorer.components.player.payload import player_payload
from tests.support.asked_models import AskedExplorable
from tests.support.example_traces import pieces_trace
from tests.support.payloads import unpack_payload


@pytest.fixture
def browser(monkeypatch) -> TestClient:
    monkeypatch.setattr(class_route, "session", ClassSession())
    monkeypatch.setattr(class_trace, "_payloads", LimitedCache(10**7))
    return TestClient(Starlette(routes=[Route(class_trace.PATH, class_trace.serve)]))


def show(key: str) -> str:
    """Let the host show the trace with this key; its address for guests."""
    class_route.session.show(Screen(view={"query": {}, "shown": {}, "trace": key}))
    return f"/class/trace/{key}"


def key_of(address: str) -> str:
    return address.removeprefix("trace/")


def test_the_trace_on_the_host_s_screen_is_sent_with_what_can_be_asked(browser, explorable):
    trace = explorable.trace("1 2 3")
    offer = trace_route.offer("shown", trace, AskedExplorable(explorable, "1 2 3"))
    answer = browser.get(show(key_of(offer.address)))
    assert answer.headers["content-encoding"] == "gzip"
    assert answer.headers["cache-control"].startswith("private, max-age=")
    assert answer.content == player_payload(trace, language=None, offer=offer)
    header, _ = unpack_payload(answer.content)
    assert header["resources"]["address"] == offer.address
    assert header["resources"]["names"] == list(offer.names)
    assert header["strings"] == {}  # guests' pages have them


def test_a_trace_without_a_model_is_sent_too(browser):
    trace = pieces_trace()
    answer = browser.get(show(key_of(trace_route.offer("upload", trace, None).address)))
    assert unpack_payload(answer.content)[0]["target"] == list(trace.target_tokens)


def test_no_other_trace_is_sent(browser, explorable):
    trace = explorable.trace("1 2 3")
    key = key_of(trace_route.offer("other", trace, None).address)
    assert browser.get(f"/class/trace/{key}").status_code == 404
    assert browser.get(show("f" * 64)).status_code == 404  # no longer there
    assert browser.get(f"/class/trace/{key}").status_code == 404
    assert browser.get(show(key)).status_code == 200
    refused = browser.get(f"/class/trace/{'0' * 64}")
    assert refused.status_code == 404
    assert refused.headers["cache-control"] == "no-store"


def test_the_payload_is_made_once_and_outlives_the_trace(browser, explorable, monkeypatch):
    trace = explorable.trace("1 2 3")
    address = show(key_of(trace_route.offer("once", trace, None).address))
    first = browser.get(address).content
    monkeypatch.setattr(class_trace, "player_payload", None)
    del trace
    gc.collect()
    assert browser.get(address).content == first
