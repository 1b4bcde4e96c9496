"""The routes of a class: streams, the host's screen, votes and the code."""

import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator
from http.cookies import SimpleCookie
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.testclient import TestClient

from explorer.app import asgi
from explorer.app.server import access, class_route, class_session, guest_limits
from explorer.app.server.class_session import ClassSession, Seat
from explorer.app.server.class_streams import Pulse
from explorer.app.server.rate_limit import RateLimiter
from tests.support.own_loop import run_alone

VIEW = {"query": {"model": "reverse", "text": "1 2", "pad": "2", "step": "2"}}
QUESTION = {"tokens": ["<bos>"], "candidates": ["1", "2"], "answer": None}
CURVE = {"training": "k3", "task": "reverse", "causal": True, "seed": 7}
CURVE |= {"points": [[25, 0.1]], "gold": [[0.2, 0.3]], "finished": True}


@pytest.fixture
def session(monkeypatch) -> ClassSession:
    fresh = ClassSession()
    monkeypatch.setattr(class_route, "session", fresh)
    monkeypatch.setattr(class_route, "pulse", Pulse())
    monkeypatch.setattr(class_route, "_votes", RateLimiter(owners=8))
    monkeypatch.setattr(class_route, "_curves", RateLimiter(owners=8))
    monkeypatch.setattr(class_route, "_openings", RateLimiter(owners=8))
    return fresh


@pytest.fixture
def guest(session, monkeypatch) -> Iterator[TestClient]:
    """A browser in class mode, which has no cookies yet."""
    monkeypatch.setenv(access.KEY_VARIABLE, "swordfish")
    streams = [Middleware(class_route.EventStreams)]
    with TestClient(Starlette(routes=class_route.routes(""), middleware=streams)) as client:
        yield client


@pytest.fixture
def host(guest) -> TestClient:
    client = TestClient(guest.app)
    client.cookies.set(access.cookie_name(), access.cookie_value())
    return client


def sit(session: ClassSession, client: TestClient) -> Seat:
    """Open a stream in the name of a browser."""
    seat = Seat(session.admit(""), "testclient", False)
    session.join(seat)
    client.cookies.set(class_route._guest_cookie(), seat.guest)
    return seat


def told(session: ClassSession, seat: Seat) -> dict[str, Any]:
    """What the page of a stream is told now."""
    return json.loads(session.message(seat))


def test_outside_of_class_mode_there_are_no_routes(monkeypatch):
    monkeypatch.delenv(access.KEY_VARIABLE, raising=False)
    assert not any("/class" in route.path for route in asgi.routes())
    monkeypatch.setenv(access.KEY_VARIABLE, "swordfish")
    assert sum("/class/" in route.path for route in asgi.routes()) == 7


@pytest.mark.parametrize("base", ["", "/attention"])
def test_streams_are_opened_below_the_path_of_the_app(base, session):
    """Anything else is left to the app, which has no such page."""
    app = Starlette(middleware=[Middleware(class_route.EventStreams, base=base)])
    with TestClient(app) as client:
        assert client.get(f"{base}/class/events?page=%3C").status_code == 400
        assert client.post(f"{base}/class/events").status_code == 404
        assert client.get(f"/x{base}/class/events").status_code == 404


def test_only_the_host_publishes(guest, host, session):
    assert guest.post("/class/screen", json={"view": VIEW}).status_code == 403
    guest.cookies.set(access.cookie_name(), "guessed")
    assert guest.post("/class/screen", json={"view": VIEW}).status_code == 403
    seat = sit(session, guest)
    assert told(session, seat)["view"] is None
    assert host.post("/class/screen", json={"view": VIEW}).status_code == 204
    view = told(session, seat)["view"]
    assert view["query"] == VIEW["query"]
    assert view["query"]["step"] == "2"


def test_a_vote_counts_once_there_is_a_question_and_a_stream(guest, host, session):
    vote = {"number": 1, "choice": 1}
    assert guest.post("/class/vote", json=vote).status_code == 409
    assert host.post("/class/screen", json={"question": QUESTION}).status_code == 204
    assert guest.post("/class/vote", json=vote).status_code == 409
    seat = sit(session, guest)
    assert guest.post("/class/vote", json=vote).status_code == 204
    assert told(session, seat)["question"]["choice"] == 1
    assert guest.post("/class/vote", json={"number": 1, "choice": 2}).status_code == 409


def test_nothing_is_remembered_of_words_that_this_server_did_not_make(host, session, monkeypatch):
    monkeypatch.setattr(class_route, "_votes", limiter := RateLimiter(owners=9))
    host.post("/class/screen", json={"question": QUESTION})
    for word in ("", "mallory", "x" * 4000):
        host.cookies.set(class_route._guest_cookie(), word)
        assert host.post("/class/vote", json={"number": 1, "choice": 1}).status_code == 409
    assert not limiter._left


