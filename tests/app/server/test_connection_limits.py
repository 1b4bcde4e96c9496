"""Which connections are closed, and which stay."""

import asyncio
import socket
import sys
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field

import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket
from websockets.sync.client import connect

from explorer.app.server import connection_limits
from explorer.app.server.broken_requests import BrokenRequests
from explorer.app.server.rate_limit import RateLimiter

PATIENCE = 0.4
HOST = b"Host: x\r\n"


async def echo(websocket: WebSocket) -> None:
    await websocket.accept()
    async for data in websocket.iter_bytes():
        await websocket.send_bytes(data)


async def count(request: Request) -> Response:
    return PlainTextResponse(str(len(await request.body())))


async def wait(_: Request) -> Response:
    await asyncio.sleep(3 * PATIENCE)
    return PlainTextResponse("at last")


async def large(_: Request) -> Response:
    return Response(bytes(30_000_000))


TAKEN: list[int] = []
"""Bytes of each part of `/parts` that the server has asked for."""


async def parts(_: Request) -> Response:
    async def each() -> AsyncIterator[bytes]:
        for _ in range(500):
            TAKEN.append(2**16)
            yield bytes(2**16)

    return StreamingResponse(each())


@dataclass
class Server:
    """A running server; `clients`: connections to be closed after a test."""

    port: int
    server: uvicorn.Server
    thread: threading.Thread
    clients: ExitStack = field(default_factory=ExitStack)

    def open(self, data: bytes = b"", *, own: str = "127.0.0.1", buffer: int = 0) -> socket.socket:
        """A new connection from the address `own`, on which `data` has been sent."""
        connection = self.clients.enter_context(socket.socket())
        connection.settimeout(20)
        if buffer:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
        connection.bind((own, 0))
        connection.connect(("127.0.0.1", self.port))
        connection.sendall(data)
        return connection


@contextmanager
def serving() -> Iterator[Server]:
    routes = [
        Route("/count", count, methods=["GET", "POST"]),
        Route("/large", large),
        Route("/wait", wait),
        Route("/parts", parts),
        WebSocketRoute("/echo", echo),
    ]
    app = Starlette(routes=routes, middleware=[Middleware(BrokenRequests)])
    listener = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(
        app,
        http=connection_limits.LimitedProtocol,
        ws="websockets-sansio",
        timeout_keep_alive=20,
        forwarded_allow_ips="127.0.0.3",
        log_config=None,
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=lambda: asyncio.run(server.serve([listener])))
    thread.start()
    try:
        yield Server(listener.getsockname()[1], server, thread)
    finally:
        server.should_exit = server.force_exit = True
        thread.join()


@pytest.fixture(scope="module")
def running() -> Iterator[Server]:
    with pytest.MonkeyPatch.context() as patch, serving() as running:
        patch.setattr(connection_limits, "PATIENCE", PATIENCE)
        patch.setattr(connection_limits, "UNREAD", 2 * PATIENCE)
        yield running


@pytest.fixture
def server(running: Server) -> Iterator[Server]:
    with running.clients:
        yield running


def answer(connection: socket.socket) -> bytes:
    """The body of an answer that tells its length."""
    data = b""
    while b"\r\n\r\n" not in data:
        data += connection.recv(1000)
    head, _, body = data.partition(b"\r\n\r\n")
    length = int(head.lower().partition(b"content-length: ")[2].split()[0])
    while len(body) < length:
        body += connection.recv(1000)
    return body


def ended(connection: socket.socket) -> bool:
    """Whether the server ends the connection, in 20 s, without an answer."""
    try:
        return connection.recv(1000) == b""
    except ConnectionResetError:
        return True


def wait_for_answers(connection: socket.socket, count: int) -> None:
    """Read `count` answers without an error, and no more."""
    data = b""
    while data.count(b"HTTP/1.1 200 OK\r\n") < count or not data.endswith(b"\r\n\r\n0"):
        data += (more := connection.recv(1000))
        assert more
    assert data.count(b"HTTP/1.1 ") == count


