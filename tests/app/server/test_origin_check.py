import socket
import threading
from collections.abc import Iterator

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.testclient import TestClient
from starlette.websockets import WebSocket, WebSocketDisconnect

from explorer.app.server.origin_check import (
    Allowed,
    OriginCheck,
    answers_this_machine_alone,
)
from tests.support.app_server import running_app

ALLOWED = Allowed({"localhost", "127.0.0.1", "::1", "*.hub.example.org"}, {"https://course.org"})


async def page(request: Request) -> Response:
    return PlainTextResponse("page")


async def connection(websocket: WebSocket) -> None:
    await websocket.accept()
    await websocket.send_text(websocket.headers.get("origin", "no origin"))
    await websocket.close()


@pytest.fixture
def browser() -> Iterator[TestClient]:
    app = Starlette(
        routes=[Route("/", page), WebSocketRoute("/stream", connection)],
        middleware=[Middleware(OriginCheck, allowed=ALLOWED)],
    )
    with TestClient(app, base_url="http://localhost:8501") as client:
        yield client


@pytest.mark.parametrize(
    "host",
    [
        "localhost",
        "localhost:8501",
        "LOCALHOST:8501",
        "localhost.:8501",
        "127.0.0.1:8501",
        "[::1]:8501",
        "anna.hub.example.org",
    ],
)
def test_requests_for_this_server_pass(browser, host):
    assert browser.get("/", headers={"Host": host}).text == "page"


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.example:8501",
        "localhost.evil.example",
        "hub.example.org",
        "xhub.example.org",
        "user@localhost",
        "localhost:port",
        "localhost/",
        "localhost?;script-src *",
        "localhost#x",
        "",
    ],
)
def test_a_request_for_another_host_is_refused_and_told_the_setting(browser, host):
    answer = browser.get("/", headers={"Host": host})
    assert answer.status_code == 403
    assert "server.allowedHosts" in answer.text


def test_the_address_a_connection_came_in_on_is_a_name_of_this_server():
    assert ALLOWED.host("192.168.1.7:8501", "192.168.1.7")
    assert not ALLOWED.host("192.168.1.8:8501", "192.168.1.7")


@pytest.mark.parametrize("origin", ["http://localhost:8501", "https://course.org"])
def test_own_and_listed_pages_connect(browser, origin):
    headers = {"Origin": origin}
    assert browser.get("/", headers=headers).text == "page"
    with browser.websocket_connect("ws://localhost:8501/stream", headers=headers) as stream:
        assert stream.receive_text() == "no origin"  # Streamlit need not judge it again


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "http://localhost:9999", "null", "", "http://localhost:x"]
)
def test_pages_of_other_origins_are_refused(browser, origin):
    headers = {"Origin": origin}
    answer = browser.get("/", headers=headers)
    assert answer.status_code == 403
    assert "server.corsAllowedOrigins" in answer.text
    with (
        pytest.raises(WebSocketDisconnect),
        browser.websocket_connect("ws://localhost:8501/stream", headers=headers),
    ):
        pass


def test_a_refusal_is_in_the_browser_s_language(browser):
    headers = {"Host": "evil.example", "Accept-Language": "zh-CN"}
    assert "此服务器" in browser.get("/", headers=headers).text


@pytest.mark.parametrize("header", ["Host", "Origin"])
def test_a_refused_header_cannot_steer_the_terminal(browser, header, caplog):
    sent = (
        b"http://evil.example/\x9b2J\x1b[2J\x85next\xadline" if header == "Origin" else b"e\x9b2J"
    )
    answer = browser.get("/", headers={"Host": "localhost", header: sent})
    assert answer.status_code == 403
    (line,) = caplog.messages
    assert line.isprintable()
    assert "\\u009b2J" in line


def test_a_long_header_makes_a_short_line(browser, caplog):
    header = b"http://evil.example/" + b"\x9b" * 5000
    assert browser.get("/", headers={"Origin": header}).status_code == 403
    assert max(map(len, caplog.messages)) < 1000


class SilentProxy:
    """A proxy that accepts connections and never answers; `connections` counts them."""

    def __init__(self) -> None:
        self.connections = 0
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self._open: list[socket.socket] = []
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                self._open.append(self._listener.accept()[0])
            except OSError:
                return
            self.connections += 1

    def close(self) -> None:
        self._listener.close()
        for connection in self._open:
            connection.close()


def handshake(address: str, origin: str) -> bytes:
    """The server's answer to a WebSocket handshake from a page of `origin`."""
    host = address.removeprefix("http://").rstrip("/")
    name, port = host.split(":")
    with socket.create_connection((name, int(port)), timeout=20) as connection:
        lines = (
            "GET /_stcore/stream HTTP/1.1",
            f"Host: {host}",
            "Upgrade: websocket",
            "Connection: Upgrade",
            "Sec-WebSocket-Version: 13",
            "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
            f"Origin: {origin}",
        )
        connection.sendall("\r\n".join([*lines, "", ""]).encode())
        return connection.recv(1024)


def test_a_foreign_page_does_not_make_the_server_call_the_internet():
    """Streamlit's own check asks for the server's public address, and serves nobody meanwhile."""
    proxy = SilentProxy()
    variables = dict.fromkeys(("HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy"))
    settings = dict.fromkeys(variables, proxy.address) | {"NO_PROXY": "", "no_proxy": ""}
    with running_app(**settings) as address:
        assert b" 403 " in handshake(address, "http://evil.example").split(b"\r\n")[0]
        assert b" 101 " in handshake(address, address.rstrip("/")).split(b"\r\n")[0]
    proxy.close()
    assert proxy.connections == 0


@pytest.mark.parametrize(
    ("address", "hosts", "alone"),
    [
        ("127.0.0.1", [], True),
        ("localhost", [], True),
        ("0.0.0.0", [], False),
        (None, [], False),  # all addresses
        ("127.0.0.1", ["school.example.org"], False),  # behind a proxy
    ],
)
def test_others_reach_a_server_by_its_address_or_a_proxy(monkeypatch, address, hosts, alone):
    settings = {"server.address": address, "server.allowedHosts": hosts}
    monkeypatch.setattr("streamlit.get_option", settings.get)
    assert answers_this_machine_alone() is alone
