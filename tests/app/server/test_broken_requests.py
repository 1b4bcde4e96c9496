"""What a request leaves behind whose body breaks the protocol."""

import asyncio
import socket
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.middleware import Middleware

from explorer.app.server.broken_requests import BrokenRequests


def test_a_bad_body_is_answered_and_leaves_no_traceback(caplog):
    """On a server as Streamlit runs it."""
    app = Starlette(middleware=[Middleware(BrokenRequests)])
    config = uvicorn.Config(app, http="h11", lifespan="off", log_config=None)
    server = uvicorn.Server(config)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        serving = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        serving.start()
        with socket.create_connection(listening.getsockname()) as connection:
            connection.sendall(
                b"POST / HTTP/1.1\r\nHost: here\r\nTransfer-Encoding: chunked\r\n\r\nno number\r\n"
            )
            answer = connection.makefile("rb").read()
        server.should_exit = True
        serving.join()
    assert answer.startswith(b"HTTP/1.1 400")
    assert not [record for record in caplog.records if record.exc_info]


def test_what_is_sent_to_a_websocket_that_uvicorn_has_closed_is_dropped():
    async def send(message):
        raise RuntimeError(f"Unexpected ASGI message '{message['type']}'")

    async def sends(kind):
        async def app(scope, receive, send):
            await send({"type": kind})

        await BrokenRequests(app)({"type": "websocket"}, None, send)

    # In a thread of its own: a browser test before may have left a loop in this one.
    with ThreadPoolExecutor(max_workers=1) as thread:
        thread.submit(asyncio.run, sends("websocket.send")).result()
        with pytest.raises(RuntimeError):
            thread.submit(asyncio.run, sends("websocket.accept")).result()