def test_votes_are_limited_in_rate(guest, host, session):
    host.post("/class/screen", json={"question": QUESTION})
    sit(session, guest)
    answers = [
        guest.post("/class/vote", json={"number": 1, "choice": turn % 2}).status_code
        for turn in range(20)
    ]
    assert answers[:8] == [204] * 8
    assert 429 in answers


def test_a_curve_needs_no_stream_and_no_guest_hears_of_it(guest, session):
    seat = Seat(session.admit(""), "other", False)
    session.join(seat)
    before = session.message(seat)
    assert guest.post("/class/curve", json=CURVE).status_code == 204
    more = {**CURVE, "points": [[25, 0.1], [50, 0.9]]}
    assert guest.post("/class/curve", json=more).status_code == 204
    assert session.curves["k3"].points == ((25, 0.1), (50, 0.9))
    assert session.message(seat) == before
    assert guest.get("/class/curve").status_code == 405


def test_a_curve_that_is_refused_changes_nothing(guest, session, monkeypatch):
    assert guest.post("/class/curve", json={**CURVE, "task": "mine"}).status_code == 400
    assert guest.post("/class/curve", json={**CURVE, "more": "x" * 5000}).status_code == 413
    monkeypatch.setattr(class_route, "MOST_MESSAGES", 2.0)
    monkeypatch.setattr(class_route, "CURVE_RATE", 0.0)
    monkeypatch.setattr(class_route, "_curves", RateLimiter(owners=8))
    answers = [guest.post("/class/curve", json=CURVE).status_code for _ in range(4)]
    assert answers == [204, 204, 429, 429]
    assert len(session.curves) == 1


def test_what_is_malformed_has_a_status_and_changes_nothing(guest, host, session):
    sit(session, guest)
    for body in (b"", b"[]", b"{", b"\xff", b"[" * 150, b'{"number": 1, "choice": -1}'):
        headers = {"Content-Type": "application/json"}
        assert guest.post("/class/vote", content=body, headers=headers).status_code == 400
        assert host.post("/class/screen", content=body + b"]", headers=headers).status_code == 400
    assert session._screen.view is session._screen.question is None


def test_a_body_that_never_ends_is_not_waited_for(session, monkeypatch):
    """The server waits for open requests when it ends."""
    monkeypatch.setattr(class_route, "SLOWEST", 0.01)
    parts = [{"type": "http.request", "body": b"[", "more_body": True}]

    async def receive():
        return parts.pop() if parts else await asyncio.Event().wait()

    cookie = f"{class_route._guest_cookie()}={session.admit('')}"
    headers = [(b"content-type", b"application/json"), (b"cookie", cookie.encode())]
    request = Request({"type": "http", "method": "POST", "headers": headers}, receive)
    answer = run_alone(class_route.take_vote(request))
    assert answer.status_code == 408


def test_large_bodies_and_those_a_form_can_send_are_refused(host, guest, session):
    sit(session, guest)
    large = {"view": {**VIEW, "query": {"text": "x" * 100_000}}}
    assert host.post("/class/screen", json=large).status_code == 413
    as_form = host.post("/class/screen", content=b"{}", headers={"Content-Type": "text/plain"})
    assert as_form.status_code == 415
    assert guest.post("/class/vote", data={"number": 1, "choice": 1}).status_code == 415
    assert guest.get("/class/screen").status_code == 405


def test_another_tab_of_the_host_is_refused_until_it_takes_over(host, guest):
    assert host.post("/class/screen", json={"view": VIEW, "page": "a"}).status_code == 204
    assert host.post("/class/screen", json={"view": VIEW, "page": "b"}).status_code == 409
    assert guest.post("/class/lead", json={"page": "b"}).status_code == 403
    assert host.post("/class/lead", json={"page": "<b>"}).status_code == 400
    assert host.post("/class/lead", json={"page": "b"}).status_code == 204
    assert host.post("/class/screen", json={"view": VIEW, "page": "b"}).status_code == 204
    assert guest.get("/class/events?page=%3Cb%3E").status_code == 400


def test_the_code_holds_an_address_and_is_the_host_s(host, guest):
    headers = {"Content-Type": "text/plain"}
    address = "http://192.0.2.1:8501/?model=reverse&text=7+3&step=2"
    answer = host.post("/class/code", content=address, headers=headers)
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "image/svg+xml"
    assert answer.content == access.qr_code_image(address)
    assert b"viewBox" in answer.content
    assert b"xmlns=" in answer.content
    assert guest.post("/class/code", content=address, headers=headers).status_code == 403
    for wrong in ("", "javascript:alert(1)"):
        assert host.post("/class/code", content=wrong, headers=headers).status_code == 400


