"""uvloop's event loop, which accepts several waiting connections in each turn instead of one.

One visitor who opens connections without end would otherwise let those of all others wait behind
his own for seconds, although each of his is refused at once.
"""

import asyncio
import socket
from collections.abc import Callable, Sequence
from typing import Any

import uvloop

AT_ONCE = 32
"""Connections accepted in one turn."""


class Listeners:
    """Several servers that listen on one socket, as one server of asyncio."""

    def __init__(self, servers: Sequence[asyncio.AbstractServer]) -> None:
        self._servers = servers

    def close(self) -> None:
        """Accept no more connections."""
        for server in self._servers:
            server.close()

    async def wait_closed(self) -> None:
        """Wait until all have closed."""
        for server in self._servers:
            await server.wait_closed()


class AcceptingLoop(uvloop.Loop):
    """The event loop of the server."""

    async def create_server(  # type: ignore[override]
        self, factory: Callable[[], asyncio.BaseProtocol], *, sock: socket.socket, **named: Any
    ) -> Listeners:
        """Serve the connections to a socket. Each of the handles that listen on it accepts one
        connection a turn."""
        sockets = [sock, *(sock.dup() for _ in range(AT_ONCE - 1))]
        create = super().create_server
        return Listeners([await create(factory, sock=one, **named) for one in sockets])


def loop_factory(use_subprocess: bool = False) -> type[AcceptingLoop]:
    """As uvicorn asks for what makes its event loop."""
    return AcceptingLoop
