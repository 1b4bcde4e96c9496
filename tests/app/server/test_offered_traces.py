import gc
import gzip

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.testclient import TestClient

from explorer.app.server import access, head_route, rate_limit
from explorer.app.server.offered_traces import Compute, OfferedTraces, computed
from explorer.app.server.rate_limit import RateLimiter
from explorer.core.errors import VocabularyError
from explorer.core.trace import Trace
from tests.support.example_traces import example_trace

OFFERED = OfferedTraces[Compute]()


def serve(request: Request) -> Response:
    return computed(request, OFFERED)


@pytest.fixture(scope="module")
def browser() -> TestClient:
    return TestClient(Starlette(routes=[Route("/{trace}", serve)]))


@pytest.fixture
def shown() -> Trace:
    return example_trace()


def text_of(trace: Trace) -> bytes:
    return gzip.compress(trace.text.encode())


def test_what_was_computed_of_the_trace_is_served(browser, shown):
    key = OFFERED.add("some", shown, text_of)
    assert key == head_route.trace_key("some")
    answer = browser.get(f"/{key}")
    assert answer.content == shown.text.encode()
    assert answer.headers["content-encoding"] == "gzip"
    assert answer.headers["cache-control"].startswith("private, max-age=")


def test_it_is_computed_when_it_is_asked_for_and_not_before(browser, shown):
    asked = []

    def compute(trace: Trace) -> bytes:
        asked.append(trace)
        return text_of(trace)

    key = OFFERED.add("later", shown, compute)
    assert not asked
    browser.get(f"/{key}")
    assert asked == [shown]


def test_what_cannot_be_computed_is_not_found(browser, shown):
    def refuse(trace: Trace) -> bytes:
        raise VocabularyError("long_source", got=9, limit=1)

    for compute in (refuse, lambda trace: None):
        answer = browser.get(f"/{OFFERED.add('refused', shown, compute)}")
        assert answer.status_code == 404
        assert answer.headers["cache-control"] == "no-store"
    assert browser.get("/" + "0" * 64).status_code == 404


def test_a_trace_is_offered_as_long_as_it_is_kept(browser):
    trace = example_trace()
    key = OFFERED.add("gone", trace, text_of)
    assert OFFERED.find(key) == (trace, text_of)
    del trace
    gc.collect()
    assert OFFERED.find(key) is None
    assert browser.get(f"/{key}").status_code == 404


def test_a_guest_over_the_limit_is_refused(browser, shown, monkeypatch):
    monkeypatch.setattr(access, "is_class_mode", lambda: True)
    monkeypatch.setattr(rate_limit, "_pages", RateLimiter(owners=4))
    monkeypatch.setattr(access, "MOST_PAGES", 0.0)
    key = OFFERED.add("class", shown, text_of)
    assert 429 in {browser.get(f"/{key}").status_code for _ in range(3)}