def open_streams(app: Starlette, *visits: tuple[str, str]) -> list[list[dict]]:
    """What the app sends to one browser after the other, each with a cookie and an address."""

    async def visit_all() -> list[list[dict]]:
        return [await visit(app, *one) for one in visits]

    return run_alone(visit_all())


async def visit(app: Starlette, cookie: str = "", address: str = "192.0.2.1") -> list[dict]:
    """What the app sends to a browser that goes away after the first message."""
    sent: list[dict] = []
    gone = asyncio.Event()

    async def receive() -> dict:
        await gone.wait()
        return {"type": "http.disconnect"}

    async def send(message: dict) -> None:
        sent.append(message)
        if message.get("body"):
            gone.set()

    scope = {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.3"},
        "http_version": "1.1",
        "method": "GET",
        "scheme": "http",
        "path": "/class/events",
        "raw_path": b"/class/events",
        "query_string": b"",
        "root_path": "",
        "headers": [(b"host", b"a"), (b"cookie", cookie.encode())],
        "client": (address, 1),
        "server": ("192.0.2.9", 80),
    }
    await asyncio.wait_for(app(scope, receive, send), 20)
    return sent


def headers_of(sent: list[dict]) -> dict[str, str]:
    return {name.decode(): value.decode() for name, value in sent[0]["headers"]}


def guest_of(sent: list[dict]) -> str:
    """The word by which the server knows the guest."""
    return SimpleCookie(headers_of(sent)["set-cookie"])[class_route._guest_cookie()].value


def test_a_stream_is_never_buffered_and_ends_with_its_browser(guest, session):
    sent = run_alone(visit(guest.app))
    headers = headers_of(sent)
    assert headers["content-type"].startswith("text/event-stream")
    assert headers["x-accel-buffering"] == "no"
    assert "no-store" in headers["cache-control"]
    assert session._seats == set()
    cookie = headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    assert "path=/;" in f"{cookie};"


def test_a_browser_that_returns_is_the_same_guest(guest, session):
    name = class_route._guest_cookie()

    async def return_later() -> list[str]:
        first = guest_of(await visit(guest.app))
        return [first, guest_of(await visit(guest.app, f"{name}={first}"))]

    first, again = run_alone(return_later())
    assert again == first
    assert len(session._tallies) == 1


def test_one_stream_too_many_is_refused(guest, session, monkeypatch):
    monkeypatch.setattr(class_session, "MOST_STREAMS", 0)
    assert guest.get("/class/events").status_code == 503


def test_openings_are_charged_to_the_address_and_the_host_is_let_in(guest, session, monkeypatch):
    monkeypatch.setattr(class_route, "MOST_OPENINGS", 3)
    monkeypatch.setattr(class_route, "OPENING_RATE", 0.0)
    host = f"{access.cookie_name()}={access.cookie_value()}"
    visits = [("", f"2001:db8::{number}") for number in range(5)]  # of one network
    sent = open_streams(guest.app, *visits, ("", "192.0.2.2"), (host, "2001:db8::1"))
    assert [one[0]["status"] for one in sent] == [200, 200, 200, 429, 429, 200, 200]


def test_thirty_phones_that_reopen_every_two_seconds_are_let_in():
    """For as long as they like, from one address."""
    assert class_route.OPENING_RATE >= 30 / 2
    assert 2 * guest_limits.pages_of_address() <= class_route.MOST_OPENINGS


def test_openings_take_no_vote_and_no_reveal(guest, host, session, monkeypatch):
    """More than guests are remembered, from many addresses, while one guest stays."""
    monkeypatch.setattr(class_session, "MOST_GUESTS", 40)
    seat = sit(session, guest)
    assert host.post("/class/screen", json={"question": QUESTION}).status_code == 204
    assert guest.post("/class/vote", json={"number": 1, "choice": 1}).status_code == 204
    open_streams(guest.app, *(("", f"192.0.2.{last}") for last in range(100)))
    revealed = {"question": {**QUESTION, "answer": 1}}
    assert host.post("/class/screen", json=revealed).status_code == 204
    assert (told(session, seat)["right"], told(session, seat)["total"]) == (1, 1)


STOPPED = """
import asyncio, os, signal
from explorer.app.server import class_route

async def main():
    heard = []
    own = lambda number, frame: heard.append(number)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, own)
    with class_route.ended_by_signals():
        assert not class_route.session.ended
        os.kill(os.getpid(), signal.{name})
        while not class_route.session.ended:
            await asyncio.sleep(0.01)
    assert heard == [signal.{name}]
    assert signal.getsignal(signal.{name}) is own

asyncio.run(main())
"""


@pytest.mark.skipif(sys.platform == "win32", reason="a signal would end the process")
@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_a_signal_that_stops_the_server_ends_the_streams_first(name):
    script = STOPPED.replace("{name}", name)
    subprocess.run([sys.executable, "-c", script], check=True, timeout=60)
