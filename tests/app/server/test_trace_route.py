import asyncio
import gc
import threading

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.testclient import TestClient
from starlette.types import Message

from explorer.app.limited_cache import LimitedCache
from explorer.app.server import access, paths, rate_limit, trace_route
from explorer.app.server.rate_limit import RateLimiter
from explorer.components.trace_questions import TRACE_QUESTIONS
from explorer.core.errors import TraceSizeError
from explorer.core.trace import Trace
from explorer.core.verbs import OMISSIONS
from tests.support.asked_models import AskedExplorable
from tests.support.example_traces import pieces_trace, random_trace
from tests.support.own_loop import run_alone

PLACES = (
    "vectors/encoder/0/2",
    "path/decoder/1",
    "without/decoder/1/2/mask",
    "contributions/rollout",
    "attribution/",
    "score/cross/1/2",
)
HEAD = "head/pieces/cross/0/0"
THREADS = 40  # that a server has for all requests


@pytest.fixture(autouse=True)
def nothing_answered(monkeypatch) -> None:
    monkeypatch.setattr(trace_route, "_answers", LimitedCache(10**7))


@pytest.fixture(scope="module")
def browser() -> TestClient:
    return TestClient(Starlette(routes=[Route(paths.QUESTION, trace_route.serve)]))


@pytest.fixture
def shown(explorable) -> Trace:
    return explorable.trace("1 2 3")


@pytest.fixture
def model(explorable) -> AskedExplorable:
    return AskedExplorable(explorable, "1 2 3")


@pytest.mark.parametrize("place", PLACES)
def test_an_answer_is_served_compressed_and_cached_by_its_visitor_alone(
    browser, shown, model, place
):
    address = trace_route.offer("some", shown, model).address
    answer = browser.get(f"/{address}/{place}")
    assert answer.status_code == 200
    assert answer.headers["content-encoding"] == "gzip"
    assert answer.headers["cache-control"].startswith("private, max-age=")
    name, _, text = place.partition("/")
    question = TRACE_QUESTIONS[name]
    assert answer.content == question.answer(shown, model, question.place(text, shown))


def test_a_large_trace_is_served_in_parts_without_its_model(browser, monkeypatch):
    monkeypatch.setattr("explorer.components.player.weights.MOST_WEIGHTS", 0)
    trace = pieces_trace()
    offered = trace_route.offer("large", trace, None)
    assert (offered.names, offered.methods) == (("head", "pictures", "integrity"), ())
    for name, place in (
        ("head", "pieces/cross/0/1"),
        ("head", "words/cross/0/mean"),
        ("pictures", "pieces/decoder/0-4.0-4"),
        ("pictures", "words/cross/1-2.0-3"),
        ("integrity", ""),
    ):
        answer = browser.get(f"/{offered.address}/{name}/{place}")
        question = TRACE_QUESTIONS[name]
        assert answer.content == question.answer(trace, None, question.place(place, trace))
    assert browser.get(f"/{offered.address}/pictures/words/cross/1-2.0-5").status_code == 404


def test_the_same_text_has_one_address_that_cannot_be_guessed(monkeypatch):
    trace, name = pieces_trace(), ("stamp", "text")
    address = trace_route.offer(name, trace, None).address
    assert trace_route.offer(name, pieces_trace(), None).address == address
    assert trace_route.offer(("stamp", "other"), trace, None).address != address
    assert len(address.removeprefix("trace/")) == 64
    monkeypatch.setattr(trace_route, "_SECRET", b"another server")
    assert trace_route.offer(name, trace, None).address != address


def test_an_answer_is_computed_when_it_is_asked_for_and_once(browser, shown, model):
    address = trace_route.offer("later", shown, model).address
    assert model.asked == 0
    first = browser.get(f"/{address}/contributions/alti")
    again = trace_route.offer("later", shown, model).address  # as when the page is drawn anew
    assert browser.get(f"/{again}/contributions/alti").content == first.content
    assert model.asked == 1
    browser.get(f"/{address}/contributions/rollout")
    assert model.asked == 2


@pytest.mark.parametrize(
    "path",
    [
        "vectors/cross/2/0",
        "vectors/cross/0/９",
        "vectors/../0/0",
        "vectors/cross/0",
        "head/pieces/cross/0/0",  # of a small trace
        "contributions/gradient",
        "attribution",
        "other/cross/0/0",
        "",
    ],
)
def test_anything_else_is_not_found(browser, shown, model, path):
    address = trace_route.offer("some", shown, model).address
    answer = browser.get(f"/{address}/{path}", follow_redirects=False)
    assert answer.status_code in (307, 404)  # 307: to the place of "attribution"
    if answer.status_code == 307:
        assert path == "attribution"
        return
    assert browser.get(f"/trace/{'0' * 64}/vectors/cross/0/0").status_code == 404


def test_what_cannot_be_computed_is_not_found_and_asked_again(browser, shown, model, monkeypatch):
    def too_large(*_: object) -> Trace:
        raise TraceSizeError("layer_too_large", needed="9", limit="1", count=1)

    address = trace_route.offer("refused", shown, model).address
    with monkeypatch.context() as patch:
        patch.setattr(model, "layer", too_large)
        answer = browser.get(f"/{address}/vectors/cross/0/0")
        assert answer.status_code == 404
        assert answer.headers["cache-control"] == "no-store"
    assert browser.get(f"/{address}/vectors/cross/0/0").status_code == 200