def all_received(connection: socket.socket) -> bytes:
    """What the server sends until it ends the connection."""
    return b"".join(iter(lambda: connection.recv(1000), b""))


UNFINISHED = {
    "nothing": b"",
    "two bytes": b"GE",
    "half of the headers": b"GET /count HTTP/1.1\r\n" + HOST,
    "half of a body": b"POST /count HTTP/1.1\r\n" + HOST + b"Content-Length: 9\r\n\r\nabc",
    "half of a handshake": b"GET /echo HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n",
}


@pytest.mark.parametrize("data", UNFINISHED.values(), ids=UNFINISHED)
def test_an_unfinished_request_ends_the_connection(data, server, caplog):
    assert ended(server.open(data))
    assert not [record for record in caplog.records if record.exc_info]


def test_a_byte_now_and_then_does_not_keep_a_connection(server):
    connection = server.open(b"GET /count HTTP/1.1\r\n")
    connection.settimeout(PATIENCE / 4)
    sent = 0
    try:
        while connection.send(b"X: y\r\n"):
            sent += 1
            try:
                assert connection.recv(9) == b""
                break
            except TimeoutError:
                pass
    except (ConnectionResetError, BrokenPipeError):
        pass
    assert 2 <= sent < 40


def test_finished_requests_and_slow_uploads_are_answered(server, monkeypatch):
    monkeypatch.setattr(connection_limits, "SLOWEST", 1000)
    head = b"POST /count HTTP/1.1\r\n" + HOST + b"Content-Length: 2003\r\n\r\n"
    slow, fast = server.open(head + bytes(2000)), server.open(head + bytes(2003))
    assert answer(fast) == b"2003"
    assert ended(server.open())  # longer than the patience has passed
    slow.sendall(b"abc")
    assert answer(slow) == b"2003"
    fast.sendall(head + bytes(2003))  # a connection that rests between requests is kept
    assert answer(fast) == b"2003"


@pytest.mark.parametrize("encoding", ["chunked", "gzip, chunked"])
def test_a_request_of_unknown_length_is_refused_before_it_is_read(encoding, server):
    head = f"POST /count HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: {encoding}\r\n\r\n"
    connection = server.open(head.encode() + b"1\r\na\r\n")
    assert all_received(connection).startswith(b"HTTP/1.1 400 ")


def test_the_rest_of_a_request_that_was_answered_is_not_read(server):
    connection = server.open(
        b"POST /large HTTP/1.1\r\n" + HOST + b"Content-Length: 9000000\r\n\r\n"
    )
    assert all_received(connection).startswith(b"HTTP/1.1 405 ")


@pytest.mark.parametrize("more", [b"POST", b"X: y\r\n" * 200, b"X: " + bytes(5000).hex().encode()])
def test_a_handshake_that_is_never_taken_ends_the_connection(more, server):
    """WebSockets need GET, 128 headers or fewer, and lines of 8 KiB or less."""
    method, headers = (more, b"Content-Length: 0") if more == b"POST" else (b"GET", more)
    lines = [method + b" /echo HTTP/1.1", b"Host: x", b"Connection: Upgrade", b"Upgrade: websocket"]
    connection = server.open(b"\r\n".join([*lines, headers.strip(), b"", b""]))
    all_received(connection)


def test_requests_beyond_the_limit_of_an_address_wait_for_those_of_others(server, monkeypatch):
    request = b"GET /count HTTP/1.1\r\n" + HOST + b"\r\n"
    monkeypatch.setattr(connection_limits, "_requests", RateLimiter(owners=9))
    monkeypatch.setattr(connection_limits, "MOST_REQUESTS", 2.5)
    monkeypatch.setattr(connection_limits, "REQUEST_RATE", 1e-9)
    many = server.open(8 * request)
    wait_for_answers(many, 3)
    many.settimeout(2 * connection_limits.HOLD)
    with pytest.raises(TimeoutError):
        many.recv(1)
    assert answer(server.open(request, own="127.0.0.2")) == b"0"
    wait_for_answers(server.open(8 * request, own="127.0.0.3"), 8)
    many.settimeout(20)
    monkeypatch.setattr(connection_limits, "MOST_REQUESTS", 100.0)
    monkeypatch.setattr(connection_limits, "REQUEST_RATE", 1e9)
    wait_for_answers(many, 5)


