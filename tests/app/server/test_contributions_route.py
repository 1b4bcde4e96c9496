import gzip

from starlette.applications import Starlette
from starlette.routing import Route
from starlette.testclient import TestClient

from explorer.app.server import contributions_route, head_route
from tests.support.example_traces import example_trace


def test_it_serves_what_is_computed_of_a_trace_by_method_at_the_key_of_its_weights():
    route = Route(contributions_route.PATH, contributions_route.serve_contributions)
    browser, shown = TestClient(Starlette(routes=[route])), example_trace()
    address = contributions_route.offer(
        "some", shown, lambda trace, method: gzip.compress(method.encode())
    )
    assert address.split("/")[1] == head_route.offer("some", shown).split("/")[1]
    assert browser.get(f"/{address}/rollout").content == b"rollout"
    assert browser.get(f"/{address}/gradient").status_code == 404
    assert browser.get("/contributions/" + "0" * 64 + "/rollout").status_code == 404
