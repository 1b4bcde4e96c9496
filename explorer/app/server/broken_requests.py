"""Middleware around all others: a request whose body breaks the protocol ends quietly.

The server has answered it with 400 by then and takes no other answer; what Streamlit still sends
would leave a traceback in the log.
"""

from contextlib import suppress

from h11 import LocalProtocolError

from explorer.app.server.static_files import Application, Message, Receive, Send


class BrokenRequests:
    """ASGI middleware that drops an answer for which the connection is already closed."""

    def __init__(self, app: Application) -> None:
        self.app = app

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        async def send_if_open(message: Message) -> None:
            with suppress(LocalProtocolError):
                await send(message)

        await self.app(scope, receive, send_if_open)
