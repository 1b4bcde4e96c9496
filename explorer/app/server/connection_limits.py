"""Limits on the number of connections, on their waiting time and on what they send. Neither
uvicorn nor Streamlit has any: uvicorn waits forever for the rest of a request, and for a browser to
read an answer, and reads on what belongs to a request that it has answered.

A visitor with a few lines of code could otherwise hold every connection that the system allows.
A WebSocket of a page that rests stays open; uvicorn itself closes one that leaves a ping
unanswered.
"""

import socket
from asyncio import BaseTransport, TimerHandle, Transport
from collections.abc import Callable
from contextlib import suppress
from typing import Any, cast

import h11
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware
from uvicorn.protocols.http.h11_impl import H11Protocol

from explorer.app.server import guest_limits
from explorer.app.server.rate_limit import Owners, RateLimiter, network_of

PATIENCE = 30.0
"""Seconds within which a request must be complete, plus those that `SLOWEST` allows."""

SLOWEST = 50_000
"""Bytes a second: an upload may be as slow as this."""

UNREAD = 60.0
"""Seconds that a browser may read nothing of an answer. Linux only."""

UNREAD_BYTES = 2**18
"""Bytes of an answer that the system takes ahead of the browser; Linux doubles the number. By
itself it takes megabytes for each of four hundred connections, and copying them takes seconds."""

LAST_SECONDS = 2
"""Seconds for which a stopping server goes on with its answers: uvicorn by itself waits for each
browser until it has read all."""

MOST = 400
"""Connections of one network address: a browser opens seven, and a school may have one address. A
factor of `guest_limits` raises it. Those of a proxy that is named are all visitors' and are not
counted."""

REQUEST_RATE, MOST_REQUESTS = 150.0, 2000.0
"""Requests of one network address a second, and at once; more of them wait. A first visit has
twenty, and a school may have one address. Those of a proxy that is named are not counted."""

HOLD = 0.2
"""Seconds that a connection rests when its address has sent too many requests of late."""

_requests = RateLimiter(owners=4096)
_UNFINISHED = (h11.IDLE, h11.SEND_BODY)


class _Connection(h11.Connection):
    """What one client sends, read as HTTP; a request whose length it does not announce is invalid.

    No browser sends one. Each of its parts, of one byte if a program wants it so, would take as
    long to read as thousands of bytes of another body.

    count: called for each request.
    """

    def __init__(self, count: Callable[[], None]) -> None:
        super().__init__(h11.SERVER)
        self._count = count

    def next_event(self) -> Any:
        """The next event. Raises `h11.RemoteProtocolError`."""
        event = super().next_event()
        if isinstance(event, h11.Request):
            self._count()
            if b"transfer-encoding" in dict(event.headers):
                raise h11.RemoteProtocolError("a request needs a Content-Length")
        return event


class LimitedProtocol(H11Protocol):
    """uvicorn's HTTP protocol with the limits. WebSockets are handed over to another protocol."""

    def __init__(self, config: Any, *arguments: Any, **named: Any) -> None:
        super().__init__(config, *arguments, **named)
        self.conn = _Connection(self._charge)
        config.timeout_graceful_shutdown = LAST_SECONDS
        self._timer: TimerHandle | None = None
        self._held: TimerHandle | None = None
        self._due = 0.0  # by the clock of the event loop

    def connection_made(self, transport: BaseTransport) -> None:
        """Refuse one connection too many; else wait for a request."""
        transport = cast(Transport, transport)
        super().connection_made(transport)
        if self._address_has_too_many():
            transport.abort()
            return
        _limit_unread(transport)
        self._expect_rest(0)

    def data_received(self, data: bytes) -> None:
        """Read on; stop waiting when the request is complete."""
        super().data_received(data)
        self._wait_for_rest(len(data))

    def handle_events(self) -> None:
        """Read the requests that have come, later if the client's address has sent too many."""
        if _requests.allows(self._owners(), REQUEST_RATE, MOST_REQUESTS):
            super().handle_events()
        elif self._held is None:
            self._held = self.loop.call_later(HOLD, self._go_on)
            self.flow.pause_reading()

    def handle_websocket_upgrade(self, event: h11.Request) -> None:
        """Hand the connection over; end it if the protocol of WebSockets does not take the request,
        and would wait for another without end."""
        super().handle_websocket_upgrade(event)
        if not getattr(self.transport.get_protocol(), "handshake_initiated", True):
            self.transport.abort()

    def shutdown(self) -> None:
        """End the connection, after `LAST_SECONDS` in the middle of an answer."""
        super().shutdown()
        self.loop.call_later(LAST_SECONDS, self.transport.abort)

    def on_response_complete(self) -> None:
        """Close the connection of a request that was answered before its end, whose rest nobody
        reads."""
        super().on_response_complete()
        if self.conn.their_state is h11.SEND_BODY:
            self.transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop waiting."""
        self._stop_waiting()
        if self._held is not None:
            self._held.cancel()
        super().connection_lost(exc)

    def _go_on(self) -> None:
        self._held = None
        if not self.transport.is_closing():
            self.flow.resume_reading()
            self.handle_events()
            self._wait_for_rest(0)

    def _wait_for_rest(self, received: int) -> None:
        """Wait for the rest of a request of which `received` bytes have come; else no longer."""
        handed_over = self not in self.connections  # to the protocol of WebSockets
        read_on = self._held is None and not handed_over
        if read_on and self.conn.their_state in _UNFINISHED:
            self._expect_rest(received)
        else:
            self._stop_waiting()

    def _charge(self) -> None:
        _requests.charge(self._owners(), 1.0, REQUEST_RATE, MOST_REQUESTS)

    def _owners(self) -> Owners:
        if self.client is None or self._is_of_proxy(self.client[0]):
            return {}
        return {network_of(self.client[0]): 1.0}

    def _address_has_too_many(self) -> bool:
        if self.client is None or not self._owners():
            return False
        clients = (getattr(one, "client", None) for one in self.connections)
        networks = (network_of(client[0]) for client in clients if client)
        own = sum(network == network_of(self.client[0]) for network in networks)
        return own > MOST * guest_limits.factor()

    def _is_of_proxy(self, address: str) -> bool:
        """Whether uvicorn believes this address who sent a request."""
        believes = isinstance(self.app, ProxyHeadersMiddleware)
        return believes and address in self.app.trusted_hosts

    def _expect_rest(self, received: int) -> None:
        if self._timer is None:
            self._due = self.loop.time() + PATIENCE
            self._timer = self.loop.call_later(PATIENCE, self._check)
        self._due += received / SLOWEST

    def _check(self) -> None:
        left = self._due - self.loop.time()
        if left > 0:
            self._timer = self.loop.call_later(left, self._check)
        else:
            self.transport.abort()

    def _stop_waiting(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


def _limit_unread(transport: Transport) -> None:
    """Let the system take `UNREAD_BYTES` of an answer ahead, and end the connection when no part
    of it is read for `UNREAD`."""
    raw = transport.get_extra_info("socket")
    if raw is None:
        return
    with suppress(OSError):  # the browser has ended it already
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, UNREAD_BYTES)
        if (option := getattr(socket, "TCP_USER_TIMEOUT", None)) is not None:
            raw.setsockopt(socket.IPPROTO_TCP, option, int(1000 * UNREAD))
