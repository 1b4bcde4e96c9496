"""Middleware around all others: ends a connection quietly if it breaks the protocol or ends
halfway.

By then uvicorn has answered or closed it and accepts nothing else. Anything that Streamlit still
sends or waits for would leave a traceback in the log.
"""

from contextlib import suppress

from h11 import LocalProtocolError
from starlette.requests import ClientDisconnect

from explorer.app.server.static_files import Application, Message, Receive, Send


class BrokenRequests:
    """ASGI middleware that drops answers and requests whose connection is already closed."""

    def __init__(self, app: Application) -> None:
        self.app = app

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        async def send_if_open(message: Message) -> None:
            try:  # not `suppress`, which takes longer: each message of a stream comes by
                await send(message)
            except (LocalProtocolError, RuntimeError) as error:
                # A WebSocket whose browser has answered no ping, or sent too large a message.
                websocket = message["type"] == "websocket.send"
                if not isinstance(error, RuntimeError if websocket else LocalProtocolError):
                    raise

        with suppress(ClientDisconnect):
            await self.app(scope, receive, send_if_open)
