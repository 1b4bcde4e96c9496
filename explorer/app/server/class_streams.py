"""When the event streams of a class send: all of them together, and never too often.

Used in the server's event loop alone.
"""

import asyncio
from collections.abc import AsyncIterator

from explorer.app.server.class_session import ClassSession, Seat

HEARTBEAT = 10.0
"""Seconds after which streams without news send a sign of life. With it the operating system
notices that a browser is gone, and a page notices that the server is gone."""

PAUSE, PAUSE_OF_GUESTS = 0.1, 0.5
"""Seconds between two messages of a stream, the second if only guests have changed something: many
votes at once are one message, and who comes and goes costs the others little."""

GRACE = 8.0
"""Seconds after the end of the host's last stream until guests go on alone: a reloaded page is back
by then."""

_BEAT = b"event: beat\ndata: 1\n\n"


class Pulse:
    """Tells all streams at once to send: one timer for all of them."""

    def __init__(self) -> None:
        self._waiting: list[asyncio.Future[None]] = []
        self._timer: asyncio.Handle | None = None
        self._due = self._last = float("-inf")  # by the clock of the event loop

    def next(self) -> asyncio.Future[None]:
        """What is done with the next pulse, `HEARTBEAT` seconds after the one before or earlier."""
        future = asyncio.get_running_loop().create_future()
        self._waiting.append(future)
        return future

    def soon(self, by_guest: bool = False) -> None:
        """Ask for a pulse: now, or `PAUSE` seconds after the one before; `PAUSE_OF_GUESTS` seconds
        after it for what a guest has changed."""
        pause = PAUSE_OF_GUESTS if by_guest else PAUSE
        due = max(asyncio.get_running_loop().time(), self._last + pause)
        if self._timer is None or self._due > due:
            self._expect(due)

    def _expect(self, due: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._due = due
        self._timer = asyncio.get_running_loop().call_at(due, self._send)

    def _send(self) -> None:
        self._last = asyncio.get_running_loop().time()
        self._expect(self._last + HEARTBEAT)
        now, self._waiting = self._waiting, []
        for future in now:
            if not future.done():  # a stream that has ended has cancelled its own
                future.set_result(None)


async def events(session: ClassSession, pulse: Pulse, seat: Seat) -> AsyncIterator[bytes]:
    """The messages of one stream, until its browser or the server ends it.

    pulse: the one that `session` tells of its changes.
    """
    session.join(seat)
    told = -1
    try:
        while not session.ended:
            due = pulse.next()
            if told == session.version:
                yield _BEAT
            else:
                told = session.version
                yield b"data: %s\n\n" % session.message(seat)
            await due
    finally:
        session.leave(seat)
        if seat.host:
            asyncio.get_running_loop().call_later(GRACE, session.miss, seat)
