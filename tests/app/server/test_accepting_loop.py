"""How many waiting connections the server's event loop accepts in one turn, and until when."""

import asyncio
import socket
import sys
from contextlib import ExitStack

import pytest

from tests.support.own_loop import run_alone

if sys.platform == "win32":
    pytest.skip("has no uvloop", allow_module_level=True)

from explorer.app.server.accepting_loop import AT_ONCE, AcceptingLoop, loop_factory

WAITING = 3 * AT_ONCE


class Noted(asyncio.Protocol):
    made: list["Noted"]

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.made.append(self)


def test_many_connections_that_wait_are_accepted_in_a_few_turns():
    assert loop_factory() is AcceptingLoop
    Noted.made = []

    async def main() -> int:
        with ExitStack() as opened:
            listener = socket.create_server(("127.0.0.1", 0), backlog=WAITING)
            server = await asyncio.get_running_loop().create_server(Noted, sock=listener)
            for _ in range(WAITING):  # without a turn of the loop between
                opened.enter_context(socket.create_connection(listener.getsockname()))
            turns = 0
            while len(Noted.made) < WAITING and turns < WAITING:
                await asyncio.sleep(0)
                turns += 1
            server.close()
            return turns

    turns = run_alone(main(), loop_factory())
    assert len(Noted.made) == WAITING
    assert turns < WAITING / 4  # one a turn would be as many as wait


def test_a_closed_server_accepts_nobody():
    Noted.made = []

    async def main() -> None:
        listener = socket.create_server(("127.0.0.1", 0))
        server = await asyncio.get_running_loop().create_server(Noted, sock=listener)
        where = listener.getsockname()
        server.close()
        await server.wait_closed()
        listener.close()
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(where, timeout=20)

    run_alone(main(), loop_factory())
    assert not Noted.made
