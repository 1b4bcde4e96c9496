import gc
import gzip

import pytest
from starlette.applications import Starlette
from starlette.routing import Route
from starlette.testclient import TestClient

from explorer.app.server import access, contributions_route, head_route, page_limit
from explorer.app.server.rate_limit import RateLimiter
from explorer.core.errors import VocabularyError
from explorer.core.trace import Trace
from tests.support.example_traces import example_trace


@pytest.fixture(scope="module")
def browser() -> TestClient:
    route = Route(contributions_route.PATH, contributions_route.serve_contributions)
    return TestClient(Starlette(routes=[route]))


@pytest.fixture
def shown() -> Trace:
    return example_trace()


def computed(trace: Trace) -> bytes:
    return gzip.compress(trace.text.encode())


def test_what_was_computed_of_the_trace_is_served(browser, shown):
    address = contributions_route.offer("some", shown, computed)
    assert address.split("/")[1] == head_route.offer("some", shown).split("/")[1]
    answer = browser.get(f"/{address}")
    assert answer.content == shown.text.encode()
    assert answer.headers["content-encoding"] == "gzip"
    assert answer.headers["cache-control"].startswith("private, max-age=")


def test_it_is_computed_when_it_is_asked_for_and_not_before(browser, shown):
    asked = []

    def compute(trace: Trace) -> bytes:
        asked.append(trace)
        return computed(trace)

    address = contributions_route.offer("later", shown, compute)
    assert not asked
    browser.get(f"/{address}")
    assert asked == [shown]


def test_what_cannot_be_computed_is_not_found(browser, shown):
    def refused(trace: Trace) -> bytes:
        raise VocabularyError("long_source", got=9, limit=1)

    for compute in (refused, lambda trace: None):
        address = contributions_route.offer("refused", shown, compute)
        answer = browser.get(f"/{address}")
        assert answer.status_code == 404
        assert answer.headers["cache-control"] == "no-store"
    assert browser.get("/contributions/" + "0" * 64).status_code == 404


def test_a_trace_is_offered_as_long_as_it_is_kept(browser):
    trace = example_trace()
    address = contributions_route.offer("gone", trace, computed)
    del trace
    gc.collect()
    assert browser.get(f"/{address}").status_code == 404


def test_a_guest_over_the_limit_is_refused(browser, shown, monkeypatch):
    monkeypatch.setattr(access, "is_class_mode", lambda: True)
    monkeypatch.setattr(page_limit, "_pages", RateLimiter(owners=4))
    monkeypatch.setattr(access, "MOST_PAGES", 0.0)
    address = contributions_route.offer("class", shown, computed)
    assert 429 in {browser.get(f"/{address}").status_code for _ in range(3)}
