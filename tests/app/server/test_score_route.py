import gzip

import pytest
from starlette.applications import Starlette
from starlette.routing import Route
from starlette.testclient import TestClient

from explorer.app.server import head_route, score_route
from explorer.core.errors import TraceError
from explorer.core.sites import Head
from explorer.core.trace import Trace
from tests.support.example_traces import example_trace


def split(trace: Trace, head: Head) -> bytes:
    if head.layer > 1:
        raise TraceError("no_such_head", head=head, site=head.site, layers=2, heads=4)
    return gzip.compress(str(head).encode())


@pytest.fixture(scope="module")
def browser() -> TestClient:
    return TestClient(Starlette(routes=[Route(score_route.PATH, score_route.serve_score)]))


def test_the_scores_of_the_head_that_a_url_names_are_served(browser):
    shown = example_trace()
    address = score_route.offer("some", shown, split)
    assert address.split("/")[1] == head_route.offer("some", shown).split("/")[1]
    assert browser.get(f"/{address}/cross/1/3").content == b"cross.1.3"
    for wrong in ("cross/2/0", "cross/-1/0", "cross/1/x", "other/0/0"):
        assert browser.get(f"/{address}/{wrong}").status_code == 404
    assert browser.get(f"/score/{'0' * 64}/cross/0/0").status_code == 404