def test_a_request_that_was_held_is_answered_however_long_it_takes(server, monkeypatch):
    """Its time to be complete ends with its last byte."""
    monkeypatch.setattr(connection_limits, "_requests", RateLimiter(owners=9))
    monkeypatch.setattr(connection_limits, "MOST_REQUESTS", 0.0)
    held = server.open(b"GET /wait HTTP/1.1\r\n" + HOST + b"\r\n")
    held.settimeout(connection_limits.HOLD)
    with pytest.raises(TimeoutError):
        held.recv(1)
    monkeypatch.setattr(connection_limits, "MOST_REQUESTS", 100.0)
    monkeypatch.setattr(connection_limits, "REQUEST_RATE", 1e9)
    held.settimeout(20)
    assert answer(held) == b"at last"


def test_a_websocket_that_rests_stays_open(server):
    with connect(f"ws://127.0.0.1:{server.port}/echo", proxy=None) as websocket:
        assert ended(server.open())
        websocket.send(b"still here")
        assert websocket.recv() == b"still here"


@pytest.mark.skipif(not hasattr(socket, "TCP_USER_TIMEOUT"), reason="the system has no such limit")
def test_an_answer_that_nobody_takes_ends_the_connection(server):
    connection = server.open(b"GET /large HTTP/1.1\r\n" + HOST + b"\r\n", buffer=4096)
    open_now = server.server.server_state.connections
    own = connection.getsockname()
    assert connection.recv(1)
    for _ in range(20):
        if own not in {one.client for one in open_now}:
            return
        assert ended(server.open())  # waits for the patience
    raise AssertionError("the connection is still open")


@pytest.mark.skipif(sys.platform != "linux", reason="other systems take what they like")
def test_the_system_takes_little_of_an_answer_that_nobody_reads(server):
    """Twice `UNREAD_BYTES`, what the protocol and uvloop's transport hold, and the reader's 4 KB;
    by itself the system takes at least four megabytes."""
    TAKEN.clear()
    connection = server.open(b"GET /parts HTTP/1.1\r\n" + HOST + b"\r\n", buffer=4096)
    assert connection.recv(1)
    assert ended(server.open())  # waits for the patience
    assert 2**16 <= sum(TAKEN) <= 2 * connection_limits.UNREAD_BYTES + 4 * 2**16


def test_a_server_that_is_stopped_does_not_wait_for_who_reads_nothing(monkeypatch):
    monkeypatch.setattr(connection_limits, "LAST_SECONDS", 0)
    with serving() as running, running.clients:
        connection = running.open(b"GET /large HTTP/1.1\r\n" + HOST + b"\r\n", buffer=4096)
        assert connection.recv(1)
        running.server.should_exit = True
        running.thread.join(20)
        assert not running.thread.is_alive()


def test_one_address_has_so_many_connections_and_another_its_own(server, monkeypatch):
    monkeypatch.setattr(connection_limits, "MOST", 2)
    request = b"GET /count HTTP/1.1\r\n" + HOST + b"\r\n"
    first, second = server.open(request), server.open(request)
    assert answer(first) == b"0"
    assert answer(second) == b"0"
    assert ended(server.open())
    assert answer(server.open(request, own="127.0.0.2")) == b"0"
    of_proxy = [server.open(request, own="127.0.0.3") for _ in range(4)]  # all its visitors'
    assert [answer(one) for one in of_proxy] == [b"0"] * 4