@pytest.mark.parametrize(("language", "said"), [("en", "at most 3 tokens"), ("zh", "3 个词元")])
def test_what_the_model_does_not_allow_is_said_in_the_language_of_the_page(
    browser, shown, model, monkeypatch, language, said
):
    most = "explorer.heads.contributions.layer_contributions.MOST_LEFT_OUT"
    monkeypatch.setattr(most, 3)
    address = trace_route.offer("too long", shown, model).address
    headers = {"Accept-Language": language}
    answer = browser.get(f"/{address}/contributions/leave_one_out", headers=headers)
    assert answer.status_code == 422
    assert said in answer.text
    assert answer.headers["cache-control"] == "no-store"


def test_a_trace_is_offered_as_long_as_it_is_kept(browser, explorable, model):
    trace = explorable.trace("1 2 3")
    address = trace_route.offer("gone", trace, model).address
    assert browser.get(f"/{address}/path/cross/0").status_code == 200
    del trace
    gc.collect()
    assert browser.get(f"/{address}/path/cross/0").status_code == 404


def test_in_class_mode_an_address_has_an_allowance(browser, shown, model, monkeypatch):
    monkeypatch.setenv(access.KEY_VARIABLE, "swordfish")
    monkeypatch.setattr(rate_limit, "_pages", RateLimiter(owners=9))
    address = trace_route.offer("class", shown, model).address
    assert browser.get(f"/{address}/path/cross/0").status_code == 200
    monkeypatch.setattr(rate_limit, "MOST_PAGES", 0.0)
    refused = browser.get(f"/{address}/path/cross/0")
    assert refused.status_code == 429
    assert refused.headers["cache-control"] == "no-store"
    monkeypatch.delenv(access.KEY_VARIABLE)
    assert browser.get(f"/{address}/path/cross/0").status_code == 200


class BlockedModel(AskedExplorable):
    """Layers are captured when `free` is set; `computing` counts those that wait for it."""

    def __init__(self, *arguments: object) -> None:
        super().__init__(*arguments)
        self.free, self.computing = threading.Event(), 0

    def layer(self, site: str, layer: int, without: tuple[str, ...] = ()) -> Trace:
        self.computing += 1
        assert self.free.wait(60)
        return super().layer(site, layer, without)


def test_nothing_else_waits_for_what_is_computed(explorable, monkeypatch):
    """More answers are asked for than the server has threads, none of which comes: another route,
    the weights of a head and an answer that is known come all the same."""
    monkeypatch.setattr(trace_route, "_computing", asyncio.Semaphore(trace_route.MOST_COMPUTING))
    shown, large = explorable.trace("1 2 3"), random_trace(160, 160, 4, 8)
    model = BlockedModel(explorable, "1 2 3")
    address = trace_route.offer("blocked", shown, model).address
    heads = trace_route.offer("large", large, None).address

    def page(_: Request) -> Response:  # in a thread, as all that is no coroutine
        return Response("a page")

    app = Starlette(routes=[Route(paths.QUESTION, trace_route.serve), Route("/page", page)])
    places = [f"without/cross/{n % 2}/{n % 3}/{part}" for n in range(6) for part in OMISSIONS]
    places += [f"vectors/cross/{n % 2}/{n % 3}" for n in range(6)]

    async def ask() -> None:
        await status(app, f"/{address}/contributions/alti")
        asked = [
            asyncio.create_task(status(app, f"/{address}/{place}"))
            for place in places * (THREADS // len(places) + 2)
        ]
        assert len(asked) > THREADS
        try:
            while model.computing < trace_route.MOST_COMPUTING:
                await asyncio.sleep(0.01)
            for path in ("/page", f"/{address}/contributions/alti", f"/{heads}/{HEAD}"):
                assert await asyncio.wait_for(status(app, path), 30) == 200
            assert not any(one.done() for one in asked)
            assert model.computing == trace_route.MOST_COMPUTING
        finally:
            model.free.set()
        assert set(await asyncio.gather(*asked)) == {200}

    run_alone(ask())


def test_in_class_mode_others_wait_for_one_answer_of_an_address_at_most(explorable, monkeypatch):
    """And none is computed for a browser that is gone."""
    monkeypatch.setenv(access.KEY_VARIABLE, "swordfish")
    monkeypatch.setattr(trace_route, "_computing", asyncio.Semaphore(trace_route.MOST_COMPUTING))
    shown, model = explorable.trace("1 2 3"), BlockedModel(explorable, "1 2 3")
    address = trace_route.offer("turns", shown, model).address
    app = Starlette(routes=[Route(paths.QUESTION, trace_route.serve)])
    of_one = [f"/{address}/vectors/{site}/0/{n}" for site in ("encoder", "cross") for n in range(3)]

    async def ask() -> None:
        first = [asyncio.create_task(status(app, path, "192.0.2.1")) for path in of_one[:5]]
        gone = asyncio.create_task(status(app, of_one[5], "192.0.2.1", "http.disconnect"))
        while model.computing < 1:
            await asyncio.sleep(0.01)
        other = asyncio.create_task(status(app, f"/{address}/vectors/decoder/0/0", "192.0.2.2"))
        while model.computing < 2:
            await asyncio.sleep(0.01)
        assert not any(one.done() for one in (*first, gone, other))
        model.free.set()
        assert await asyncio.gather(*first, other, gone) == [200] * 6 + [404]

    run_alone(ask())


async def status(app: Starlette, path: str, client: str = "", then: str = "http.request") -> int:
    """The status of an answer, without a client that has a thread and a loop of its own.

    client: the network address. then: what the browser does after its request.
    """
    found: list[int] = []

    async def receive() -> Message:
        return {"type": then}

    async def send(message: Message) -> None:
        found.append(message.get("status", 0))

    scope = {"type": "http", "method": "GET", "path": path, "query_string": b"", "headers": []}
    scope["client"] = (client, 1) if client else None
    await app(scope, receive, send)
    return found[0]
