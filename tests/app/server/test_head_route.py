import gc
import gzip

import pytest
from starlette.applications import Starlette
from starlette.routing import Route
from starlette.testclient import TestClient

from explorer.app.server import access, head_route, rate_limit
from explorer.app.server.rate_limit import RateLimiter
from explorer.components.player.heads import HeadAddress, head_payload
from tests.support.example_traces import example_trace, pieces_trace


@pytest.fixture(scope="module")
def browser() -> TestClient:
    return TestClient(Starlette(routes=[Route(head_route.PATH, head_route.serve_head)]))


@pytest.fixture
def trace():
    return pieces_trace()


def test_a_head_is_served_compressed_and_cached_by_its_visitor_alone(browser, trace):
    address = head_route.offer(("stamp", "text"), trace)
    for unit, head in [("pieces", 1), ("words", None)]:
        name = HeadAddress(unit, "cross", 0, head)
        answer = browser.get(f"/{address}/{name}")
        assert answer.status_code == 200
        assert answer.headers["content-encoding"] == "gzip"
        assert answer.headers["cache-control"].startswith("private, max-age=")
        assert answer.content == gzip.decompress(head_payload(trace, name))


def test_the_same_text_has_one_address_that_cannot_be_guessed(trace, monkeypatch):
    address = head_route.offer(("stamp", "text"), trace)
    assert head_route.offer(("stamp", "text"), pieces_trace()) == address
    assert head_route.offer(("stamp", "other"), trace) != address
    assert len(address.removeprefix("weights/")) == 64
    monkeypatch.setattr(head_route, "_SECRET", b"another server")
    assert head_route.offer(("stamp", "text"), trace) != address


@pytest.mark.parametrize(
    "path",
    [
        "pieces/cross/1/0",
        "pieces/cross/0/2",
        "pieces/cross/-1/0",
        "pieces/cross/0/９",
        "pieces/cross/0/99999",
        "pieces/cross/0/" + "9" * 5_000,
        "pieces/other/0/0",
        "parts/cross/0/0",
        "pieces/../0/0",
    ],
)
def test_anything_else_is_not_found(browser, trace, path):
    address = head_route.offer("some", trace)
    assert browser.get(f"/{address}/{path}").status_code == 404


def test_a_trace_that_no_cache_has_any_more_is_not_found(browser):
    address = head_route.offer("gone", example_trace())
    gc.collect()
    assert browser.get(f"/{address}/pieces/cross/0/0").status_code == 404
    assert browser.get(f"/weights/{'0' * 64}/pieces/cross/0/0").status_code == 404


def test_in_class_mode_an_address_has_an_allowance(browser, trace, monkeypatch):
    monkeypatch.setenv(access.KEY_VARIABLE, "swordfish")
    monkeypatch.setattr(rate_limit, "_pages", RateLimiter(owners=9))
    address = head_route.offer("class", trace)
    assert browser.get(f"/{address}/pieces/cross/0/0").status_code == 200
    monkeypatch.setattr(access, "MOST_PAGES", 0.0)
    refused = browser.get(f"/{address}/pieces/cross/0/0")
    assert refused.status_code == 429
    monkeypatch.delenv(access.KEY_VARIABLE)
    assert browser.get(f"/{address}/pieces/cross/0/0").status_code == 200
