import gc
import gzip
from dataclasses import replace

import pytest
from starlette.applications import Starlette
from starlette.routing import Route
from starlette.testclient import TestClient

from explorer.app.server import access, head_route, inside_route, rate_limit
from explorer.app.server.rate_limit import RateLimiter
from explorer.components.inside.head_vectors import head_vectors
from explorer.components.inside.omission import omission
from explorer.components.inside.token_path import token_path
from explorer.core.errors import TraceSizeError
from explorer.core.trace import Trace
from tests.support.example_traces import example_trace


@pytest.fixture(scope="module")
def browser() -> TestClient:
    of_head = Route(inside_route.HEAD_PATH, inside_route.serve_vectors)
    of_layer = Route(inside_route.LAYER_PATH, inside_route.serve_token_path)
    of_part = Route(inside_route.OMISSION_PATH, inside_route.serve_omission)
    return TestClient(Starlette(routes=[of_head, of_layer, of_part]))


@pytest.fixture
def shown(explorable) -> Trace:
    return explorable.trace("1 2 3")


@pytest.fixture
def capture(explorable):
    def capture(site: str, layer: int, without: tuple[str, ...] = ()) -> Trace:
        chosen = {"sites": [site], "layers": [layer], "without": without}
        return explorable.trace("1 2 3", capture="full", **chosen)

    return capture


def test_the_vectors_of_a_head_are_those_of_its_layer(browser, shown, capture):
    address = inside_route.offer("some", shown, capture)
    for site, layer, head in [("encoder", 0, 2), ("decoder", 1, 0), ("cross", 1, 2)]:
        answer = browser.get(f"/{address}/{site}/{layer}/{head}")
        assert answer.headers["content-encoding"] == "gzip"
        assert answer.headers["cache-control"].startswith("private, max-age=")
        expected = head_vectors(capture(site, layer), site, 0, head)
        assert answer.content == gzip.decompress(expected)


def test_the_path_of_a_token_is_that_of_its_layer(browser, shown, capture):
    address = inside_route.offer("some", shown, capture)
    for site, layer in [("encoder", 0), ("decoder", 1), ("cross", 0)]:
        answer = browser.get(f"/{address}/{site}/{layer}")
        assert answer.content == gzip.decompress(token_path(capture(site, layer), site))
    for wrong in ("cross/2", "cross/-1", "other/0"):
        assert browser.get(f"/{address}/{wrong}").status_code == 404


def test_a_head_without_a_part_of_the_model_is_served(browser, shown, capture):
    address = inside_route.offer("some", shown, capture)
    answer = browser.get(f"/{address}/decoder/1/2/without/mask")
    expected = omission(capture("decoder", 1, ("mask",)), "decoder", 2)
    assert answer.content == gzip.decompress(expected)
    for wrong in ("decoder/1/2/without/norm", "decoder/1/9/without/mask"):
        assert browser.get(f"/{address}/{wrong}").status_code == 404


def test_a_model_of_the_library_has_no_path(browser, shown, capture):
    trace = replace(shown, facts={**shown.facts, "family": "bert"}, digest="")
    address = inside_route.offer("library", trace, capture)
    assert browser.get(f"/{address}/cross/0").status_code == 404
    assert browser.get(f"/{address}/cross/0/0").status_code == 200


def test_the_address_is_that_of_the_weights(shown, capture):
    name = ("stamp", "text")
    address = inside_route.offer(name, shown, capture)
    assert address.split("/")[1] == head_route.offer(name, shown).split("/")[1]


@pytest.mark.parametrize(
    "path",
    ["cross/2/0", "cross/0/3", "cross/-1/0", "cross/0/９", "other/0/0", "cross/0/" + "9" * 99],
)
def test_anything_else_is_not_found(browser, shown, capture, path):
    address = inside_route.offer("some", shown, capture)
    assert browser.get(f"/{address}/{path}").status_code == 404


def test_what_cannot_be_captured_is_not_found(browser, shown):
    def too_large(site: str, layer: int, without: tuple[str, ...] = ()) -> Trace:
        raise TraceSizeError("layer_too_large", needed="9", limit="1", count=1)

    for capture in (too_large, lambda site, layer, without=(): None):
        address = inside_route.offer("refused", shown, capture)
        assert browser.get(f"/{address}/cross/0/0").status_code == 404


def test_a_trace_is_offered_as_long_as_it_is_kept(browser, capture):
    trace = example_trace()
    address = inside_route.offer("gone", trace, capture)
    assert inside_route._offered.find(address.split("/")[1]) == (trace, capture)
    del trace
    gc.collect()
    assert browser.get(f"/{address}/cross/0/0").status_code == 404


def test_a_guest_over_the_limit_is_refused(browser, shown, capture, monkeypatch):
    monkeypatch.setattr(access, "is_class_mode", lambda: True)
    monkeypatch.setattr(rate_limit, "_pages", RateLimiter(owners=4))
    monkeypatch.setattr(access, "MOST_PAGES", 0.0)
    address = inside_route.offer("class", shown, capture)
    answers = {browser.get(f"/{address}/cross/0/0").status_code for _ in range(3)}
    assert 429 in answers
